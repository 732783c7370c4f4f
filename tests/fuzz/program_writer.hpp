// A program while it is written: its text, the names in scope, and the bytes that decide.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::fuzzing {

class program_writer {
public:
    explicit program_writer(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

protected:
    /// A number below `count`; 0 when the bytes are used up.
    unsigned choose(unsigned count);
    /// Only atoms follow: the program is deep, long, or the bytes are used up.
    [[nodiscard]] bool tired(int depth) const noexcept;

    void text(std::string_view part) { out_ += part; }
    void number(unsigned n) { out_ += std::to_string(n); }
    /// A literal, or a name in scope.
    void atom();
    /// One of the names in scope; seldom one that nothing binds.
    void name_in_scope();
    /// A name that begins with `stem`; after 40 names they repeat.
    std::string fresh(std::string_view stem);

    std::string out_;
    std::vector<std::string> scope_;

private:
    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
    unsigned next_name_ = 0;
};

} // namespace heddle::fuzzing
