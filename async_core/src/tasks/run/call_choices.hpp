// What a call, `with` around it and the template choose for one execution.
#pragma once

#include "tasks/call/call_settings.hpp"
#include "tasks/run/task_session.hpp"

#include <heddle/tasks/call/task_call.hpp>
#include <heddle/tasks/run/task_system_parts.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::tasks {

/// Settings of the call go before `with`, and those before the template.
class call_choices {
public:
    /// `call` and `parts` outlive it.
    call_choices(const task_call& call, const task_system_parts& parts);

    /// What executes the task in place of a model, or null.
    [[nodiscard]] task_executor* executor() const noexcept { return executor_; }
    [[nodiscard]] const call_settings& settings() const noexcept { return settings_; }

    /// Errors: configuration_error.
    [[nodiscard]] result<void> choose_model();
    /// Null before choose_model(), and for a task with an executor.
    [[nodiscard]] ports::llm_port* provider() const noexcept { return chosen_.provider; }
    [[nodiscard]] const std::string& model() const noexcept { return chosen_.model; }
    /// Of the provider; without one the subtype, which names the executor.
    [[nodiscard]] std::string_view provider_name() const noexcept;
    /// What decides about responses besides the provider's name and the request.
    [[nodiscard]] std::string_view provider_settings() const noexcept { return chosen_.settings; }
    /// Tokens of the model's window, where that is known.
    [[nodiscard]] std::optional<std::int64_t> window() const noexcept;
    /// Views into this object.
    [[nodiscard]] model_price price() const noexcept;

    /// Everything of a request but its messages, its tools and its flow.
    void set_parameters(ports::chat_request& request) const;
    [[nodiscard]] std::optional<std::chrono::nanoseconds> timeout() const noexcept;
    /// Further requests after a response of the wrong form.
    [[nodiscard]] std::uint32_t retries() const noexcept;
    [[nodiscard]] resource_limits limits() const;
    [[nodiscard]] history_config history() const;

private:
    const task_call& call_;
    const task_system_parts& parts_;
    call_settings settings_;
    task_executor* executor_ = nullptr;
    model_choice chosen_;
};

} // namespace heddle::tasks
