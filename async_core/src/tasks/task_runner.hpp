// Runs tasks on models.
#pragma once

#include "result_builder.hpp"

#include <heddle/host/session.hpp>
#include <heddle/tasks/session_tasks.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace heddle::tasks {

class task_execution;

/// What the executions of a session share.
class task_runner {
public:
    task_runner(host::session& owner, const task_system_parts& parts)
        : owner_(owner), parts_(parts), results_(owner.memory()) {}

    /// One execution: model, prompt, requests until the answer has its form, result.
    [[nodiscard]] coro::task<result<lang::value>> run(task_call call);

    [[nodiscard]] host::session& owner() noexcept { return owner_; }
    [[nodiscard]] const task_system_parts& parts() const noexcept { return parts_; }
    [[nodiscard]] result_builder& results() noexcept { return results_; }
    /// Calls of one session share limits fairly with those of others.
    [[nodiscard]] std::uint64_t flow() const noexcept {
        return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&owner_));
    }
    /// Logs a warning, the same text once in the life of the session.
    void warn_once(const std::string& message);

private:
    /// Everything that waits before the first request. A value or error ends the execution.
    [[nodiscard]] coro::task<std::optional<result<lang::value>>> prepare(task_execution& execution);
    [[nodiscard]] coro::task<result<lang::value>> run_elsewhere(task_execution& execution);

    host::session& owner_;
    const task_system_parts& parts_;
    result_builder results_;
    std::set<std::string, std::less<>> warned_;
};

} // namespace heddle::tasks
