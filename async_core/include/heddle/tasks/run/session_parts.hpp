// What belongs to one session alone.
#pragma once

#include <heddle/tasks/run/task_system_parts.hpp>

#include <cstdint>
#include <optional>

namespace heddle::tasks {

/// What a session has in place of the members of these names in task_system_parts, which it shares
/// with others. All of it outlives the session.
struct session_parts {
    session_parts() = default;
    /// Those of the sessions that have none of their own.
    explicit session_parts(const task_system_parts& shared)
        : observer(shared.observer), deltas(shared.deltas), budget_usd(shared.budget_usd),
          max_calls(shared.max_calls) {}

    task_observer* observer = nullptr; ///< null: none
    delta_receiver* deltas = nullptr;  ///< null: none
    std::optional<double> budget_usd;
    std::optional<std::uint64_t> max_calls;
};

} // namespace heddle::tasks
