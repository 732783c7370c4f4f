#include "batch/plan/batch_look.hpp"

#include "batch/plan/batch_plan.hpp"
#include "batch/plan/dry_run.hpp"
#include "batch/progress/batch_summary.hpp"
#include "batch/rows/known_table.hpp"
#include "batch/run_folder/found_run.hpp"
#include "batch/run_folder/lost_requests.hpp"
#include "batch/run_folder/program_edition.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace heddle::cli {

namespace {

/// The rows of the run that is there, as the command would find them.
struct looked_run {
    found_run run; ///< without a journal if there is none
    earlier_rows earlier;
    program_edition edition;
};

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the look
coro::task<result<looked_run>> find_run(const look_parts& of, coro::call_context context) {
    looked_run looked;
    const std::string folder = of.batch.asked.run_folder();
    if (folder.empty() || !has_run(folder)) co_return looked;
    result<found_run> found = co_await read_run(&of.store_workers, &of.batch.asked, context);
    if (!found) co_return std::move(found).error();
    looked.run = *std::move(found);
    store::run_store& journal = *looked.run.journal;
    result<store::row_sample> sample = co_await journal.sample_rows(context);
    if (!sample) co_return std::move(sample).error();
    looked.earlier = earlier_rows(journal.totals(), *sample);
    if (looked.run.continues && !looked.run.known.empty()) {
        const std::string digest = of.digest(looked.run.manifest);
        looked.edition = compare_program(looked.run.manifest, digest, of.batch.asked.is_retry());
    }
    if (auto checked =
            of.outputs.check(journal.phase(), looked.edition.outdates, looked.run.manifest);
        !checked) {
        co_return std::move(checked).error();
    }
    for (ports::known_row& each : looked.run.known) {
        const bool begun = each.status == ports::row_status::begun;
        if (looked.edition.outdates || (begun && looked.edition.begun_differ)) each.outdated = true;
    }
    co_return looked;
}

} // namespace

coro::task<result<std::string>> look_at_batch(look_parts of, coro::call_context context) {
    result<looked_run> found = co_await find_run(of, context);
    if (!found) co_return std::move(found).error();
    known_table known(std::move(found->run.known), !of.batch.asked.rows.id_field.empty());
    if (of.batch.asked.plan) {
        batch_plan plan({of.batch, of.reader, known, found->run.journal.get(),
                         found->run.manifest.seed, found->edition, found->earlier});
        result<void> ended = co_await plan.run(context);
        if (!ended) co_return std::move(ended).error();
        if (of.batch.asked.options.json) co_return plan.json();
        co_return "nothing is sent or written (--plan)\n" + plan.text(of.columns) +
            absent_text(known.unseen_ends(), of.batch.asked);
    }
    dry_run looked({of.batch, of.reader, known, found->earlier, found->edition});
    result<void> ended = co_await looked.run(context);
    if (!ended) co_return std::move(ended).error();
    if (of.batch.asked.options.json) co_return looked.json();
    co_return "nothing is run or written (--dry-run)\n" + looked.text(of.columns) +
        absent_text(known.unseen_ends(), of.batch.asked);
}

} // namespace heddle::cli
