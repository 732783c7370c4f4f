// A service whose requests cannot wait for a batch.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/ports/forwarding_llm_port.hpp>

#include <string>

namespace heddle::setup {

/// Sends all requests at once, and warns of the first one that its task wants to be parked.
/// Threads: the loop's of the service.
class unparked_port final : public ports::forwarding_llm_port {
public:
    /// `why`: requests are not parked. `has_warned` is shared by the services of a run. All of it
    /// outlives the port.
    unparked_port(ports::llm_port& inner, log_port& log, std::string why, bool& has_warned);

    [[nodiscard]] coro::task<result<ports::chat_response>> complete(
        const ports::chat_request& request, coro::call_context context) override;
    [[nodiscard]] coro::task<result<ports::chat_response>> stream(
        const ports::chat_request& request, ports::chat_delta_sink on_delta,
        coro::call_context context) override;

private:
    void look_at(const ports::chat_request& request);

    log_port& log_;
    std::string why_;
    bool& has_warned_;
};

} // namespace heddle::setup
