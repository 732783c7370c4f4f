#include "batch/run_folder/program_edition.hpp"

#include <algorithm>

namespace heddle::cli {

using ports::row_status;

bool program_edition::lets_wait(const ports::known_row* known, const batch_request& asked,
                                const std::string& id) const {
    if (!only_retried) return false;
    if (!known) return true;
    if (!known->outdated) return false; // finished, or begun by a retry of this program
    const auto& ids = asked.retry_ids;
    switch (known->status) {
    case row_status::done: return true;
    case row_status::begun: return std::find(ids.begin(), ids.end(), id) == ids.end();
    case row_status::failed:
    case row_status::rejected: break;
    }
    return !asked.retries(id);
}

bool program_edition::keeps_end(const known_table::match& found, const rows::row_origin& row,
                                const batch_request& asked) const {
    const ports::known_row* const known = found.known;
    if (!known || known->outdated || known->status == row_status::begun) return false;
    if (known->status == row_status::done || found.duplicate) return true;
    const bool is_mended = known->status == row_status::rejected && !only_retried &&
                           (known->content != row.content || asked.retry_rejected);
    return !is_mended && !asked.retries(row.id);
}

program_edition compare_program(const run_manifest& run, const std::string& digest, bool is_retry) {
    const bool is_of_results = run.program_digest == digest;
    program_edition found;
    found.outdates = !is_retry && (!is_of_results || run.is_mixed);
    found.only_retried = is_retry && !is_of_results;
    found.begun_differ =
        (run.begun_digest.empty() ? run.program_digest : run.begun_digest) != digest;
    found.failed_differ = found.begun_differ || !is_of_results || run.is_mixed;
    return found;
}

void note_edition(run_manifest& run, const program_edition& edition, const std::string& digest,
                  const std::vector<ports::known_row>& known) {
    if (known.empty() || edition.outdates) {
        run.program_digest = digest;
        run.is_mixed = false;
    } else if (edition.only_retried) {
        const bool any = std::any_of(known.begin(), known.end(), [](const ports::known_row& each) {
            return each.status != row_status::done;
        });
        run.is_mixed = run.is_mixed || any;
    }
    run.begun_digest = digest;
}

} // namespace heddle::cli
