// What takes effect in a durable row although branches can run: a branch that computes for long
// would hold up the others.
#include "clock_records.hpp"
#include "durable_row.hpp"
#include "record_kinds.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace heddle::host {

namespace {

/// So long a branch computes before what has arrived for another one takes effect beside it.
constexpr auto patience = std::chrono::milliseconds(10);
/// The same for what has arrived in an earlier execution, and may have waited for the end there.
constexpr auto patience_in_repetition = std::chrono::milliseconds(100);

using ports::step_kind;
using ports::step_record;

} // namespace

bool durable_row::gathers(bool computes) noexcept {
    if (closed_) return false;
    if (!gathered_.empty()) return true;
    if (!between_.empty()) return between_.front().path.low <= slices_;
    if (!computes || replay_ || settling_) return false;
    auto wait = patience;
    if (replays()) pass_rest_without_effect();
    if (replays()) {
        const auto next = next_between();
        if (!next) return false;
        wait = is_part(earlier_[*next].kind) ? wait.zero() : patience_in_repetition;
    } else {
        const bool has_arrived = !arrivals_.empty() && arrivals_.front()->ready;
        const bool is_over = arrivals_.empty() && !overdue_.empty();
        if (!(has_arrived && !arrivals_.front()->is_part) && !is_over) return false;
    }
    // All that can run come together for it: not more often than each of them gets its slice.
    if (slices_ - last_gathering_ < gathered_last_) return false;
    if (wait == wait.zero()) return true;
    const coro::clock::time_point now = loop_.now();
    if (!busy_since_) busy_since_ = now;
    return now - *busy_since_ >= wait;
}

coro::task<void> durable_row::gather() {
    gathered_branch self(gathered_);
    end_gathering();
    // What has taken effect and those that have come before go on before it, as they do when it has
    // to wait: a repetition may come to the same place before what takes effect has arrived.
    if (self.goes_on) co_await coro::yield_now(loop_);
    while (!self.goes_on) {
        const coro::wake woken =
            co_await self.released.wait(coro::call_context{&loop_, nullptr, {}});
        (void)woken;
    }
}

/// All branches that can run wait: one record takes effect, and they go on in the order in which
/// they have come. A repetition waits until it has arrived.
void durable_row::end_gathering() noexcept {
    if (gathered_.empty() || (!closed_ && gathered_.size() < running_)) return;
    if (!closed_) {
        if (settling_ || keeps_cancelled_parts()) return;
        last_gathering_ = slices_;
        gathered_last_ = gathered_.size();
        if (between_.empty()) take_effect_between();
        else if (!repeat_between()) return;
    }
    while (!gathered_.empty()) {
        gathered_branch& each = *gathered_.front();
        each.leave();
        each.goes_on = true;
        each.released.notify();
    }
}

/// What comes next has its turn; when, is recorded.
void durable_row::take_effect_between() noexcept {
    if (replay_) return;
    if (replays()) return go_on_between();
    step_record note;
    note.kind = step_kind::clock;
    note.path = {clock_records::between_slices, slices_};
    try {
        if (!arrivals_.empty()) {
            arrival& first = *arrivals_.front();
            if (!first.ready || first.is_part) return;
            note.content = first.path;
            note.at = std::max(clock_, first.at);
            log_.note(std::move(note));
            grant(first, first.at);
        } else if (!overdue_.empty()) {
            note.content = overdue_.front()->path;
            note.at = time_now();
            log_.note(std::move(note));
            (void)cut_next();
        }
    } catch (...) { // no memory: it has its turn later
    }
}

/// From there on earlier_ has only what arrived last, and parts.
std::size_t durable_row::first_of_arrivals() const {
    const auto others = std::find_if(earlier_.rbegin(), earlier_.rend(), [this](const auto& each) {
        return !is_part(each.kind) && !arrived_last_.contains(each.path);
    });
    return static_cast<std::size_t>(earlier_.rend() - others);
}

/// The next record that is neither void nor a part of a step that does not run; earlier_.size():
/// there are only those.
std::size_t durable_row::next_with_effect() const noexcept {
    const auto has_no_effect = [this](std::size_t at) {
        const step_record& record = earlier_[at];
        const bool is_asked_for = part_turns_.contains(at) || steps_.contains(record.path);
        return is_void_[at] || (is_part(record.kind) && !is_asked_for);
    };
    std::size_t next = next_;
    while (next < earlier_.size() && has_no_effect(next)) ++next;
    return next;
}

/// What is left has no effect, such as the parts of a step that a branch which computes has ended:
/// all that is recorded has been repeated, and time goes on.
void durable_row::pass_rest_without_effect() noexcept {
    if (slices_ < arrived_last_.slices_without_a_turn()) return;
    if (next_with_effect() != earlier_.size()) return;
    while (replays() && replay_next(repeats::between_slices)) {}
}

/// What comes next, if it had arrived when an earlier process ended. It may have taken effect
/// between slices; the record of that was lost, and nothing that is recorded follows from it.
/// Behind a branch that computes, it would take effect after the time of its task.
std::optional<std::size_t> durable_row::next_between() const noexcept {
    const std::size_t next = next_with_effect();
    if (next == earlier_.size() || next < first_of_arrivals_) return std::nullopt;
    if (slices_ < arrived_last_.slices_without_a_turn()) return std::nullopt;
    const step_record& record = earlier_[next];
    bool is_there = false;
    if (is_part(record.kind)) {
        is_there = record.part.is_zero() && part_turns_.contains(next);
    } else {
        const auto waiting = arrivals_by_path_.find(record.path);
        is_there = waiting != arrivals_by_path_.end() && waiting->second->ready;
    }
    return is_there ? std::optional(next) : std::nullopt;
}

void durable_row::go_on_between() noexcept {
    const auto next = next_between();
    if (!next) return;
    while (next_ < *next) {
        if (!replay_next(repeats::between_slices)) return;
    }
    const step_record& record = earlier_[*next];
    if (!is_part(record.kind)) {
        try {
            step_record note;
            note.kind = step_kind::clock;
            note.path = {clock_records::between_slices, slices_};
            note.content = record.path;
            note.at = std::max(clock_, record.at);
            log_.note(std::move(note));
        } catch (...) { // no memory: it has its turn later
            return;
        }
    }
    (void)replay_next(repeats::between_slices);
}

/// False: what took effect here has not arrived yet.
bool durable_row::repeat_between() noexcept {
    const auto is_here = [this] {
        return !between_.empty() && between_.front().path.low <= slices_;
    };
    if (!is_here()) return true;
    const ports::digest128 path = between_.front().content;
    while (is_here() && !closed_ && !broken_) {
        const auto found = by_path_.find(path);
        const bool comes = found != by_path_.end() && found->second >= next_;
        if (between_.front().path.low < slices_ || !comes) {
            forget_between();
            return true;
        }
        if (settling_ || keeps_cancelled_parts()) return false;
        const bool is_last = found->second == next_;
        const std::size_t left = between_.size();
        if (!replay_next(repeats::between_slices)) return false;
        if (between_.size() != left) return true; // nothing comes to it
        if (is_last) {
            forget_between();
            return true;
        }
    }
    return true;
}

void durable_row::forget_between() noexcept {
    if (between_.empty()) return;
    between_.pop_front();
    if (!time_stands_still() && !goes_beyond_) begin_clock();
}

} // namespace heddle::host
