// A model whose responses are kept for the step of a durable run that asks.
#pragma once

#include <heddle/ports/forwarding_llm_port.hpp>
#include <heddle/ports/step_memory.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace heddle::tasks {

class task_costs;

/// Returns the response that an earlier execution of the step received, and sends only requests
/// that have none. A response of an earlier version of the program counts as a cached one. Each
/// response is stored before it is used, so that no request is paid for twice. Lives for one call;
/// the arguments of its constructor outlive it.
class remembering_port final : public ports::forwarding_llm_port {
public:
    /// `costs` computes the cost of a response. `settings`: as of model_choice; a part of what is
    /// asked.
    remembering_port(ports::llm_port& inner, std::string_view settings, ports::step_memory& step,
                     const task_costs& costs)
        : forwarding_llm_port(inner), settings_(settings), step_(step), costs_(costs) {}

    /// Notes that the request of the call is about to be sent; only its first attempt needs it.
    /// `least`: its minimum cost. Errors: io_error when the note cannot be stored.
    [[nodiscard]] coro::task<result<void>> note_sent(ports::step_spending least,
                                                     coro::call_context context);
    /// Errors: as of the inner port; io_error when a response cannot be kept.
    [[nodiscard]] coro::task<result<ports::chat_response>> complete(
        const ports::chat_request& request, coro::call_context context) override;
    /// Delivers a stored response in one piece.
    [[nodiscard]] coro::task<result<ports::chat_response>> stream(
        const ports::chat_request& request, ports::chat_delta_sink on_delta,
        coro::call_context context) override;

private:
    [[nodiscard]] std::optional<result<ports::chat_response>> kept(
        const ports::chat_request& request);
    [[nodiscard]] coro::task<result<ports::chat_response>> keep(result<ports::chat_response> ended,
                                                                coro::call_context context);

    std::string_view settings_;
    ports::step_memory& step_;
    const task_costs& costs_;
    ports::digest128 asked_; ///< of the request under way
    std::string model_;
    bool noted_ = false;
};

} // namespace heddle::tasks
