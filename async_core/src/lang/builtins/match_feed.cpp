#include "match_feed.hpp"

#include <heddle/lang/side_thread.hpp>
#include "regex_pattern.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>

#include <re2/re2.h>

namespace heddle::lang {

namespace {

constexpr std::size_t quick = 400'000;            ///< bytes times instructions: 8 ms at worst
constexpr std::size_t nanoseconds_of_a_step = 20; ///< of a byte and an instruction, at worst
constexpr std::size_t matches_at_once = 16 * 1024;

[[nodiscard]] std::chrono::nanoseconds time_of_thread() noexcept {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// Adds the next match from `at` on, group by group. False: there is none.
[[nodiscard]] bool find_next(const RE2& pattern, std::string_view text, std::size_t& at,
                             std::vector<re2::StringPiece>& pieces,
                             std::vector<match_range>& found) {
    if (at > text.size()) return false;
    const re2::StringPiece whole(text.data(), text.size());
    if (!pattern.Match(whole, at, text.size(), RE2::UNANCHORED, pieces.data(),
                       static_cast<int>(pieces.size()))) {
        at = text.size() + 1;
        return false;
    }
    for (const re2::StringPiece& piece : pieces) {
        if (piece.data() == nullptr) {
            found.emplace_back();
            continue;
        }
        const auto begin = static_cast<std::size_t>(piece.data() - text.data());
        found.push_back({begin, begin + piece.size()});
    }
    const match_range match = found[found.size() - pieces.size()];
    at = match.end;
    // After an empty match the search goes on behind the next code point.
    if (match.begin == match.end) at += at < text.size() ? utf8::decode(text, at).bytes : 1;
    return true;
}

} // namespace

/// Many matches, over a copy of the text.
class match_feed::beside final : public side_job {
public:
    void run() override {
        std::vector<re2::StringPiece> pieces(groups);
        const auto began = time_of_thread();
        for (std::size_t count = 0; count < wanted && !abandoned() && !over; ++count) {
            over = !find_next(*pattern, text, at, pieces, found);
            time = time_of_thread() - began;
            if (time > time_left) break;
        }
    }
    [[nodiscard]] std::size_t bytes() const noexcept override {
        return text.capacity() + wanted * groups * sizeof(match_range);
    }

    std::shared_ptr<const RE2> pattern;
    std::string text;
    std::size_t groups = 1;
    std::size_t wanted = 0;
    std::chrono::nanoseconds time_left{};
    // Results:
    std::size_t at = 0;
    std::vector<match_range> found;
    std::chrono::nanoseconds time{};
    bool over = false;
};

match_feed::match_feed(std::shared_ptr<const RE2> pattern, std::string_view text, work_meter& work,
                       std::size_t wanted, std::chrono::nanoseconds max_time)
    : pattern_(std::move(pattern)), text_(text.data() ? text : std::string_view("")), work_(work),
      groups_(static_cast<std::size_t>(pattern_->NumberOfCapturingGroups()) + 1),
      wanted_(std::min(wanted, std::max<std::size_t>(64, matches_at_once / groups_))),
      cost_(static_cast<std::size_t>(pattern_->ProgramSize()) + 1),
      longest_(text.size() * cost_ * nanoseconds_of_a_step), max_time_(max_time) {}

match_feed::~match_feed() {
    if (beside_) beside_->abandon();
}

std::span<const match_range> match_feed::next() {
    if (next_ == found_.size()) {
        found_.clear();
        next_ = 0;
        if (over_) return {};
        const bool here = text_.size() <= quick / cost_;
        if (!(here ? fill_here() : fill_beside()) || found_.empty()) return {};
    }
    const std::span<const match_range> match(found_.data() + next_, groups_);
    next_ += groups_;
    return match;
}

bool match_feed::refuse_time() {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(max_time_).count();
    failure_ = error(errc::limit, "the matches take more than " + std::to_string(seconds) +
                                      " s of processor time: for each the pattern reads far "
                                      "beyond it")
                   .with_hint(
                       "a pattern that does not look for more than it takes, as in "
                       "[^\"]* for .*, or less text")
                   .with_origin(error_origin::script);
    return false;
}

/// Matches cost what they take in, as a rule. Those that read far beyond it cost their time.
bool match_feed::pay_for_time(std::uint64_t counted) {
    constexpr auto often = std::chrono::microseconds(50);
    constexpr std::uint64_t units_of_a_microsecond = 100;
    counted_ += counted;
    if (!work_.spend(counted)) return false;
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_ < often) return true;
    const auto used = time_of_thread();
    // At first only the clock is known, which runs while the thread does not.
    const auto spent = used_.count() == 0 ? std::min(now - looked_, longest_) : used - used_;
    looked_ = now;
    used_ = used;
    time_ += spent;
    if (time_ > max_time_) return refuse_time();
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(spent).count();
    const auto units = static_cast<std::uint64_t>(micros) * units_of_a_microsecond;
    const std::uint64_t known = std::exchange(counted_, 0);
    // A fair share of what happens between two looks is not the pattern's.
    return units <= 4 * known || work_.spend(units - known);
}

/// One match, on this stack.
bool match_feed::fill_here() {
    if (at_ == 0) looked_ = std::chrono::steady_clock::now();
    const std::size_t from = at_;
    std::vector<re2::StringPiece> pieces(groups_);
    over_ = !find_next(*pattern_, text_, at_, pieces, found_);
    return pay_for_time(4 + (std::min(at_, text_.size()) - std::min(from, text_.size())) / 4);
}

/// The copy of the text for the thread. False: stop.
bool match_feed::make_copy() {
    constexpr std::size_t piece = 256 * 1024;
    const auto object = std::make_shared<beside>();
    object->pattern = pattern_;
    object->groups = groups_;
    object->wanted = wanted_;
    object->text.reserve(text_.size());
    for (std::size_t at = 0; at < text_.size(); at += piece) {
        object->text += text_.substr(at, piece);
        if (!work_.spend_bytes(std::min(piece, text_.size() - at))) return false;
    }
    beside_ = object;
    return true;
}

/// Many matches, in another thread.
bool match_feed::fill_beside() {
    if (text_.size() > max_size / cost_) {
        failure_ = error(errc::limit, "a text of " + std::to_string(text_.size()) +
                                          " bytes is too long for this pattern: " +
                                          std::to_string(max_size / cost_) + " at most")
                       .with_hint("cut the text, or use a simpler pattern")
                       .with_origin(error_origin::script);
        return false;
    }
    if (!work_.expect(2 * work_meter::units_of_a_turn)) return false;
    if (!beside_ && !make_copy()) return false;
    beside_->found.clear();
    beside_->time_left = max_time_ - time_;
    switch (run_beside(beside_, work_)) {
    case side_end::done: break;
    case side_end::stopped: return false;
    case side_end::refused: failure_ = no_thread_for_pattern(); return false;
    }
    time_ += std::exchange(beside_->time, {});
    if (time_ > max_time_ && !beside_->over) return refuse_time();
    over_ = beside_->over;
    found_.swap(beside_->found);
    return true;
}

} // namespace heddle::lang
