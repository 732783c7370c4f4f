// Matches of a regular expression, one after the other.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/work.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace heddle::lang {

/// Where a group of a match is.
struct match_range {
    static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
    std::size_t begin = nowhere;
    std::size_t end = nowhere;
    [[nodiscard]] bool took_part() const noexcept { return begin != nowhere; }
};

/// Looks for matches, each behind the last one. RE2 cannot be interrupted: where a match may take
/// long it is looked for in another thread, over a copy of the text; such a thread ends by itself
/// after the match under way when nobody waits for it any more.
///
/// One match is linear in the text. All of them need not be: `a.*b|a` reads to the end of the text
/// for each. The time of all together is bounded.
class match_feed {
public:
    static constexpr std::size_t max_size = 100'000'000'000; ///< bytes of text times instructions
    static constexpr std::chrono::seconds default_max_time{60};

    /// The text outlives the feed. `wanted`: how many matches are, or more than there may be.
    /// `max_time`: of processor, for all matches.
    match_feed(std::shared_ptr<const re2::RE2> pattern, std::string_view text, work_meter& work,
               std::size_t wanted, std::chrono::nanoseconds max_time = default_max_time);
    ~match_feed();
    match_feed(const match_feed&) = delete;
    match_feed& operator=(const match_feed&) = delete;

    /// The groups of the next match, the whole first; none when there is no further one, the work
    /// stops, or it failed. They stay until the next call.
    [[nodiscard]] std::span<const match_range> next();
    /// Why there is no further one: errc::limit.
    [[nodiscard]] std::optional<error>& failure() noexcept { return failure_; }

private:
    class beside;
    [[nodiscard]] bool fill_here();
    [[nodiscard]] bool fill_beside();
    [[nodiscard]] bool make_copy();
    [[nodiscard]] bool pay_for_time(std::uint64_t counted);
    [[nodiscard]] bool refuse_time();

    std::shared_ptr<const re2::RE2> pattern_;
    std::string_view text_;
    work_meter& work_;
    std::size_t groups_;
    std::size_t wanted_;
    std::size_t cost_;                 ///< instructions of the pattern
    std::chrono::nanoseconds longest_; ///< that a match takes
    std::chrono::nanoseconds max_time_;
    std::size_t at_ = 0;             ///< where the next search begins
    bool over_ = false;              ///< there are no more
    std::vector<match_range> found_; ///< matches that wait, group by group
    std::size_t next_ = 0;           ///< of them
    std::shared_ptr<beside> beside_; ///< null as long as matches are quick
    std::optional<error> failure_;
    // Of matches on this stack, since the last look at the processor time.
    std::chrono::steady_clock::time_point looked_{};
    std::chrono::nanoseconds used_{};
    std::uint64_t counted_ = 0;
    std::chrono::nanoseconds time_{}; ///< of processor, in all
};

} // namespace heddle::lang
