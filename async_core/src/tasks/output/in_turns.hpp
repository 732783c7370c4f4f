// Computations of tasks that may take long.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/host_job.hpp>

#include <cstddef>

namespace heddle::tasks {

/// For checks: the library that holds values against schemas calls itself for what is inside, and
/// is stopped at 2 MiB.
inline constexpr std::size_t checking_stack = 4 * 1024 * 1024;
/// For definitions: it reads schemas in the same way, up to a thousand in and behind each other.
inline constexpr std::size_t reading_stack = 16 * 1024 * 1024;

/// Runs `work` in turns with the loop of `context`. For what lang::done_in_a_turn could not do.
/// Errors: cancelled, also when the deadline has passed; then `work` was stopped.
[[nodiscard]] coro::task<result<void>> run_in_turns(host::session& session, lang::metered_work work,
                                                    coro::call_context context,
                                                    std::size_t stack_bytes = checking_stack);

} // namespace heddle::tasks
