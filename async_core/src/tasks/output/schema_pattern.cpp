#include "tasks/output/schema_pattern.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

namespace heddle::tasks {

namespace {

/// Of all patterns of a schema together: about half a second of work. RE2 takes 15 ns for each of the
/// n² steps of a repetition of n, and 2 µs for an instruction.
constexpr std::uint64_t max_repeated = 30'000'000;
constexpr std::uint64_t max_size = 200'000;
constexpr std::uint64_t units_of_a_pattern = 4'000;
constexpr std::uint64_t units_of_an_instruction = 200;

/// Memory of a pattern, for its program and for matching; and where that is too little.
constexpr std::int64_t usual_memory = 2 * 1024 * 1024;
constexpr std::int64_t most_memory = 8 * 1024 * 1024;

/// The sum of the squares of the upper bounds of {n}, {n,} and {n,m}.
[[nodiscard]] std::uint64_t repeated_in(std::string_view pattern) noexcept {
    constexpr std::uint64_t most = 1000; // RE2 refuses more
    std::uint64_t sum = 0;
    for (std::size_t at = pattern.find('{'); at != pattern.npos; at = pattern.find('{', at + 1)) {
        std::uint64_t count = 0;
        std::uint64_t greatest = 0;
        for (std::size_t i = at + 1; i < pattern.size(); ++i) {
            const char c = pattern[i];
            if (c == ',') count = 0;
            else if (c < '0' || c > '9') break;
            else count = std::min(count * 10 + static_cast<std::uint64_t>(c - '0'), most);
            greatest = std::max(greatest, count);
        }
        sum += greatest * greatest;
    }
    return sum;
}

[[nodiscard]] std::shared_ptr<const RE2> compiled(std::string_view pattern) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(usual_memory);
    const re2::StringPiece text(pattern.data(), pattern.size());
    auto object = std::make_shared<const RE2>(text, options);
    if (object->error_code() != RE2::ErrorPatternTooLarge) return object;
    options.set_max_mem(most_memory);
    return std::make_shared<const RE2>(text, options);
}

/// A task is compiled more than once: when its file is checked, and when it is defined. A few patterns
/// of the thread, of bounded size; it is emptied when it is full.
class pattern_cache {
public:
    [[nodiscard]] static pattern_cache& of_thread() {
        thread_local pattern_cache all;
        return all;
    }
    [[nodiscard]] std::shared_ptr<const RE2> find(std::string_view pattern) const {
        const auto found = patterns_.find(pattern);
        return found == patterns_.end() ? nullptr : found->second;
    }
    void add(std::string_view pattern, const std::shared_ptr<const RE2>& object) {
        const auto size = static_cast<std::uint64_t>(object->ProgramSize());
        if (size_ + size > max_size || patterns_.size() >= max_count) {
            patterns_.clear();
            size_ = 0;
        }
        if (patterns_.emplace(pattern, object).second) size_ += size;
    }

private:
    static constexpr std::size_t max_count = 2'000;
    std::map<std::string, std::shared_ptr<const RE2>, std::less<>> patterns_;
    std::uint64_t size_ = 0;
};

[[nodiscard]] error wrong(std::string why) { return error(errc::invalid_argument, std::move(why)); }

[[nodiscard]] bool looks_around(std::string_view pattern) noexcept {
    for (const char* sign : {"(?=", "(?!", "(?<=", "(?<!"}) {
        if (pattern.find(sign) != std::string_view::npos) return true;
    }
    return false;
}

} // namespace

result<void> schema_patterns::add(std::string_view pattern) {
    if (patterns_.find(pattern) != patterns_.end()) return {};
    constexpr auto too_large =
        "patterns that are too large together: a repetition such as {1,1000} "
        "multiplies what it repeats";
    const std::uint64_t repeated = repeated_in(pattern);
    repeated_ += repeated;
    if (repeated_ > max_repeated) return wrong(too_large);
    pattern_cache& known = pattern_cache::of_thread();
    std::shared_ptr<const RE2> object = known.find(pattern);
    if (!object) {
        const std::uint64_t foreseen = units_of_a_pattern + repeated * 3 / 2;
        if (!work_.expect(foreseen)) return wrong("patterns that were not compiled to their end");
        object = compiled(pattern);
        const auto size = static_cast<std::uint64_t>(std::max(object->ProgramSize(), 0));
        const bool goes_on = work_.spend(foreseen + size * units_of_an_instruction);
        if (object->ok()) known.add(pattern, object); // also when it is compiled again elsewhere
        if (!goes_on) return wrong("patterns that were not compiled to their end");
    }
    if (object->error_code() == RE2::ErrorPatternTooLarge) return wrong(too_large);
    if (!object->ok()) {
        return wrong("a bad pattern: " + object->error() +
                     (looks_around(pattern) ? " (look-ahead and look-behind are not supported)"
                                            : std::string()));
    }
    size_ += static_cast<std::uint64_t>(object->ProgramSize());
    if (size_ > max_size) return wrong(too_large);
    patterns_.emplace(pattern, std::move(object));
    return {};
}

std::shared_ptr<const RE2> schema_patterns::find(std::string_view pattern) const {
    const auto found = patterns_.find(pattern);
    return found == patterns_.end() ? nullptr : found->second;
}

} // namespace heddle::tasks
