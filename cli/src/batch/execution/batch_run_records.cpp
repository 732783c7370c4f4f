// How a batch reads what earlier executions of a row have left.
#include "batch/execution/batch_run.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/host/row_history.hpp>
#include <heddle/setup/journal/row_failures.hpp>

#include <utility>

namespace heddle::cli {

coro::task<result<std::vector<ports::step_record>>> batch_run::revise(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
    row_job& job, lang::heap& memory) {
    // Read before, since the journal writes later than it is asked to.
    result<std::vector<ports::step_record>> found =
        co_await of_.journal->records_of(job.number, context());
    if (!found) co_return std::move(found).error();
    const bool was_open = job.was_begun && setup::has_open_attempt(*found);
    host::row_history history =
        setup::read_earlier_version(memory, *found, job.has_ended, job.asks_anew);
    if (!job.has_run) {
        job.spent += history.spent;
        job.lost += history.lost;
    }
    for (ports::step_record& each : history.newly_lost) {
        found->push_back(each);
        note_found_lost(job, std::move(each));
    }
    std::vector<ports::step_record> left = ports::revised(*std::move(found), history.discarded);
    if (auto noted = of_.journal->revise_row(job.number, std::move(history.discarded)); !noted)
        co_return std::move(noted).error();
    job.was_begun = false;
    if (was_open) { // that attempt does not go on
        ++job.before.attempts;
        of_.journal->note_work(job.number, job.before);
    }
    co_return left;
}

void batch_run::note_found_lost(row_job& job, ports::step_record record) {
    host::count_lost(record, longest_output_);
    job.spent += record.spent;
    ++job.lost;
    gate_.add_earlier(record.spent);
    of_.journal->note(job.number, std::move(record));
}

coro::task<result<std::vector<ports::step_record>>> batch_run::read_records(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
    row_job& job, lang::heap& memory) {
    const bool is_first = !job.has_run;
    if (!is_first) { // what was noted is to be read
        result<void> kept = co_await of_.journal->flush(context());
        if (!kept) co_return std::move(kept).error();
    }
    result<std::vector<ports::step_record>> found =
        co_await of_.journal->records_of(job.number, context());
    if (!found) co_return std::move(found).error();
    if (job.has_ended && is_first) setup::end_attempt(*found);
    host::row_history history = host::read_history(
        *std::move(found),
        [&memory](const ports::step_record& step) { return setup::failure_of_step(memory, step); });
    if (is_first) {
        job.spent += history.spent;
        job.lost += history.lost;
    }
    for (ports::step_record& each : history.newly_lost) note_found_lost(job, std::move(each));
    co_return std::move(history.replayed);
}

coro::task<result<row_outcome>> batch_run::start_over(row_job& job, row_outcome misfit) {
    if (!std::exchange(has_reported_misfit_, true)) {
        of_.say("row " + utf8::printable_line(job.row.id) + " starts over (" + misfit.message +
                "); unchanged requests use their earlier responses");
    }
    result<void> kept = co_await of_.journal->flush(context());
    if (!kept) co_return std::move(kept).error();
    job.is_revised = true;
    --job.attempts;
    result<row_outcome> over = co_await attempt(job);
    if (over) over->spent += misfit.spent;
    co_return over;
}

} // namespace heddle::cli
