#include "regex_pattern.hpp"

#include <heddle/lang/side_thread.hpp>

#include "lang/builtins/support.hpp"

#include <heddle/lang/text.hpp>

#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::lang {

namespace {

constexpr std::size_t max_pattern_length = 64 * 1024; ///< bytes

/// Compiled patterns of the process, the last used first: a bounded number of bounded size. None
/// depends on a session, and RE2 may be used by many threads.
class pattern_cache {
public:
    [[nodiscard]] std::shared_ptr<const RE2> find(std::string_view pattern) {
        const std::unique_lock lock(mutex_);
        const auto found = std::find_if(
            patterns_.begin(), patterns_.end(),
            [&](const auto& compiled) { return std::string_view(compiled->pattern()) == pattern; });
        if (found == patterns_.end()) return nullptr;
        std::rotate(patterns_.begin(), found, found + 1);
        return patterns_.front();
    }
    void add(std::shared_ptr<const RE2> compiled) {
        if (compiled->pattern().size() > longest) return;
        std::shared_ptr<const RE2> last; // goes outside of the lock
        const std::unique_lock lock(mutex_);
        if (patterns_.size() == most) {
            last = std::move(patterns_.back());
            patterns_.pop_back();
        }
        patterns_.insert(patterns_.begin(), std::move(compiled));
    }

private:
    static constexpr std::size_t most = 32;
    static constexpr std::size_t longest = 4096;
    std::mutex mutex_;
    std::vector<std::shared_ptr<const RE2>> patterns_;
};

/// It is never destroyed: threads may use its patterns until the process ends.
pattern_cache& cache() {
    static auto& all = *new pattern_cache;
    return all;
}

/// True for a pattern with \C, which matches one byte of a character: half a character would come
/// out of it.
[[nodiscard]] bool matches_bytes(std::string_view pattern) noexcept {
    for (std::size_t at = 0; at + 1 < pattern.size(); ++at) {
        if (pattern[at] != '\\') continue;
        const char escaped = pattern[++at];
        if (escaped == 'C') return true;
        if (escaped == 'Q') at = std::min(pattern.find("\\E", at), pattern.size());
    }
    return false;
}

[[nodiscard]] std::shared_ptr<const RE2> compile(std::string_view pattern) {
    RE2::Options options;
    options.set_log_errors(false);
    return std::make_shared<const RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
}

/// What it takes to compile a pattern, about, that does not compile slowly.
[[nodiscard]] std::uint64_t units_to_compile(std::string_view pattern) noexcept {
    constexpr std::uint64_t of_a_class = 30'000; ///< of Unicode
    const bool has_class = pattern.find("\\p") != std::string_view::npos ||
                           pattern.find("\\P") != std::string_view::npos;
    return 500 + 40 * pattern.size() + (has_class ? of_a_class : 0);
}

/// Whether a pattern may take more than a millisecond to compile: repetitions and classes of
/// Unicode make much code of little text.
[[nodiscard]] bool compiles_slowly(std::string_view pattern) noexcept {
    constexpr std::size_t quick = 100;
    const auto classes = std::count(pattern.begin(), pattern.end(), 'p') +
                         std::count(pattern.begin(), pattern.end(), 'P');
    return pattern.size() > quick || pattern.find('{') != std::string_view::npos ||
           (classes > 1 && (pattern.find("\\p") != std::string_view::npos ||
                            pattern.find("\\P") != std::string_view::npos));
}

class compiling final : public side_job {
public:
    explicit compiling(std::string_view pattern) : pattern_(pattern) {}
    void run() override {
        object = compile(pattern_);
        // The program that finds where matches begin is made when it is needed first.
        if (object->ok()) (void)object->ReverseProgramSize();
    }
    [[nodiscard]] std::size_t bytes() const noexcept override {
        return std::size_t{32} * 1024 * 1024;
    }
    std::shared_ptr<const RE2> object;

private:
    std::string pattern_;
};

/// Null: the error is noted, or the call has to stop.
[[nodiscard]] std::shared_ptr<const RE2> compile_beside(native_call& call,
                                                        std::string_view pattern) {
    if (!call.expect(2 * work_meter::units_of_a_turn)) return nullptr;
    const auto job = std::make_shared<compiling>(pattern);
    switch (run_beside(job, call.work())) {
    case side_end::done: return job->object;
    case side_end::refused: static_cast<void>(call.fail(no_thread_for_pattern())); break;
    case side_end::stopped: break;
    }
    return nullptr;
}

} // namespace

error no_thread_for_pattern() {
    return error(errc::limit,
                 "regular expressions that were given up still occupy all threads "
                 "for them")
        .with_hint("use simpler patterns on less text, or try again later")
        .with_origin(error_origin::script);
}

std::shared_ptr<const RE2> compiled_pattern(native_call& call, std::span<value> arguments) {
    const auto pattern = string_argument(call, arguments, 0);
    if (!pattern) return nullptr;
    if (pattern->size() > max_pattern_length) {
        static_cast<void>(call.fail(
            error(errc::limit, "a pattern of " + std::to_string(pattern->size()) +
                                   " bytes is too long: " + std::to_string(max_pattern_length) +
                                   " at most")
                .with_origin(error_origin::script)));
        return nullptr;
    }
    if (auto known = cache().find(*pattern)) return known;
    if (matches_bytes(*pattern)) {
        static_cast<void>(call.fail_evaluation(
            "invalid regular expression " + shown(arguments[0]) +
            ": \\C is not supported, because strings are made of characters, not of bytes"));
        return nullptr;
    }
    const bool slow = compiles_slowly(*pattern);
    if (!slow && !call.spend(units_to_compile(*pattern))) return nullptr;
    auto compiled = slow ? compile_beside(call, *pattern) : compile(*pattern);
    if (!compiled) return nullptr;
    if (!compiled->ok()) {
        std::string why = compiled->error();
        // RE2 shows the part that is wrong, which here may be all of the pattern.
        const std::string shown_part = ": " + std::string(*pattern);
        // heddle-check: allow cut-text (an ASCII colon begins there)
        if (why.ends_with(shown_part)) why.resize(why.size() - shown_part.size());
        static_cast<void>(
            call.fail_evaluation("invalid regular expression " + shown(arguments[0]) + ": " + why));
        return nullptr;
    }
    cache().add(compiled);
    return compiled;
}

} // namespace heddle::lang
