// How a batch reads what earlier executions of a row have left.
#include "batch/batch_run.hpp"

#include "batch/row_failures.hpp"

#include <heddle/host/row_history.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace heddle::cli {

namespace {

using ports::step_kind;
using ports::step_record;

/// What follows the last attempt of a row that has failed.
void end_attempt(std::vector<step_record>& records) {
    if (records.empty() || records.back().kind != step_kind::failed)
        records.emplace_back().kind = step_kind::failed;
}

/// Drops the spares that a retry of the row, whose history that is, would ask for anew.
void drop_what_failed(std::vector<step_record>& left, const std::vector<step_record>& records,
                      const std::vector<step_record>& replayed) {
    const auto key_of = [](const step_record& each) { return std::pair(each.path, each.content); };
    std::set<std::pair<ports::digest128, ports::digest128>> failed;
    for (const step_record& each : records) {
        if (each.kind == step_kind::request || each.kind == step_kind::reused)
            failed.insert(key_of(each));
    }
    for (const step_record& each : replayed) failed.erase(key_of(each));
    left.erase(
        std::remove_if(left.begin(), left.end(),
                       [&](const step_record& each) { return failed.count(key_of(each)) != 0; }),
        left.end());
}

} // namespace

coro::task<result<std::vector<ports::step_record>>> batch_run::revise(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
    row_job& job, lang::heap& memory) {
    // Read before, since the journal writes later than it is asked to.
    result<std::vector<ports::step_record>> found =
        co_await of_.journal->records_of(job.number, context());
    if (!found) co_return std::move(found).error();
    std::vector<ports::step_record> records = *found;
    if (job.asks_anew) end_attempt(records);
    host::row_history history = host::read_history(
        std::move(records),
        [&memory](const ports::step_record& step) { return failure_of_step(memory, step); });
    if (!job.has_run) {
        job.spent += history.spent;
        job.lost += history.lost;
    }
    for (ports::step_record& each : history.newly_lost) {
        found->push_back(each);
        note_found_lost(job, std::move(each));
    }
    std::vector<ports::step_record> left = ports::revised(*found);
    if (job.asks_anew) drop_what_failed(left, *found, history.replayed);
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
    if (job.has_ended && is_first) end_attempt(*found);
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

coro::task<result<row_outcome>> batch_run::start_over(row_job& job, row_outcome misfit) {
    if (!std::exchange(has_told_misfit_, true)) {
        of_.say("row " + job.row.id + " starts over (" + misfit.message +
                "); requests that are the same have the responses that they had");
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
