// Builds the context of a task from files, the memory and its caller.
#pragma once

#include <heddle/ports/file_port.hpp>
#include <heddle/ports/memory_port.hpp>
#include <heddle/ports/process_port.hpp>
#include <heddle/tasks/context/context_options.hpp>
#include <heddle/tasks/context/context_preparer.hpp>

namespace heddle::tasks {

/// The sources of contexts. A task that needs a null part gets a warning. All of them outlive the
/// builder.
struct context_sources {
    ports::file_port* files = nullptr;
    ports::memory_port* memory = nullptr;
    ports::process_port* processes = nullptr;
    std::string_view processes_hint; ///< how to allow commands, for the warning; may be empty
};

/// Builds the context of a call (docs/spec/runtime.md §2, docs/reference/context.md).
///
/// Files: those of the call; else those of the template (literal, printed by a command, found by a
/// description or query); else, with fresh context, those that the memory finds. They are followed
/// by the context of the caller, whole or its matching parts; for a call of a workflow, that is
/// what the enclosing `(with ((files …)) …)` names. A file that is missing or refused, a command
/// that fails and a part that is not configured cause warnings.
/// Errors: input_validation_failure for settings that exclude each other and for a query whose
/// placeholders cannot be filled; context_retrieval_failure if the memory fails.
/// Threads: its shard's only.
class context_builder final : public context_preparer {
public:
    explicit context_builder(context_sources parts, context_options options = {})
        : parts_(parts), options_(options) {}

    [[nodiscard]] bool concerns(const task_call& call, bool has_inherited) const noexcept override;
    [[nodiscard]] coro::task<result<std::shared_ptr<const assembled_context>>> prepare(
        context_request request) override;

private:
    context_sources parts_;
    context_options options_;
};

} // namespace heddle::tasks
