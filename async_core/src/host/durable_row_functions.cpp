// Functions of the program that run inside of the steps of a durable row.
#include "durable_row.hpp"

#include "function_cuts.hpp"
#include "step_path.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace heddle::host {

using ports::digest128;

void durable_row::forget_functions(const digest128& step) {
    for (const std::size_t inside : functions_.of(step)) {
        if (inside < next_ || is_void_[inside]) continue;
        is_void_[inside] = true;
        note_not_begun(earlier_[inside].path);
    }
}

void durable_row::end_function(const digest128& path) noexcept {
    running_functions_.erase(path);
    overdue_functions_.remove(path);
}

std::optional<coro::clock::duration> durable_row::cut_function(const digest128& path,
                                                               bool is_later) noexcept {
    const auto found = running_functions_.find(path);
    if (found == running_functions_.end() || !found->second) return std::nullopt;
    const coro::clock::duration later = time_to_catch_up();
    const bool catches_up = later != later.zero();
    if (catches_up && !is_later && !closed_) return later;
    if (!closed_ && !replay_) {
        try {
            const bool is_recorded = has_slice_cut(path);
            if (running_ == 0 || is_recorded) {
                overdue_functions_.push_back(path);
                if (!is_recorded) go_on();
                return std::nullopt;
            }
            // The row's time, while what is recorded has not taken effect.
            const double at = catches_up ? clock_ : time_now();
            clock_ =
                note_function_cut({function_cuts::after_slices, slices_}, path, at, last_effect_);
        } catch (...) { // no memory: it is cut without a record
        }
    }
    found->second->cut();
    return std::nullopt;
}

/// `after`: what took effect last, where that matters.
double durable_row::note_function_cut(const digest128& path, const digest128& function, double at,
                                      const digest128& after) {
    ports::step_record record;
    record.path = path;
    record.content = function;
    record.part = after;
    record.at = at;
    return note_cut(std::move(record));
}

/// What earlier executions have recorded is repeated on a machine that may be slower now.
coro::clock::duration durable_row::time_to_catch_up() const noexcept {
    if (!replays() && slice_cuts_.empty() && clocks_.empty()) return {};
    constexpr double at_least = 1;
    constexpr double slower = 2;
    // The clock does not advance with parts of steps.
    const double reached = next_ == 0 ? clock_ : std::max(clock_, earlier_[next_ - 1].at);
    const std::chrono::duration<double> time(at_least +
                                             slower * std::max(0.0, clock_at_begin_ - reached));
    return std::chrono::ceil<coro::clock::duration>(time);
}

bool durable_row::has_slice_cut(const digest128& function) const noexcept {
    return std::any_of(slice_cuts_.begin(), slice_cuts_.end(),
                       [&](const ports::step_record& each) { return each.content == function; });
}

bool durable_row::has_taken_effect(const digest128& path) const {
    const auto found = by_path_.find(path);
    return found == by_path_.end() || found->second < next_;
}

/// A slice begins, or a record has taken effect: functions that were cut there are cut now.
void durable_row::cut_recorded_functions() noexcept {
    while (!slice_cuts_.empty() && !closed_) {
        const ports::step_record& next = slice_cuts_.front();
        if (next.path.low > slices_ || !has_taken_effect(next.part)) return;
        const auto function = running_functions_.find(next.content);
        // It is about to begin: its first slice comes here again.
        if (function != running_functions_.end() && !function->second) return;
        clock_ = std::max(clock_, next.at);
        if (replay_) replay_->note_effect(next);
        slice_cuts_.pop_front();
        if (!time_stands_still() && !goes_beyond_) begin_clock();
        took_effect(last_effect_);
        if (function != running_functions_.end() && function->second) function->second->cut();
    }
}

/// No branch computes any more, and nothing else is recorded: they ended before they were cut.
void durable_row::forget_slice_cuts() noexcept {
    if (slice_cuts_.empty()) return;
    slice_cuts_.clear();
    if (!time_stands_still() && !goes_beyond_) begin_clock();
}

void durable_row::note_not_begun(const digest128& path) noexcept {
    if (closed_ || replay_) return;
    try {
        note_function_cut(function_cuts::not_begun, path, time_now());
    } catch (...) { // no memory: a repetition may not fit
    }
}

void durable_row::note_begun_later(const digest128& path) noexcept {
    if (never_began_.erase(path) == 0 || closed_ || replay_) return;
    try {
        note_function_cut(function_cuts::begun_later, path, time_now());
    } catch (...) { // no memory: a repetition may not fit
    }
}

/// Whether the record is about that; notes what it contains.
bool durable_row::read_beginning(const ports::step_record& record) {
    if (function_cuts::is_begun_later(record)) never_began_.erase(record.content);
    else if (function_cuts::is_not_begun(record)) never_began_.insert(record.content);
    else return false;
    return true;
}

/// False: there is none.
bool durable_row::cut_next_function() noexcept {
    if (overdue_functions_.empty()) return false;
    const digest128 path = overdue_functions_.front();
    overdue_functions_.pop_front();
    const auto found = running_functions_.find(path);
    if (found == running_functions_.end() || !found->second) return true;
    const digest128 of_cut = step_path::inside(path, step_path::part::wait, 0);
    try {
        clock_ = note_function_cut(of_cut, path, time_now());
    } catch (...) { // no memory: a repetition may not fit
    }
    took_effect(of_cut);
    found->second->cut();
    return true;
}

coro::task<void> durable_row::wait_beside(digest128 step, coro::call_context context) {
    if (closed_) co_return;
    idle_part self(*this, step, context);
    go_on();
    (void)co_await self.released.wait(context);
}

/// Nothing can take effect: one of the parts that wait ends, of the step that ends next where there
/// is one. False: there is none.
bool durable_row::release_part(const digest128& next) noexcept {
    if (idle_parts_.empty()) return false;
    const auto ends = [](const idle_part* each) { return each->context.cancelled(); };
    if (std::any_of(idle_parts_.begin(), idle_parts_.end(), ends)) return true;
    auto found = std::find_if(idle_parts_.begin(), idle_parts_.end(),
                              [&next](const idle_part* each) { return each->step == next; });
    if (found == idle_parts_.end()) --found;
    idle_part& self = **found;
    self.end_wait();
    self.released.notify();
    return true;
}

} // namespace heddle::host
