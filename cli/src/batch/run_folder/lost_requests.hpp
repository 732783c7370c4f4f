// Requests that were under way when an earlier process of a run ended.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/run_journal.hpp>
#include <heddle/store/run_store.hpp>

#include <cstdint>
#include <vector>

namespace heddle::cli {

struct lost_request_record {
    std::uint64_t row = 0;
    ports::step_record record; ///< of the kind `lost`; the journal does not have it
};

/// Finds them in the rows that have begun and do not go on yet. No process is at work on the run.
/// What each has cost is estimated by host::count_lost(). Errors: of the journal.
[[nodiscard]] coro::task<result<std::vector<lost_request_record>>> find_lost_requests(
    store::run_store& journal, const store::row_sample& sample, coro::call_context context);

/// Notes them in the journal, whose totals count them from then on. Errors: of the journal.
[[nodiscard]] coro::task<result<void>> note_lost_requests(store::run_store& journal,
                                                          const store::row_sample& sample,
                                                          coro::call_context context);

} // namespace heddle::cli
