// Default parameters of the requests of a service, from heddle.toml.
#pragma once

#include <heddle/ports/forwarding_llm_port.hpp>
#include <heddle/tasks/definition/request_parameters.hpp>

namespace heddle::setup {

/// A provider whose requests get the settings of `[providers.NAME.request]` that they do not set
/// themselves. Threads: its shard's only.
class default_parameters final : public ports::forwarding_llm_port {
public:
    /// `inner` outlives it.
    default_parameters(ports::llm_port& inner, tasks::request_parameters parameters);

    [[nodiscard]] coro::task<result<ports::chat_response>> complete(
        const ports::chat_request& request, coro::call_context context) override;
    [[nodiscard]] coro::task<result<ports::chat_response>> stream(
        const ports::chat_request& request, ports::chat_delta_sink on_delta,
        coro::call_context context) override;

private:
    tasks::request_parameters parameters_;
};

} // namespace heddle::setup
