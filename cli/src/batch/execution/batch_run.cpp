#include "batch/execution/batch_run.hpp"

#include <heddle/host/row_history.hpp>
#include <heddle/setup/journal/row_log.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_waiting = 16'384; ///< rows, and their bytes
constexpr std::size_t max_waiting_bytes = std::size_t{64} << 20;
/// So many failed rows without one that is done: more of them would fail as well.
constexpr std::uint64_t first_failures = 100;
constexpr std::string_view settings_reason = "TaskError configuration_error";

[[nodiscard]] coro::clock::duration pause_before_attempt(std::uint32_t attempts) noexcept {
    constexpr auto longest = std::chrono::seconds(30);
    return std::min<coro::clock::duration>(longest, 500ms * (1U << std::min(attempts, 10U)));
}

/// Rejected rows that wait for the disk, and their bytes.
constexpr std::size_t max_rejected = 1000;
constexpr std::size_t max_rejected_bytes = std::size_t{8} << 20;

[[nodiscard]] bool is_finished(ports::row_status status) noexcept {
    return status != ports::row_status::begun;
}

[[nodiscard]] batch_bounds bounds_of(const batch_request& asked, coro::deadline until) {
    batch_bounds bounds;
    bounds.concurrency = asked.concurrency;
    bounds.budget_usd = asked.budget_usd;
    bounds.max_calls = asked.max_calls;
    bounds.max_failed = asked.max_failed;
    bounds.until = until;
    return bounds;
}

} // namespace

batch_run::batch_run(parts of)
    : of_(std::move(of)), gate_(bounds_of(of_.asked, of_.until), of_.earlier),
      first_rows_(of_.columns) {
    for (const ports::known_row& row : of_.known.rows()) {
        has_responses_ =
            has_responses_ || (of_.journal && (row.outdated || !is_finished(row.status)));
        if (!counts_as_finished(row)) continue;
        ++counted_.kept;
        if (row.status == ports::row_status::done) ++counted_.done;
        else if (row.status == ports::row_status::failed) ++counted_.failed;
        else ++counted_.rejected;
    }
    done_before_ = counted_.done;
    gate_.add_failed(of_.rows_failed);
    longest_output_ = of_.earlier.sample.longest_output;
}

bool batch_run::counts_as_finished(const ports::known_row& row) const noexcept {
    const bool again = of_.asked.retry_failed && row.status != ports::row_status::done;
    return !again && !row.outdated && is_finished(row.status);
}

bool batch_run::has_room() const noexcept {
    const std::uint64_t position = next_ ? next_->position : positions_;
    if (!of_.emitter.has_room(position, of_.asked.window)) return false;
    // Rows that wait for another attempt are in memory.
    if (retries_.size() + held_.size() >= max_waiting) return false;
    std::size_t bytes = 0;
    for (const auto& job : retries_) bytes += job->row.json.size();
    for (const held_job& each : held_) bytes += each.job->row.json.size();
    return bytes < max_waiting_bytes;
}

bool batch_run::may_reject() const noexcept {
    return rejected_.rows < max_rejected && rejected_.bytes < max_rejected_bytes;
}

coro::call_context batch_run::context() noexcept { return {&of_.tools.loop(), nullptr, {}}; }

coro::task<result<void>> batch_run::run() {
    result<void> ended;
    if (of_.journal && !of_.asked.ordered) ended = co_await emit_earlier();
    if (ended) {
        coro::nursery rows(context());
        while (ended && !broken_ && gate_.cause() == stop_cause::none) {
            if (of_.emitter.failure()) {
                gate_.stop(stop_cause::output);
                break;
            }
            if (gate_.bounds().until.passed(of_.tools.loop().now())) {
                gate_.stop(stop_cause::deadline);
                break;
            }
            take_left();
            if (auto job = next_to_start()) {
                start(rows, std::move(job));
                continue;
            }
            if (gate_.cause() != stop_cause::none) break; // nobody else would wake it
            if (next_ == nullptr && !input_ended_ && has_room() && may_reject()) {
                // Rows that wait for another attempt do not wait for the input.
                ended = co_await read_more(rows);
                continue;
            }
            const bool idle = gate_.in_progress() == 0 && rejected_.rows == 0;
            if (used_up_ != stop_cause::none && idle && !has_room() && !of_.emitter.is_full()) {
                gate_.stop(used_up_); // what takes the room waits for a larger bound
                break;
            }
            if (idle && retries_.empty() && !held_.empty() && (next_ || !input_ended_) &&
                !has_room()) {
                // All that may run has been failed by a service, and waits for it.
                if (!open_for_held()) ended = co_await settle_held(held_rows::all);
                continue;
            }
            if (used_up_ != stop_cause::none && input_ended_ && idle && !next_) {
                // Rows that wait for batches do not wait for a larger bound.
                const bool has_left = unfinished_ != counted_.waiting || !retries_.empty();
                if (has_left || !held_.empty()) gate_.stop(used_up_);
                break;
            }
            if (input_ended_ && idle && !next_ && retries_.empty()) {
                if (held_.empty()) {
                    // It was lifted, and the rows that it has left are for another process.
                    if (has_dropped_) gate_.stop(last_used_up_);
                    break;
                }
                ended = co_await settle_held(held_rows::all);
                continue;
            }
            co_await wait_for_change();
        }
        if (!ended) rows_.request(cancel_reason::shutdown);
        else if (input_failure_) ended = *input_failure_; // the rows before it have run
        while (gate_.in_progress() != 0) {
            if (grace_until_ && of_.tools.loop().now() >= *grace_until_)
                rows_.request(cancel_reason::user);
            co_await wait_for_change();
        }
        result<void> joined = co_await rows.join();
        if (ended && !joined) ended = std::move(joined);
    }
    if (of_.journal) {
        result<void> kept = co_await of_.journal->flush(context());
        if (ended && !kept) ended = std::move(kept);
    }
    co_return ended;
}

