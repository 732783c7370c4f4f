// A service whose requests wait for a batch.
#pragma once

#include <heddle/ports/llm_port.hpp>
#include <heddle/providers/batch/batch_endpoint.hpp>

#include <optional>

namespace heddle::cli {

class parking_lot;

/// Where the ports of a program find the lot of its run.
struct parking_slot {
    parking_lot* lot = nullptr; ///< null: there is no run; what was answered is used all the same
};

/// Parks the requests of durable steps: a step whose request has no response yet waits until its
/// row is ended, and finds the response when the row is executed again. Requests that belong to no
/// step, or are too large for a batch, go to the service at once. Threads: its shard's only.
class parking_port final : public ports::llm_port {
public:
    /// All of it outlives the port.
    parking_port(ports::llm_port& inner, providers::batch_endpoint& batches,
                 const parking_slot& slot)
        : inner_(inner), batches_(batches), slot_(slot) {}

    [[nodiscard]] std::string_view provider_name() const noexcept override {
        return inner_.provider_name();
    }
    [[nodiscard]] bool keeps_responses() const noexcept override {
        return inner_.keeps_responses();
    }
    [[nodiscard]] unsigned max_requests_at_once() const noexcept override {
        return inner_.max_requests_at_once();
    }
    /// Errors: also those of the request in a batch, and io_error. Cancellation: at any point; what
    /// is parked stays so.
    [[nodiscard]] coro::task<result<ports::chat_response>> complete(
        const ports::chat_request& request, coro::call_context context) override;
    /// As complete: a response of a batch comes in one piece.
    [[nodiscard]] coro::task<result<ports::chat_response>> stream(
        const ports::chat_request& request, ports::chat_delta_sink on_delta,
        coro::call_context context) override;

private:
    /// Nothing: the request is sent to the service.
    [[nodiscard]] coro::task<std::optional<result<ports::chat_response>>> park(
        const ports::chat_request& request, coro::call_context context);

    ports::llm_port& inner_;
    providers::batch_endpoint& batches_;
    const parking_slot& slot_;
};

} // namespace heddle::cli
