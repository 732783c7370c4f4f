// Functions of the program that run inside of the steps of a durable row.
#include "durable_row.hpp"

#include "step_path.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace heddle::host {

namespace {

/// The first half of the path of a cut that came while branches ran; the second: how many slices
/// had ended.
constexpr std::uint64_t cut_after_slices = 1;
/// The same of a function that did not begin.
constexpr std::uint64_t not_begun = 2;
/// The same of one that began all the same when the step was continued.
constexpr std::uint64_t begun_later = 3;

} // namespace

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

void durable_row::cut_function(const digest128& path) noexcept {
    const auto found = running_functions_.find(path);
    if (found == running_functions_.end() || !found->second) return;
    if (!closed_ && !replay_) {
        try {
            if (running_ == 0) {
                overdue_functions_.push_back(path);
                return go_on();
            }
            if (replays() || !slice_cuts_.empty()) return found->second->cut();
            clock_ = std::max(clock_, note_cut({cut_after_slices, slices_}, path, last_effect_));
        } catch (...) { // no memory: it is cut without a record
        }
    }
    found->second->cut();
}

bool durable_row::is_cut_by_slices(const ports::step_record& record) noexcept {
    return record.kind == ports::step_kind::cut && !record.content.is_zero() &&
           record.path.high == cut_after_slices;
}

bool durable_row::has_taken_effect(const digest128& path) const {
    const auto found = by_path_.find(path);
    return found == by_path_.end() || found->second < next_;
}

/// A slice has ended, or a record has taken effect: functions that were cut after that are cut now.
void durable_row::cut_recorded_functions() noexcept {
    while (!slice_cuts_.empty() && !closed_) {
        const ports::step_record& next = slice_cuts_.front();
        if (next.path.low > slices_ || !has_taken_effect(next.part)) return;
        const auto function = running_functions_.find(next.content);
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
        note_cut({not_begun, 0}, path);
    } catch (...) { // no memory: a repetition may not fit
    }
}

void durable_row::note_begun_later(const digest128& path) noexcept {
    if (never_began_.erase(path) == 0 || closed_ || replay_) return;
    try {
        note_cut({begun_later, 0}, path);
    } catch (...) { // no memory: a repetition may not fit
    }
}

/// Whether the record is about that; notes what it contains.
bool durable_row::read_beginning(const ports::step_record& record) {
    if (record.kind != ports::step_kind::cut || record.content.is_zero()) return false;
    if (record.path == digest128{begun_later, 0}) never_began_.erase(record.content);
    else if (is_of_one_not_begun(record)) never_began_.insert(record.content);
    else return false;
    return true;
}

bool durable_row::is_of_one_not_begun(const ports::step_record& record) noexcept {
    return record.kind == ports::step_kind::cut && !record.content.is_zero() &&
           record.path == digest128{not_begun, 0};
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
        clock_ = std::max(clock_, note_cut(of_cut, path));
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
