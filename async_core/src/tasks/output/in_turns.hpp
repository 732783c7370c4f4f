// Computations of tasks that may take long.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/host_job.hpp>

namespace heddle::tasks {

/// Runs `work` in turns with the loop of `context`. For what lang::done_in_a_turn could not do.
/// Errors: cancelled, also when the deadline has passed; then `work` was stopped.
[[nodiscard]] coro::task<result<void>> run_in_turns(host::session& owner, lang::metered_work work,
                                                    coro::call_context context);

} // namespace heddle::tasks
