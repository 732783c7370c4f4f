// The clock of a durable row.
#include "clock_records.hpp"
#include "durable_row.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace heddle::host {

namespace {

/// A branch that computes for longer than that advances the clock by itself.
constexpr double max_lag = 0.25;
/// What the clock may be late where a time begins.
constexpr double least_lag = 0.02;
/// In a replay the clock goes by the records; a row that was killed may compute for ever.
constexpr double max_lag_of_replay = 30;

using ports::step_kind;
using ports::step_record;

} // namespace

coro::deadline durable_row::real_time(double at) const {
    const std::chrono::duration<double> ahead(at - clock_at_begin_);
    if (ahead > std::chrono::hours(24 * 365 * 100)) return {};
    const coro::clock::time_point begin = time_stands_still() ? loop_.now() : began_;
    return coro::deadline(begin + std::chrono::ceil<coro::clock::duration>(ahead));
}

double durable_row::real_clock() const {
    if (time_stands_still()) return clock_at_begin_;
    return clock_at_begin_ + std::chrono::duration<double>(loop_.now() - began_).count();
}

void durable_row::slice_ended(bool idle, bool bounded, bool computes) {
    if (idle || closed_) return; // how often one looks at what computes elsewhere depends on chance
    ++slices_;
    begun_times_ = 0;
    while (!beginnings_.empty() && beginnings_.front().path.low < slices_) end_beginning();
    if (bounded && computes) {
        computed_ = slices_;
        computed_at_ = clock_;
    }
    const bool is_recorded = !clocks_.empty();
    while (!clocks_.empty() && clocks_.front().path.low <= slices_) {
        clock_ = std::max(clock_, clocks_.front().at);
        noted_ = slices_;
        clocks_.pop_front();
        beyond_since_.reset();
        if (!time_stands_still()) begin_clock();
    }
    if (is_recorded || !bounded) return;
    if (!time_stands_still()) {
        if (real_clock() - clock_ >= (replay_ ? max_lag_of_replay : max_lag)) advance_clock();
    } else if (computes) {
        // It has not computed that long before: a kill, or the end of its step, came first. In
        // journals of earlier versions only what took longer than the lag is recorded.
        if (!beyond_since_) beyond_since_ = loop_.now();
        if (loop_.now() - *beyond_since_ < std::chrono::duration<double>(max_lag)) return;
        goes_beyond_ = true;
        begin_clock();
        advance_clock();
    }
}

double durable_row::begin_time() noexcept {
    if (closed_) return clock_;
    const std::uint64_t kind = clock_records::first_beginning + begun_times_++;
    const ports::digest128 place{kind, slices_};
    if (!beginnings_.empty() && beginnings_.front().path == place) {
        end_beginning();
        return clock_;
    }
    if (replay_ || time_stands_still()) return clock_;
    step_record begun;
    begun.kind = step_kind::clock;
    begun.path = place;
    begun.at = time_now();
    if (begun.at - clock_ < least_lag) return clock_;
    const double at = begun.at;
    try {
        note_computing();
        log_.note(std::move(begun));
        clock_ = at;
    } catch (...) { // no memory: the time has begun earlier
    }
    return clock_;
}

/// The first recorded beginning has its place here, or had it in what was repeated.
void durable_row::end_beginning() noexcept {
    clock_ = std::max(clock_, beginnings_.front().at);
    beginnings_.pop_front();
    beyond_since_.reset();
    if (!time_stands_still() && !goes_beyond_) begin_clock();
}

void durable_row::advance_clock() {
    clock_ = std::max(clock_, real_clock());
    computed_ = slices_;
    computed_at_ = clock_;
    noted_ = 0;
    note_computing();
}

/// Something arrives or takes effect: a repetition has computed as long before.
void durable_row::note_computing() {
    if (computed_ <= noted_ || closed_ || replay_) return;
    step_record computed;
    computed.kind = step_kind::clock;
    computed.path = {0, computed_};
    computed.at = computed_at_; // not that of what takes effect now
    log_.note(std::move(computed));
    noted_ = computed_;
}

void durable_row::took_effect(const ports::digest128& path) noexcept {
    last_effect_ = path;
    beyond_since_.reset();
    try {
        note_computing();
    } catch (...) { // no memory: it is noted with the next record
    }
}

} // namespace heddle::host
