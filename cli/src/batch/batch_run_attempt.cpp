// How a batch executes a row.
#include "batch/batch_run.hpp"

#include "batch/row_log.hpp"

#include <heddle/host/row_history.hpp>

#include <utility>

namespace heddle::cli {

namespace {

[[nodiscard]] row_outcome cancelled_row() {
    row_outcome outcome;
    outcome.what = row_outcome::kind::cancelled;
    return outcome;
}

} // namespace

coro::task<result<row_outcome>> batch_run::attempt(row_job& job) {
    ++job.attempts;
    std::unique_ptr<row_session> session;
    // Of another thread, one is needed here only to read what an earlier attempt has left.
    if (!of_.workers || job.is_revised || job.has_records) {
        result<std::unique_ptr<row_session>> opened =
            co_await of_.sessions.open(context().with_cancel(rows_));
        if (!opened && rows_.requested()) co_return cancelled_row();
        if (!opened) co_return std::move(opened).error();
        session = *std::move(opened);
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
    std::shared_ptr<row_log> steps;
    if (of_.journal) {
        const std::string name = std::to_string(of_.seed) + ":" + std::to_string(job.number);
        steps = std::make_shared<row_log>(*of_.journal, job.number, rows::digest_of_id(name).low,
                                          std::move(earlier));
        steps->share_longest_output(longest_output_);
    }
    coro::deadline until;
    if (of_.asked.row_timeout)
        until = coro::deadline(of_.tools.loop().now() + *of_.asked.row_timeout);
    result<row_outcome> ended = co_await execute(job, std::move(session), steps, until);
    if (!ended) co_return std::move(ended).error();
    row_outcome outcome = *std::move(ended);
    job.has_run = true;
    if (of_.parking && outcome.what != row_outcome::kind::waiting) {
        if (auto noted = of_.parking->forget(job.number); !noted)
            co_return std::move(noted).error();
    }
    if (steps) {
        const row_log::lost_requests lost = steps->note_lost();
        job.lost += lost.count;
        // Their input is in the counts of this process.
        outcome.spent += lost.beyond_input;
        lost_responses_ += lost.beyond_input;
    }
    if (steps && outcome.misfit && !std::exchange(job.has_misfit, true)) {
        result<row_outcome> over = co_await start_over(job, std::move(outcome));
        co_return over;
    }
    if (steps && outcome.what == row_outcome::kind::failed) {
        ports::step_record failed;
        failed.kind = ports::step_kind::failed;
        failed.body = outcome.message;
        const bool out_of_time = until.passed(of_.tools.loop().now());
        if (out_of_time || outcome.of_value) failed.name = host::without_failed_step;
        of_.journal->note(job.number, std::move(failed));
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
    row_job& job, std::unique_ptr<row_session> with, std::shared_ptr<row_log> log,
    coro::deadline until) {
    if (of_.workers) {
        with.reset();
        result<row_outcome> there = co_await of_.workers->attempt(job.row, std::move(log), until,
                                                                  context().with_cancel(rows_));
        if (!there && rows_.requested()) co_return cancelled_row();
        co_return there;
    }
    host::run_options bounds = of_.tools.bounds();
    bounds.cancel = &rows_;
    bounds.until = until;
    bounds.steps = log.get();
    row_outcome outcome = co_await attempt_row(with.get(), &of_.binding, &job.row, bounds);
    with.reset();
    if (log && log->is_parked() && outcome.what == row_outcome::kind::failed)
        outcome.what = row_outcome::kind::waiting;
    co_return outcome;
}

} // namespace heddle::cli
