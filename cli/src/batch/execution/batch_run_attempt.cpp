// How a batch executes a row.
#include "batch/execution/batch_run.hpp"

#include "batch/plan/plan_log.hpp"
#include "batch/plan/plan_records.hpp"

#include <heddle/host/row_history.hpp>
#include <heddle/setup/journal/row_log.hpp>

#include <algorithm>
#include <utility>

namespace heddle::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds max_look = 30s; ///< at a row, without --timeout

[[nodiscard]] row_outcome cancelled_row() {
    row_outcome outcome;
    outcome.what = row_outcome::kind::cancelled;
    return outcome;
}

[[nodiscard]] row_outcome held_row() {
    row_outcome outcome = cancelled_row();
    outcome.held = true;
    return outcome;
}

/// Ends what a row asks of the parking lot. Threads: the loop's.
class parking_hold {
public:
    parking_hold(parking_lot* lot, const row_job& job, setup::row_log* log)
        : lot_(lot), row_(job.number) {
        if (lot_ && log && job.sends_nothing) lot_->hold(row_, [log] { log->hold_row(); });
        else lot_ = nullptr;
    }
    ~parking_hold() {
        if (lot_) lot_->hold(row_, nullptr);
    }
    parking_hold(const parking_hold&) = delete;
    parking_hold& operator=(const parking_hold&) = delete;

private:
    parking_lot* lot_;
    std::uint64_t row_;
};

} // namespace

coro::task<result<bool>> batch_run::would_ask(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives it
    const row_job& job) {
    result<std::unique_ptr<row_session>> session =
        co_await of_.sessions.open(context().with_cancel(rows_));
    if (!session) co_return std::move(session).error();
    result<std::vector<ports::step_record>> records =
        co_await of_.journal->records_of(job.number, context());
    if (!records) co_return std::move(records).error();
    plan_records known = plan_records_of({job.number, of_.seed, job.has_ended, job.asks_anew},
                                         *std::move(records), (*session)->get().memory());
    plan_log log(std::move(known.records), known.seed, false, std::move(known.is_failure));
    const auto until = of_.tools.loop().now() + of_.asked.row_timeout.value_or(max_look);
    host::run_options bounds = of_.tools.bounds();
    bounds.cancel = &rows_;
    bounds.until = coro::deadline(until);
    bounds.steps = &log;
    const row_outcome outcome =
        co_await attempt_row(session->get(), &of_.binding, &job.row, bounds);
    if (outcome.what == row_outcome::kind::cancelled)
        co_return error::cancelled(cancel_reason::user);
    const auto& asked = log.asked();
    const bool asks = std::any_of(asked.begin(), asked.end(), [](const auto& each) {
        return each.second.starts_with("task ");
    });
    co_return asks || log.was_lost() || of_.tools.loop().now() >= until;
}

