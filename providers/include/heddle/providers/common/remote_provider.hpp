// A model service whose provider belongs to the loop of another thread.
#pragma once

#include <heddle/coro/loop_address.hpp>
#include <heddle/ports/llm_port.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::providers {

/// Forwards each call to a provider on its home loop, so that several loops share its connections,
/// limits and cache. Calls begin and end on the loop of the caller.
///
/// What is called on the loop of the caller: the receiver of pieces, the gate of a stream, the
/// listener of waits, and the send gate. The request and the response are moved between the
/// threads as plain data; the errors of a receiver and of a send gate, which may hold values of the
/// language, stay on the thread of the caller. The context has no step there: what a durable run
/// remembers is remembered by the caller's side.
///
/// Threads: any loop, several at a time, each through its own calls. `service` must not be used by
/// another thread than that of `home` once calls have begun.
class remote_provider final : public ports::llm_port {
public:
    /// Of the text of a stream, the bytes that may be on the way to a busy caller before the home
    /// loop stops reading (flow_gate).
    static constexpr std::size_t max_pending_bytes = std::size_t{64} * 1024;

    /// Reads what `service` is, on the thread of `home` or before it runs. `service` outlives this,
    /// and its loop ends or outlives the calls.
    remote_provider(coro::loop_address home, ports::llm_port& service);

    [[nodiscard]] std::string_view provider_name() const noexcept override { return name_; }
    [[nodiscard]] bool keeps_responses() const noexcept override { return keeps_responses_; }
    [[nodiscard]] unsigned max_requests_at_once() const noexcept override { return max_at_once_; }

    /// Errors: as those of the service; cancelled with reason `shutdown` if its loop is destroyed.
    /// Cancellation: as that of the service, whose end is awaited.
    [[nodiscard]] coro::task<result<ports::chat_response>> complete(
        const ports::chat_request& request, coro::call_context context) override;
    /// As complete. A response whose last pieces the caller does not take before it is cancelled is
    /// part of the error (partial_response).
    [[nodiscard]] coro::task<result<ports::chat_response>> stream(
        const ports::chat_request& request, ports::chat_delta_sink on_delta,
        coro::call_context context) override;

private:
    [[nodiscard]] coro::task<result<ports::chat_response>> call(const ports::chat_request& request,
                                                                bool streams,
                                                                ports::chat_delta_sink on_delta,
                                                                coro::call_context context);

    coro::loop_address home_;
    ports::llm_port& service_;
    std::string name_;
    bool keeps_responses_;
    unsigned max_at_once_;
};

} // namespace heddle::providers
