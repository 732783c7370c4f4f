// Why rows of a run have failed, over all of its processes.
#pragma once

#include "batch/progress/failure_table.hpp"

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/store/run_store.hpp>

#include <string>
#include <utility>

namespace heddle::cli {

/// Reason and message of an error as the journal has it: "TaskError llm_error".
[[nodiscard]] std::pair<std::string, std::string> reason_of(const std::string& error_json);

enum class failed_rows : std::uint8_t {
    all,
    current ///< those that have ended under the program as it is now
};

/// Rows that failed or were rejected, of each at most 20,000. `journal` outlives the call. Errors:
/// of the journal.
[[nodiscard]] coro::task<result<failure_table>> failures_of_run(store::run_store* journal,
                                                                failed_rows which,
                                                                coro::call_context context);

} // namespace heddle::cli
