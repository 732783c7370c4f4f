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
#include <heddle/tasks/run/session_parts.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace heddle::tasks {

/// Runs the tasks of a session, and holds what their executions share. Threads: the session's only.
class task_runner {
public:
    /// All of it outlives the runner.
    struct environment {
        host::session& session;
        const task_system_parts& parts;
        session_parts own; ///< in place of those of `parts`
        const task_registry& tasks;
        const tool_registry& tools;
    };
    /// `base`: of the session that this one begins with, whose warnings it does not repeat and
    /// whose prototypes of results it uses; may be null.
    task_runner(const environment& of, const task_runner* base)
        : of_(of), family_(base ? base->family_ : std::make_shared<family>()),
          number_(++family_->sessions) {
        const spending_bounds bounds{of.own.budget_usd, of.own.max_calls};
        if (bounds.usd || bounds.calls) spent_.emplace(bounds);
    }

    /// One execution (task_execution.hpp).
    [[nodiscard]] coro::task<result<lang::value>> run(task_call&& call);

    [[nodiscard]] host::session& session() noexcept { return of_.session; }
    [[nodiscard]] const task_system_parts& parts() const noexcept { return of_.parts; }
    /// Null: none.
    [[nodiscard]] task_observer* observer() const noexcept { return of_.own.observer; }
    [[nodiscard]] delta_receiver* deltas() const noexcept { return of_.own.deltas; }
    [[nodiscard]] const task_registry& tasks() const noexcept { return of_.tasks; }
    [[nodiscard]] const tool_registry& tools() const noexcept { return of_.tools; }
    /// The turns of the branch of a call, in the innermost conversation that was opened around it
    /// (in none: what was recorded outside of all); null: the call has no part in it.
    [[nodiscard]] std::shared_ptr<conversation> conversation_of(const task_call& call,
                                                                const call_settings& settings);
    [[nodiscard]] result_builder& results() {
        if (!results_) make_results();
        return *results_;
    }
    /// Makes what sessions that begin with this one need of its heap, while values can be made
    /// there.
    void prepare_to_share();
    /// The budget of the whole session; null: it has none.
    [[nodiscard]] spending_ledger* session_budget() noexcept { return spent_ ? &*spent_ : nullptr; }
    [[nodiscard]] cost_history& costs() noexcept { return costs_; }
    /// Calls of one session share limits fairly with those of others. Not its address, where the
    /// next session is likely to be: that would wait for what this one had.
    [[nodiscard]] std::uint64_t flow() const noexcept {
        constexpr unsigned bits_of_family = 20; // families differ there
        const auto family = reinterpret_cast<std::uintptr_t>(family_.get());
        return static_cast<std::uint64_t>(family) + (number_ << bits_of_family);
    }
    [[nodiscard]] held_streams& streams() noexcept { return streams_; }
    /// The number of a further execution.
    [[nodiscard]] std::uint64_t next_execution() noexcept { return ++executions_; }

    /// Logs a warning, the same text once in the life of the session, and of those that share an
    /// image with it.
    void warn_once(const std::string& message);

private:
    /// What a session has in common with those that begin with it.
    struct family {
        std::set<std::string, std::less<>> warned;
        std::shared_ptr<const result_prototypes> prototypes; ///< null: each has its own
        std::uint64_t sessions = 0;
    };
    void make_results();

    environment of_;
    // Both are made when they are asked for: many sessions call no task.
    std::optional<result_builder> results_;
    std::shared_ptr<conversation> said_;   ///< outside of all that were opened, and of branches
    std::optional<spending_ledger> spent_; ///< absent: the session has no budget
    cost_history costs_;
    std::shared_ptr<family> family_;
    std::uint64_t number_; ///< in its family
    held_streams streams_;
    std::uint64_t executions_ = 0;
};

} // namespace heddle::tasks
