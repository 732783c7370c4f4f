// Where the paths of a context come from.
#pragma once

#include "tasks/context/context_parts.hpp"

#include <heddle/tasks/context/context_builder.hpp>
#include <heddle/tasks/definition/effective_context.hpp>

#include <string>
#include <vector>

namespace heddle::tasks {

/// Paths with their source, best first.
struct sourced_paths {
    std::vector<std::string> paths;
    context_source source = context_source::none;
    std::vector<std::string> warnings;
};

/// The description of the task, filled, and the inputs that take part in matching. A description
/// that nobody wrote is replaced by the instructions. Errors: input_validation_failure for a
/// placeholder that is not an input.
[[nodiscard]] result<context_question> question_of(const task_call& call);

/// Paths of the call, of the template or of a look-up: the first of them that applies.
/// `call` and `question` outlive the coroutine. Errors and cancellation: see context_builder.
[[nodiscard]] coro::task<result<sourced_paths>> find_paths(context_sources parts,
                                                           context_options options,
                                                           const context_request& request,
                                                           const context_question& question,
                                                           effective_context settings);

/// Keeps at most so many, with a warning.
void limit_files(std::vector<std::string>& names, std::vector<std::string>& warnings,
                 std::size_t most);

/// The name of each file as the file port has it, whether a path is relative or begins with one of
/// options.roots; each file once, in order. `files` outlives the coroutine. Errors: cancelled.
[[nodiscard]] coro::task<result<std::vector<std::string>>> names_of_files(
    ports::file_port& files, context_options options, std::vector<std::string> paths,
    coro::call_context context);

/// The files of `(with ((files …)) …)` around a call, unchecked; nil when there is none.
[[nodiscard]] lang::value files_around(const lang::dynamic_scope& scope) noexcept;

} // namespace heddle::tasks
