// What the executions of a session share.
#pragma once

#include "tasks/call/call_settings.hpp"
#include "tasks/call/cost_history.hpp"
#include "tasks/call/spending.hpp"
#include "tasks/run/conversation.hpp"
#include "tasks/run/held_streams.hpp"
#include "tasks/run/result_builder.hpp"

#include <heddle/host/session.hpp>
#include <heddle/tasks/definition/task_registry.hpp>
#include <heddle/tasks/run/task_system_parts.hpp>

#include <cstdint>
#include <set>
#include <string>

namespace heddle::tasks {

/// Runs the tasks of a session, and holds what their executions share. Threads: the session's only.
class task_runner {
public:
    task_runner(host::session& owner, const task_system_parts& parts, const task_registry& tasks,
                const tool_registry& tools)
        : owner_(owner), parts_(parts), tasks_(tasks), tools_(tools), results_(owner.memory()),
          said_(std::make_shared<conversation>(owner.realm())),
          spent_({parts.budget_usd, parts.max_calls}) {}

    /// One execution (task_execution.hpp).
    [[nodiscard]] coro::task<result<lang::value>> run(task_call call);

    [[nodiscard]] host::session& owner() noexcept { return owner_; }
    [[nodiscard]] const task_system_parts& parts() const noexcept { return parts_; }
    [[nodiscard]] const task_registry& tasks() const noexcept { return tasks_; }
    [[nodiscard]] const tool_registry& tools() const noexcept { return tools_; }
    /// The turns of the branch of a call, in the innermost conversation that was opened around it
    /// (in none: what was recorded outside of all); null: the call has no part in it.
    [[nodiscard]] std::shared_ptr<conversation> conversation_of(const task_call& call,
                                                                const call_settings& settings);
    /// Begins the conversation outside of all others anew.
    void forget_conversation() { said_ = std::make_shared<conversation>(owner_.realm()); }
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
    [[nodiscard]] held_streams& streams() noexcept { return streams_; }
    /// The number of a further execution.
    [[nodiscard]] std::uint64_t next_execution() noexcept { return ++executions_; }

    /// Logs a warning, the same text once in the life of the session.
    void warn_once(const std::string& message);

private:
    host::session& owner_;
    const task_system_parts& parts_;
    const task_registry& tasks_;
    const tool_registry& tools_;
    result_builder results_;
    std::shared_ptr<conversation> said_; ///< outside of all that were opened, and of branches
    spending_ledger spent_;
    cost_history costs_;
    std::set<std::string, std::less<>> warned_;
    held_streams streams_;
    std::uint64_t executions_ = 0;
};

} // namespace heddle::tasks