ports::step_spending batch_run::spent_now() const {
    ports::step_spending now = lost_responses_;
    const bool is_replayed = of_.tools.counts().replayed;
    const auto add = [&now, is_replayed](const call_counts& seen) {
        now.requests += static_cast<std::uint32_t>(seen.requests);
        now.input_tokens += seen.input_tokens;
        now.output_tokens += seen.output_tokens;
        if (!is_replayed) now.cost_usd += seen.cost_usd;
        now.unpriced += static_cast<std::uint32_t>(seen.unpriced);
        now.estimated = now.estimated || seen.estimated != 0;
    };
    add(of_.tools.counts());
    if (of_.workers) add(of_.workers->counts());
    return now;
}

void batch_run::break_off() noexcept {
    broken_ = true;
    rows_.request(cancel_reason::shutdown);
    changed_.notify();
}

coro::task<result<void>> batch_run::work(std::unique_ptr<row_job> job, end_guard in_progress) {
    row_job& own = *job;
    const auto began = of_.tools.loop().now();
    const bool was_revised = own.is_revised; // an attempt makes it a row of this program
    result<row_outcome> outcome = co_await attempt(own);
    own.worked += of_.tools.loop().now() - began;
    ports::step_spending spent;
    if (outcome) spent = outcome->spent;
    own.spent += spent;
    // A row that an earlier process has begun uses all that it has used; one of another program
    // what it asks now, and nothing is known if it asks nothing.
    const ports::step_spending whole = was_revised ? spent : own.spent;
    const bool shows_nothing = was_revised && spent.requests == 0;
    const bool probe = std::exchange(own.is_probe, false);
    const bool own_waits =
        outcome && (outcome->what == row_outcome::kind::waiting || outcome->held);
    if (outcome && own.sends_nothing && !outcome->held) count_continued(own);
    result<void> settled;
    if (!outcome) {
        settled = std::move(outcome).error();
    } else if (outcome->what == row_outcome::kind::cancelled) {
        if (probe) services_.probe_lost(of_.tools.loop().now());
        if (!outcome->held && own.has_run) note_work(own, true); // else it does not know of before
        // In order, the rows behind it could not be written.
        const bool stops = of_.asked.ordered && used_up_ != stop_cause::none;
        if (outcome->held && !stops) {
            --own.attempts;
            own.has_records = !own.is_revised;
            own.is_continued = true;
            // In order, the rows behind it may have taken the room without which no other starts.
            if (of_.asked.ordered) retries_.push_back(std::move(job));
            else leave(std::move(job));
        } else {
            ++unfinished_;
            if (outcome->held) gate_.stop(used_up_);
        }
    } else if (outcome->what == row_outcome::kind::waiting) {
        if (probe) services_.probe_lost(of_.tools.loop().now());
        note_work(own, true);
        note_waiting(own.position);
        if (!of_.parking || !of_.parking->take_parked(own.number)) ++counted_.asking;
    } else if (outcome->outage && !probe && began < back_at_ && retry_after_outage(job)) {
        // It has asked before the service was back.
    } else {
        if (probe && outcome->outage) ++own.failed_probes;
        const auto change =
            services_.row_ended(outcome->contacts, outcome->outage, probe, of_.tools.loop().now());
        if (change == service_outages::change::paused) {
            ++outages_;
            of_.say("paused: " + std::to_string(outage_breaker::failures_to_open) +
                    " consecutive rows failed because a service is down (" + outcome->message +
                    "); one row will try again in 5 s");
        } else if (change == service_outages::change::back) {
            back_at_ = of_.tools.loop().now();
            of_.say("the service is back; continuing");
        }
        settled = co_await settle(std::move(job), *std::move(outcome));
    }
    in_progress.ended();
    if (own_waits || shows_nothing) gate_.row_left(spent);
    else gate_.row_ended(spent, whole);
    if (!settled) break_off();
    changed_.notify();
    co_return settled;
}

