#include "program_writer.hpp"

#include <array>

namespace heddle::fuzzing {

namespace {

constexpr int max_depth = 6;
constexpr std::size_t max_length = 6000; ///< characters; then only atoms follow

} // namespace

unsigned program_writer::choose(unsigned count) {
    if (at_ == bytes_.size()) return 0;
    return bytes_[at_++] % count;
}

bool program_writer::tired(int depth) const noexcept {
    return depth >= max_depth || out_.size() > max_length || at_ == bytes_.size();
}

void program_writer::atom() {
    static constexpr std::array<std::string_view, 16> literals{"0",
                                                               "1",
                                                               "-7",
                                                               "nil",
                                                               "true",
                                                               "false",
                                                               "\"\"",
                                                               "\"text\"",
                                                               "\"äöü €\"",
                                                               "2.5",
                                                               "'()",
                                                               "'symbol",
                                                               "9223372036854775807",
                                                               "'(1 2 3)",
                                                               "(dict \"k\" 1)",
                                                               "1e308"};
    if (!scope_.empty() && choose(2) == 0) name_in_scope();
    else text(literals[choose(literals.size())]);
}

void program_writer::name_in_scope() {
    if (scope_.empty() || choose(40) == 39) text("nowhere");
    else text(scope_[choose(static_cast<unsigned>(scope_.size()))]);
}

std::string program_writer::fresh(std::string_view stem) {
    std::string name(stem);
    name += std::to_string(next_name_++ % 40);
    return name;
}

} // namespace heddle::fuzzing
