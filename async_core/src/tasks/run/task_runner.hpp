// Runs tasks on models.
#pragma once

#include "tasks/call/call_settings.hpp"
#include "tasks/call/cost_history.hpp"
#include "tasks/call/spending.hpp"
#include "tasks/run/conversation.hpp"
#include "tasks/run/result_builder.hpp"
#include "tasks/run/subtask_request.hpp"
#include "tasks/run/task_chain.hpp"

#include <heddle/host/session.hpp>
#include <heddle/tasks/definition/task_registry.hpp>
#include <heddle/tasks/run/task_system_parts.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace heddle::tasks {

class task_execution;

/// How a subtask ended: its result, or why there is none that counts.
struct subtask_outcome {
    lang::value result; ///< its TaskResult, also a FAILED one; nil when it was not run
    bool failed = false;
    std::string message; ///< of the failure
    lang::value failure; ///< subtaskError: type, reason, message …
    std::int64_t depth = 1;
};

/// A stream of an answer that its receiver may hold back.
class held_stream {
public:
    /// From now on nothing holds it back.
    virtual void let_go() noexcept = 0;

protected:
    ~held_stream() = default;
};

/// What the executions of a session share.
class task_runner {
public:
    task_runner(host::session& owner, const task_system_parts& parts, const task_registry& tasks,
                const tool_registry& tools)
        : owner_(owner), parts_(parts), tasks_(tasks), tools_(tools), results_(owner.memory()),
          said_(std::make_shared<conversation>(owner.realm())),
          spent_({parts.budget_usd, parts.max_calls}) {}

    /// One execution: model, prompt, requests until the answer has its form, result.
    [[nodiscard]] coro::task<result<lang::value>> run(task_call call);
    /// A call of a tool by the workflow: as call_tool, and a CONTINUATION is run.
    [[nodiscard]] coro::task<result<lang::value>> run_tool(
        std::shared_ptr<const registered_tool> one, host::effect_call call);
    /// Runs a subtask for a task, tool or model (docs/spec/runtime.md §5). A failure of the subtask
    /// is an outcome; errors: cancelled, the end of a scope, what a sandbox refuses.
    [[nodiscard]] coro::task<result<subtask_outcome>> run_subtask(lang::value asked,
                                                                  const task_chain* chain,
                                                                  lang::scope_ref scope,
                                                                  source_span span,
                                                                  coro::call_context context);
    /// TaskFailure of a subtask, as notes.error.details has it. `partial`: what there was, or nil.
    [[nodiscard]] lang::value subtask_details(const lang::value& asked,
                                              const subtask_outcome& outcome, lang::value partial);

    [[nodiscard]] host::session& owner() noexcept { return owner_; }
    [[nodiscard]] const task_system_parts& parts() const noexcept { return parts_; }
    [[nodiscard]] const task_registry& tasks() const noexcept { return tasks_; }
    [[nodiscard]] const tool_registry& tools() const noexcept { return tools_; }
    /// What the branch of a call has said, in the innermost conversation that was opened around it
    /// (in none: what was recorded outside of all); null: the call has no part in it.
    [[nodiscard]] std::shared_ptr<conversation> conversation_of(const task_call& call,
                                                                const call_settings& settings);
    [[nodiscard]] result_builder& results() noexcept { return results_; }
    /// The budget of the whole session; null: it has none.
    [[nodiscard]] spending_ledger* session_budget() noexcept {
        return parts_.budget_usd || parts_.max_calls ? &spent_ : nullptr;
    }
    [[nodiscard]] cost_history& costs() noexcept { return costs_; }
    /// Calls of one session share limits fairly with those of others.
    [[nodiscard]] std::uint64_t flow() const noexcept {
        return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&owner_));
    }
    /// A stream that waits for its function, under a number that the calls of the function carry.
    /// When one of them asks a model, the stream is let go on: it may hold the place in flight, or
    /// lead the equal call, that the other one waits for.
    [[nodiscard]] std::int64_t add_stream(held_stream& stream);
    void remove_stream(std::int64_t number) noexcept { streams_.erase(number); }
    void let_stream_go(const lang::scope_ref& scope) noexcept;
    [[nodiscard]] std::uint64_t next_execution() noexcept { return ++executions_; }

    /// Logs a warning, the same text once in the life of the session.
    void warn_once(const std::string& message);

private:
    /// Everything that waits before the first request. A value or error ends the execution.
    [[nodiscard]] coro::task<std::optional<result<lang::value>>> prepare(task_execution& execution);
    /// The calls inside the prompt, side by side. Errors: of the workflow.
    [[nodiscard]] coro::task<result<void>> run_prompt_calls(task_execution& execution);
    /// One request whose text goes to a function of the workflow, or to the host, as it arrives.
    [[nodiscard]] coro::task<result<ports::chat_response>> stream_answer(task_execution& execution);
    /// An answer whose check takes long. As task_execution::accept.
    [[nodiscard]] coro::task<std::optional<result<lang::value>>> check_answer(
        task_execution& execution);
    [[nodiscard]] coro::task<result<lang::value>> run_elsewhere(task_execution& execution);
    /// The tools that the model called in one turn, side by side. Errors: of the workflow.
    [[nodiscard]] coro::task<result<void>> run_tools(task_execution& execution);
    [[nodiscard]] coro::task<result<void>> run_offered(task_execution& execution, std::size_t index,
                                                       coro::call_context context);
    /// Value or error of what a model called. Errors: the tool's and the workflow's.
    [[nodiscard]] coro::task<result<lang::value>> call_offered(task_execution& execution,
                                                               std::size_t index,
                                                               coro::call_context context);
    [[nodiscard]] result<task_call> bind_subtask(const lang::value& asked, const task_chain* chain,
                                                 lang::scope_ref scope, source_span span,
                                                 coro::call_context context);
    [[nodiscard]] result<void> add_overrides(lang::effect_request& request,
                                             const compiled_task& task,
                                             const subtask_request& wanted);
    /// `continued`: the CONTINUATION.
    [[nodiscard]] coro::task<result<lang::value>> continue_with(task_execution& execution,
                                                                lang::value continued);

    host::session& owner_;
    const task_system_parts& parts_;
    const task_registry& tasks_;
    const tool_registry& tools_;
    result_builder results_;
    std::shared_ptr<conversation> said_; ///< outside of all that were opened, and of branches
    spending_ledger spent_;
    cost_history costs_;
    std::set<std::string, std::less<>> warned_;
    std::map<std::int64_t, held_stream*> streams_;
    std::int64_t last_stream_ = 0;
    std::uint64_t executions_ = 0;
};

} // namespace heddle::tasks