coro::task<result<void>> batch_run::settle(std::unique_ptr<row_job> job, row_outcome outcome) {
    result<void> ended;
    if (outcome.outage) {
        note_outage(std::move(job), std::move(outcome));
        co_return ended;
    }
    // Services that answer: what they failed before was not an outage.
    ended = co_await settle_held(held_rows::answered);
    if (!ended) co_return ended;
    if (outcome.reason == settings_reason && !has_done_rows() && !settings_failure_) {
        // Rows that cannot be run are not failed rows: they run once the settings are mended.
        settings_failure_ = outcome.message;
        gate_.stop(stop_cause::settings);
    }
    if (outcome.reason == settings_reason && settings_failure_) {
        ++unfinished_;
        co_return ended;
    }
    if (outcome.what == row_outcome::kind::failed && job->attempts <= of_.asked.retry_rows) {
        job->not_before = of_.tools.loop().now() + pause_before_attempt(job->attempts);
        retry_later(std::move(job));
        co_return ended;
    }
    ended = co_await end(std::move(job), std::move(outcome));
    co_return ended;
}

/// The results of the rows behind it do not wait: it may take a day.
void batch_run::note_waiting(std::uint64_t position) {
    ++unfinished_;
    ++counted_.waiting;
    of_.emitter.pass(position);
}

/// For a later process: this one may end first.
void batch_run::note_work(const row_job& job, bool goes_on) {
    if (!of_.journal) return;
    ports::row_work sum = work_of(job);
    if (goes_on) --sum.attempts;
    of_.journal->note_work(job.number, sum);
}

void batch_run::retry_later(std::unique_ptr<row_job> job) {
    note_work(*job, false);
    ++counted_.retried;
    retries_.push_back(std::move(job));
}

coro::task<result<void>> batch_run::end(std::unique_ptr<row_job> job, row_outcome outcome) {
    ended_row row;
    row.result.id = job->row.id;
    ports::row_end& end = row.result.end;
    end.row = job->number;
    const ports::row_work work = work_of(*job);
    end.attempts = work.attempts;
    end.duration_ms = work.duration_ms;
    end.spent = job->spent;
    end.maybe_paid = job->lost != 0;
    end.value_json = std::move(outcome.value_json);
    end.error_json = std::move(outcome.error_json);
    if (outcome.what == row_outcome::kind::failed) end.status = ports::row_status::failed;
    if (outcome.what == row_outcome::kind::rejected) end.status = ports::row_status::rejected;
    if (of_.journal) {
        result<void> kept = co_await of_.journal->end_row(end, context());
        if (!kept) co_return std::move(kept).error();
    }
    if (outcome.what == row_outcome::kind::done) {
        ++counted_.done;
    } else {
        row.letter = rows::dead_letter{
            job->number,   job->row.id, *job->row.file, job->row.line, end.error_json,
            job->row.json, {},          false};
        failures_.add(outcome.what == row_outcome::kind::rejected ? "rejected" : outcome.reason,
                      outcome.message, job->row.id);
        if (outcome.what == row_outcome::kind::failed) {
            ++counted_.failed;
            gate_.row_failed();
            if (!of_.asked.skips_all_failures && !has_done_rows() &&
                gate_.rows_failed() >= first_failures) {
                gate_.stop(stop_cause::all_fail);
            }
        } else {
            ++counted_.rejected;
            if (of_.asked.strict) gate_.stop(stop_cause::bad_row);
        }
    }
    of_.emitter.put(job->position, std::move(row));
    co_return result<void>();
}

coro::task<void> batch_run::wait_for_change() {
    const auto now = of_.tools.loop().now();
    auto wake = now + 1h;
    for (const auto& job : retries_) wake = std::min(wake, job->not_before);
    wake = std::min(wake, services_.next_probe());
    if (gate_.cause() == stop_cause::none && !gate_.bounds().until.is_never())
        wake = std::min(wake, gate_.bounds().until.at());
    if (grace_until_ && !rows_.requested()) wake = std::min(wake, *grace_until_);
    // What is due and cannot start waits for something else to happen.
    wake = std::max(wake, now + 20ms);
    (void)co_await changed_.wait(context().with_deadline(coro::deadline(wake)));
}

