// How a program ended, as a TaskResult.
#pragma once

#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/lang/value.hpp>
#include <heddle/ports/process_port.hpp>

#include <string>
#include <string_view>

namespace heddle::tasks {

/// "exited with code 3", "was ended by signal 9 (Killed)", "took longer than 2 s".
[[nodiscard]] std::string describe_end(const ports::process_result& ended,
                                       std::chrono::milliseconds timeout);

/// notes of a program that ran: success, exit_code, stdout, stderr, elapsed_ms; signal, timed_out
/// and warnings (of output that was left out) where they say something. Empties the texts of
/// `ended`, which are short.
[[nodiscard]] lang::value process_notes(lang::heap& memory, ports::process_result& ended);

/// The same for texts of any length, in turns. `memory` outlives the task; `who` is named in
/// errors. Errors: errc::limit for output that does not fit; cancelled.
[[nodiscard]] coro::task<result<lang::value>> process_notes_in_turns(lang::heap& memory,
                                                                     ports::process_result ended,
                                                                     coro::call_context context,
                                                                     std::string who);

/// {status, content, notes}; FAILED with notes.error when `reason` is not empty.
[[nodiscard]] lang::value tool_result(lang::heap& memory, lang::value content, lang::value notes,
                                      std::string_view reason, std::string_view message);

/// The notes.error of docs/spec/runtime.md §6.
[[nodiscard]] lang::value failure_note(lang::heap& memory, std::string_view reason,
                                       std::string_view message);

/// PermissionError of a host without a process port; `hint` describes how to allow it.
[[nodiscard]] error no_programs(std::string_view who, const std::string& hint);

} // namespace heddle::tasks
