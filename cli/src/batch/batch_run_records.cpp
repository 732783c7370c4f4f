// How a batch reads what earlier executions of a row have left.
#include "batch/batch_run.hpp"

#include "batch/row_failures.hpp"

#include <heddle/host/row_history.hpp>

#include <utility>

namespace heddle::cli {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the coroutine
coro::task<result<std::vector<ports::step_record>>> batch_run::revise(row_job& job) {
    // Read before, since the journal writes later than it is asked to.
    result<std::vector<ports::step_record>> found =
        co_await of_.journal->records_of(job.number, context());
    if (!found) co_return std::move(found).error();
    host::row_history history =
        host::read_history(*found, [](const ports::step_record&) { return std::nullopt; });
    job.spent += history.spent;
    job.lost += history.lost;
    for (ports::step_record& each : history.newly_lost) {
        found->push_back(each);
        note_found_lost(job, std::move(each));
    }
    std::vector<ports::step_record> left = ports::revised(*std::move(found));
    if (auto noted = of_.journal->revise_row(job.number); !noted)
        co_return std::move(noted).error();
    co_return left;
}

void batch_run::note_found_lost(row_job& job, ports::step_record record) {
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
    if (job.has_ended && is_first &&
        (found->empty() || found->back().kind != ports::step_kind::failed)) {
        found->emplace_back().kind = ports::step_kind::failed;
    }
    host::row_history history = host::read_history(
        *std::move(found),
        [&memory](const ports::step_record& step) { return failure_of_step(memory, step); });
    if (is_first) {
        job.spent += history.spent;
        job.lost += history.lost;
    }
    for (ports::step_record& each : history.newly_lost) note_found_lost(job, std::move(each));
    co_return std::move(history.replayed);
}

} // namespace heddle::cli
