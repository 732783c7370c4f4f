// Notifications of task calls, for progress.
#pragma once

#include <heddle/ports/llm_port.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace heddle::tasks {

enum class task_outcome : std::uint8_t { complete, failed, cancelled };

/// A call that is about to send its first request.
struct task_started {
    std::string_view task;
    std::string_view provider;
    std::string_view model;
};

/// A piece of the text of a response. `call` identifies the call.
struct task_delta {
    std::string_view task;
    std::uint64_t call = 0;
    std::string_view text;
};

/// A call that has ended. Each started call ends exactly once.
struct task_finished {
    std::string_view task;
    std::string_view provider;
    std::string_view model;
    task_outcome outcome = task_outcome::complete;
    std::string_view reason;  ///< of a failure ("llm_error"), else empty
    ports::token_usage usage; ///< over all requests of the call
    /// US dollars over all requests; empty if the price of one of them is unknown.
    std::optional<double> cost_usd{};
    bool estimated = false;     ///< part of the usage was not reported by the service
    bool service_down = false;  ///< the service could not be reached, was overloaded or broken
    std::uint32_t requests = 0; ///< sent, including repeated requests and retries of the provider
    std::chrono::nanoseconds latency{0};
    std::uint32_t earlier_turns = 0; ///< turns of the conversation in its prompt
    bool of_cache = false;           ///< nothing was sent: each response was in the cache
};

/// Observes every task call of a session, on the session's thread. The views are valid during the
/// call only. Must be quick and must not call back into the session.
class task_observer {
public:
    virtual ~task_observer() = default;
    virtual void on_task_started(const task_started& event) noexcept = 0;
    virtual void on_task_finished(const task_finished& event) noexcept = 0;
    /// Called when a started call begins (`waits`) or stops waiting for what calls in flight hold
    /// of a budget, or of a limit of the task that started them.
    virtual void on_budget_wait(bool /*waits*/) noexcept {}
    /// The same for a limit of the service or account, which the limiter keeps.
    virtual void on_limit_wait(bool /*waits*/) noexcept {}
    /// What the session works on, for those who show its requests: "row a1". Valid until the
    /// session works on something else. Empty: not known.
    [[nodiscard]] virtual std::string_view work() const noexcept { return {}; }
};

} // namespace heddle::tasks
