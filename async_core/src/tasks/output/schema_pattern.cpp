#include "tasks/output/schema_pattern.hpp"

#include "tasks/output/pattern_weight.hpp"

#include <heddle/lang/side_thread.hpp>

#include <re2/re2.h>

#include <algorithm>
#include <utility>

namespace heddle::tasks {

namespace {

/// Compiling one takes about its weight: 0.1 s for the letters of all scripts up to a hundred
/// times, at most; all patterns of a schema twice that. Nothing interrupts it: what takes more than
/// a millisecond is done in a thread beside the loop.
constexpr double max_units_here = 100'000;
constexpr double max_units_of_one = 16'000'000;
constexpr double max_units = 22'000'000;
constexpr std::size_t longest = 4 * 1024;
constexpr std::size_t max_total_length = 32 * 1024;
constexpr double units_of_a_pattern = 4'000;

/// Memory of a pattern, for its program and for matching; and of one with more instructions.
constexpr std::int64_t usual_memory = 2 * 1024 * 1024;
constexpr std::int64_t max_memory = 8 * 1024 * 1024;
constexpr double max_states_in_usual_memory = 50'000;

[[nodiscard]] std::shared_ptr<const RE2> compiled(std::string_view pattern, double instructions) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(instructions > max_states_in_usual_memory ? max_memory : usual_memory);
    return std::make_shared<const RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
}

class compiling final : public lang::side_job {
public:
    compiling(std::string_view pattern, double instructions)
        : pattern_(pattern), instructions_(instructions) {}
    void run() override { object = compiled(pattern_, instructions_); }
    [[nodiscard]] std::size_t bytes() const noexcept override {
        return static_cast<std::size_t>(max_memory);
    }
    std::shared_ptr<const RE2> object;

private:
    std::string pattern_;
    double instructions_;
};

/// A task is compiled more than once: when its file is checked, and when it is defined. A few
/// patterns of the thread, of bounded size; it is emptied when it is full.
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
        if (size_ + size > max_instructions || patterns_.size() >= max_count) {
            patterns_.clear();
            size_ = 0;
        }
        if (patterns_.emplace(pattern, object).second) size_ += size;
    }

private:
    static constexpr std::size_t max_count = 2'000;
    static constexpr std::uint64_t max_instructions = 200'000;
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
    length_ += pattern.size();
    if (pattern.size() > longest || length_ > max_total_length)
        return wrong("patterns that are too long: the limits are 4 KiB for one and 32 KiB for all");
    constexpr auto too_large =
        "patterns that are too large together: a repetition such as {1,1000} multiplies what it "
        "repeats, and \\p{L} is as large as a thousand characters; maxLength bounds a text, too";
    const pattern_weight weight = pattern_weight::of(pattern);
    const double foreseen = units_of_a_pattern + weight.units();
    units_ += foreseen;
    if (foreseen > max_units_of_one || units_ > max_units) return wrong(too_large);
    pattern_cache& known = pattern_cache::of_thread();
    std::shared_ptr<const RE2> object = known.find(pattern);
    if (!object) {
        const auto units = static_cast<std::uint64_t>(foreseen);
        if (!work_.expect(units)) return wrong("patterns that were not compiled to their end");
        bool goes_on = true;
        if (foreseen > max_units_here) {
            const auto job = std::make_shared<compiling>(pattern, weight.instructions);
            switch (lang::run_beside(job, work_)) {
            case lang::side_end::done: object = job->object; break;
            case lang::side_end::stopped:
                return wrong("patterns that were not compiled to their end");
            case lang::side_end::refused:
                return wrong("patterns, while all threads for them are busy");
            }
        } else {
            object = compiled(pattern, weight.instructions);
            goes_on = work_.spend(units);
        }
        if (object->ok()) known.add(pattern, object); // also when it is compiled again elsewhere
        if (!goes_on) return wrong("patterns that were not compiled to their end");
    }
    if (object->error_code() == RE2::ErrorPatternTooLarge) return wrong(too_large);
    if (!object->ok()) {
        return wrong("a bad pattern: " + object->error() +
                     (looks_around(pattern) ? " (look-ahead and look-behind are not supported)"
                                            : std::string()));
    }
    patterns_.emplace(pattern, std::move(object));
    return {};
}

std::shared_ptr<const RE2> schema_patterns::find(std::string_view pattern) const {
    const auto found = patterns_.find(pattern);
    return found == patterns_.end() ? nullptr : found->second;
}

} // namespace heddle::tasks