void batch_run::drain(stop_cause cause, std::chrono::milliseconds grace) {
    gate_.stop(cause);
    if (cause == stop_cause::cancelled && of_.on_cancel) of_.on_cancel();
    reading_.request(cancel_reason::user);
    grace_until_ = of_.tools.loop().now() + grace;
    changed_.notify();
}

void batch_run::cancel_rows() noexcept {
    gate_.stop(stop_cause::interrupted);
    reading_.request(cancel_reason::user);
    rows_.request(cancel_reason::user);
    changed_.notify();
}

void batch_run::pause(bool paused) {
    gate_.pause(paused);
    changed_.notify();
}

void batch_run::set_limits(const run_limits& limits) {
    batch_bounds& bounds = gate_.bounds();
    for (const auto& [name, value] : limits) {
        // Other limits do not let rows start that one of these has stopped.
        if (name == "budget-usd" || name == "max-calls") used_up_ = stop_cause::none;
        // A stop is final: the rows that are left start with the next process.
        if ((name == "budget-usd" && gate_.cause() == stop_cause::budget) ||
            (name == "max-calls" && gate_.cause() == stop_cause::calls))
            changed_after_stop_ = true;
        if (name == "concurrency") bounds.concurrency = static_cast<std::size_t>(value);
        else if (name == "budget-usd") bounds.budget_usd = amount_of(value);
        else if (name == "max-calls") bounds.max_calls = count_of(value);
        else if (name == "stop-after") bounds.max_failed = count_of(value);
        else if (name == deadline_limit && value == no_limit)
            bounds.until = coro::deadline::never();
        else if (name == deadline_limit)
            bounds.until =
                coro::deadline(of_.tools.loop().now() + std::chrono::ceil<coro::clock::duration>(
                                                            std::chrono::duration<double>(value)));
    }
    gate_.look_at_failures();
    changed_.notify();
}

bool batch_run::has_rows_left() const noexcept {
    return !input_ended_ || input_failure_ || next_ || !retries_.empty() || !held_.empty() ||
           unfinished_ != 0 || waiting_ != 0;
}

batch_counts batch_run::counts() const {
    batch_counts now = counted_;
    now.in_progress = gate_.in_progress();
    const auto add = [&now](const call_counts& calls) {
        now.on_the_wire += calls.running - std::min(calls.running, calls.waiting + calls.limited);
        now.limited += calls.limited;
        now.cached += calls.kept;
    };
    add(of_.tools.counts());
    if (of_.workers) add(of_.workers->counts());
    response_sources sources = of_.tools.counts().sources;
    sources.journal = of_.journal != nullptr;
    now.cached_from = sources.text();
    now.retrying = retries_.size() + held_.size();
    now.to_write = of_.emitter.waiting();
    if (of_.parking) now.parked = of_.parking->open_calls();
    now.spent_now = spent_now();
    // The gate knows the sum of when it last decided, and rows have ended since.
    now.spent = gate_.spent_before();
    now.spent += now.spent_now;
    now.mean_cost = gate_.mean_cost();
    if (of_.journal) now.maybe_paid = of_.journal->totals().maybe_paid;
    now.budget_usd = gate_.bounds().budget_usd;
    now.bound_was_lifted = changed_after_stop_ || (has_dropped_ && used_up_ == stop_cause::none);
    now.total = total_;
    if (!now.total) {
        const rows::row_progress read = of_.feed.progress();
        if (read.total_bytes && read.bytes != 0 && read.rows != 0) {
            const double share = static_cast<double>(*read.total_bytes) /
                                 static_cast<double>(std::min(read.bytes, *read.total_bytes));
            // Of a filter, what it has taken so far.
            const std::uint64_t rows = of_.filter ? positions_ : read.rows;
            now.total = static_cast<std::uint64_t>(std::llround(static_cast<double>(rows) * share));
            if (of_.asked.rows.limit) now.total = std::min(*now.total, *of_.asked.rows.limit);
            now.total_is_estimate = true;
        }
    }
    const auto time = of_.tools.loop().now();
    if (gate_.paused()) now.waits_for = waits_for_resume;
    else if (!services_.is_closed()) {
        now.waits_for = "a service that is down";
        const auto next = services_.next_probe();
        if (next != coro::clock::time_point::max() && next > time) {
            const double seconds = std::chrono::duration<double>(next - time).count();
            now.waits_for += " (next try in " + std::to_string(std::lround(seconds)) + " s)";
        }
    } else if (gate_.waits_for_budget()) {
        now.waits_for = "the budget";
    } else if (of_.emitter.is_full()) {
        now.waits_for = "the output";
    }
    return now;
}

} // namespace heddle::cli
