#include "batch/command/round_end.hpp"

#include "batch/progress/run_failures.hpp"
#include "batch/request/run_manifest.hpp"
#include "failure_hints.hpp"

#include <heddle/tasks/output/task_failure_reason.hpp>

#include <chrono>
#include <utility>

namespace heddle::cli {

void note_end(const ended_round& of, std::optional<error> failure, batch_round& rounds,
              batch_summary& to) {
    const batch_run& batch = of.batch;
    rounds.until = batch.gate().bounds().until; // 'heddle runs set' may have moved it
    rounds.rows_failed = batch.gate().rows_failed();
    rounds.is_paused = batch.gate().paused();
    rounds.has_started = rounds.has_started || batch.has_started();
    const program_edition& edition = of.files.edition();
    rounds.is_edited = rounds.is_edited || edition.outdates || edition.only_retried;

    to.counts = rounds.add(batch.counts());
    to.cause = batch.gate().cause();
    // The last results are written when all rows have ended.
    if (of.emitter.failure() && to.cause == stop_cause::none) to.cause = stop_cause::output;
    if (batch.ends_early() && to.cause == stop_cause::none) to.cause = stop_cause::input;
    // Also results that are not written: the next process does that.
    to.rows_left = batch.has_rows_left() || of.emitter.failure();
    to.waiting = batch.rows_waiting();
    to.edited = rounds.is_edited;
    to.mixed = of.files.journal() && of.files.manifest().is_mixed;
    to.has_started = rounds.has_started;
    if (rounds.began) {
        to.seconds = std::chrono::duration<double>(of.tools.loop().now() - *rounds.began).count();
    }
    if (failure) to.failure = std::move(failure);
    if (const auto& why = batch.settings_failure()) {
        to.failure = with_model_hint(
            tasks::task_failed(tasks::task_failure_reason::configuration_error, *why),
            of.tools.has_services());
    }
    if (const auto& why = batch.columns_failure()) to.failure = *why;
    to.results = of.files.outputs().result_file();
    to.lacks_earlier_results = of.files.outputs().lacks_earlier_results();
    to.dead_letters = of.files.outputs().letter_file();
}

void note_early_end(const std::string& folder, early_stop cause) {
    result<run_manifest> about = read_manifest(folder);
    if (!about || about->end) return;
    about->end = end_of(cause);
    (void)write_manifest_end(folder, *about); // the command has something worse to report
}

coro::task<failure_table> failures_to_report(ended_round of, batch_counts counts,
                                             coro::call_context context) {
    const std::uint64_t failed = counts.failed + counts.rejected;
    store::run_store* const journal = of.files.journal();
    if (!journal || of.batch.failures().count() == failed) co_return of.batch.failures();
    result<failure_table> all = co_await failures_of_run(journal, failed_rows::current, context);
    // It also has rows that were to be retried, and have not been.
    const bool fits = all && all->count() <= failed && all->count() > of.batch.failures().count();
    if (!fits) co_return of.batch.failures();
    co_return *std::move(all);
}

} // namespace heddle::cli
