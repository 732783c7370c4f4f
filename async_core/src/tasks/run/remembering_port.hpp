// A model whose responses are kept for the step of a durable run that asks.
#pragma once

#include "tasks/run/task_time.hpp"

#include <heddle/ports/forwarding_llm_port.hpp>
#include <heddle/ports/step_memory.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::lang {
class heap;
}

namespace heddle::tasks {

class request_refusal;
class task_costs;

/// Returns the response that an earlier execution of the step received, with its cost, or the error
/// with which the request ended then, and sends only requests that have neither. Each response is
/// stored before it is used, so that no request is paid for twice. Lives for one call; the
/// arguments of its constructor outlive it.
class remembering_port final : public ports::forwarding_llm_port {
public:
    /// `costs` computes the cost of a response. `settings`: as of model_choice; a part of what is
    /// asked. `refusal`: of a further request of the call. `time`: of the task that asks.
    remembering_port(ports::llm_port& inner, std::string_view settings, ports::step_memory& step,
                     const task_costs& costs, const request_refusal& refusal, const task_time& time,
                     lang::heap& memory)
        : forwarding_llm_port(inner), settings_(settings), step_(step), costs_(costs),
          refusal_(refusal), time_(time), memory_(memory) {}

    /// Notes that the request of the call is about to be sent, for each of its attempts: each may
    /// be charged for. `if_lost`: its cost if the response is lost. Errors: io_error when it cannot
    /// be stored.
    [[nodiscard]] coro::task<result<void>> note_sent(ports::cost_if_lost if_lost,
                                                     coro::call_context context);
    /// An attempt has ended free of charge.
    void note_unpaid();
    /// The journal does not take the request: that is not an outcome of it.
    void note_disallowed() noexcept { is_disallowed_ = true; }
    /// A budget does not allow another attempt.
    void note_refused() noexcept { is_refused_ = true; }
    /// The response was kept by an earlier execution, and the run has counted what it cost.
    [[nodiscard]] bool was_paid_earlier() const noexcept { return paid_earlier_; }
    /// Errors: as of the inner port; io_error when a response cannot be kept.
    [[nodiscard]] coro::task<result<ports::chat_response>> complete(
        const ports::chat_request& request, coro::call_context context) override;
    /// Delivers a stored response in one piece.
    [[nodiscard]] coro::task<result<ports::chat_response>> stream(
        const ports::chat_request& request, ports::chat_delta_sink on_delta,
        coro::call_context context) override;

private:
    [[nodiscard]] coro::task<std::optional<result<ports::chat_response>>> kept(
        const ports::chat_request& request, coro::call_context context);
    [[nodiscard]] coro::task<result<ports::chat_response>> keep(result<ports::chat_response> ended,
                                                                coro::call_context context);

    std::string_view settings_;
    ports::step_memory& step_;
    const task_costs& costs_;
    const request_refusal& refusal_;
    const task_time& time_;
    lang::heap& memory_;
    ports::digest128 asked_; ///< of the request under way
    std::string model_;
    std::uint32_t noted_ = 0; ///< attempts that the journal has as sent, and not as unpaid
    bool paid_earlier_ = false;
    bool is_disallowed_ = false;
    bool is_refused_ = false; ///< by a budget
};

} // namespace heddle::tasks