coro::task<result<row_outcome>> batch_run::attempt(row_job& job) {
    ++job.attempts;
    if (job.sends_nothing && job.is_revised) {
        result<bool> asks = co_await would_ask(job);
        if (!asks && rows_.requested()) co_return cancelled_row();
        if (!asks) co_return std::move(asks).error();
        if (*asks) co_return held_row();
    }
    std::unique_ptr<row_session> session;
    // Of another thread, one is needed here only to read what an earlier attempt has left.
    if (!of_.workers || job.is_revised || job.has_records) {
        result<std::unique_ptr<row_session>> opened =
            co_await of_.sessions.open(context().with_cancel(rows_));
        if (!opened && rows_.requested()) co_return cancelled_row();
        if (!opened) co_return std::move(opened).error();
        session = *std::move(opened);
    }
    if (!job.has_run && (job.is_revised || job.has_records)) {
        result<ports::row_work> before = co_await of_.journal->work_of(job.number, context());
        if (!before) co_return std::move(before).error();
        job.before = *before;
    }
    std::vector<ports::step_record> earlier;
    if (std::exchange(job.is_revised, false)) {
        result<std::vector<ports::step_record>> left =
            co_await revise(job, session->get().memory());
        if (!left) co_return std::move(left).error();
        earlier = *std::move(left);
    }
    if (of_.journal && !std::exchange(job.has_begun, true)) {
        const ports::known_row begun{job.number, job.row.id_digest, job.row.content,
                                     ports::row_status::begun, false};
        if (auto noted = of_.journal->begin_row(begun, job.row.id, job.row.json); !noted)
            co_return std::move(noted).error();
    }
    if (std::exchange(job.has_records, false)) {
        result<std::vector<ports::step_record>> found =
            co_await read_records(job, session->get().memory());
        if (!found) co_return std::move(found).error();
        earlier = *std::move(found);
    }
    job.seed = seed_of_row(of_.seed, job.number);
    std::shared_ptr<setup::row_log> steps;
    coro::cancel_source ending(&rows_);
    if (of_.journal) {
        steps = std::make_shared<setup::row_log>(*of_.journal, job.number, job.seed,
                                                 std::move(earlier));
        steps->share_longest_output(longest_output_);
        if (job.sends_nothing) steps->hold_requests(ending);
    }
    const parking_hold held(of_.parking, job, steps.get());
    coro::deadline until;
    if (of_.asked.row_timeout)
        until = coro::deadline(of_.tools.loop().now() + *of_.asked.row_timeout);
    result<row_outcome> ended = co_await execute(job, std::move(session), steps, until, ending);
    if (!ended) co_return std::move(ended).error();
    row_outcome outcome = *std::move(ended);
    job.has_run = true;
    if (steps && steps->has_held()) {
        // Whatever it has come to instead: its records end before the request.
        outcome = held_row();
    }
    if (of_.parking && outcome.what != row_outcome::kind::waiting) {
        if (auto noted = of_.parking->forget(job.number); !noted)
            co_return std::move(noted).error();
    }
    if (steps) {
        const setup::row_log::lost_requests lost = steps->note_lost(outcome.spent.cost_usd);
        job.lost += lost.count;
        // They are in the counts of this process, unless the journal counts more.
        ports::step_spending beyond;
        beyond.output_tokens = lost.output_tokens;
        if (lost.count != 0)
            beyond.cost_usd = std::max(0.0, lost.counted_usd - outcome.spent.cost_usd);
        outcome.spent += beyond;
        lost_responses_ += beyond;
    }
    if (steps && outcome.misfit && !std::exchange(job.has_misfit, true)) {
        result<row_outcome> over = co_await start_over(job, std::move(outcome));
        co_return over;
    }
    if (steps && outcome.what == row_outcome::kind::failed) {
        const bool out_of_time = until.passed(of_.tools.loop().now());
        if (out_of_time || outcome.of_value) outcome.attempt = {host::without_failed_step};
        of_.journal->note(job.number,
                          host::record_of_attempt(outcome.step_message, outcome.attempt));
        job.has_records = true; // for a further attempt
    }
    if (steps && steps->appended() == 0 && outcome.spent.requests != 0) {
        // Calls outside of recorded steps are paid for as well: the totals of the run count them.
        ports::step_record paid;
        paid.kind = ports::step_kind::request;
        paid.path = rows::digest_of_id("calls outside of steps");
        paid.name = "calls";
        paid.spent = outcome.spent;
        result<void> kept = co_await of_.journal->append(job.number, std::move(paid), context());
        if (!kept) co_return std::move(kept).error();
    }
    co_return outcome;
}

coro::task<result<row_outcome>> batch_run::execute(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives it
    row_job& job, std::unique_ptr<row_session> with, std::shared_ptr<setup::row_log> log,
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives it
    coro::deadline until, coro::cancel_source& ending) {
    if (of_.workers) {
        with.reset();
        result<row_outcome> there = co_await of_.workers->attempt(
            job.row, job.seed, std::move(log), until, context().with_cancel(ending));
        if (!there && ending.requested()) co_return cancelled_row();
        co_return there;
    }
    host::run_options bounds = of_.tools.bounds();
    bounds.cancel = &ending;
    bounds.until = until;
    bounds.random_seed = job.seed;
    bounds.steps = log.get();
    row_outcome outcome = co_await attempt_row(with.get(), &of_.binding, &job.row, bounds);
    with.reset();
    if (log && log->is_parked() && outcome.what == row_outcome::kind::failed)
        outcome.what = row_outcome::kind::waiting;
    co_return outcome;
}

} // namespace heddle::cli
