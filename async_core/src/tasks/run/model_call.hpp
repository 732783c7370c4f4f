// How the requests of one execution are sent.
#pragma once

#include "tasks/run/cache_search.hpp"
#include "tasks/run/call_choices.hpp"
#include "tasks/run/kept_refusal.hpp"
#include "tasks/run/response_stream.hpp"
#include "tasks/run/task_costs.hpp"
#include "tasks/run/task_time.hpp"

#include <heddle/ports/send_gate.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace heddle::tasks {

class remembering_port;

/// Sends the request of an execution when the budgets allow it, for a cached response only when
/// they do not, and hands on the response as it arrives where somebody wants that.
class model_call final : private ports::limit_wait_listener, private ports::send_gate {
public:
    /// `time`: of the execution. `request` is sent again and again as the dialog goes on. All of it
    /// outlives this object.
    model_call(task_runner& runner, const task_call& call, const call_choices& choices,
               const task_time& time, task_session& session, ports::chat_request& request);

    /// Responses are handed on, if there is somebody to receive them.
    void open_stream() { stream_.open(); }
    /// `session` knows the price of the model.
    /// `is_repeated`: nothing is sent; what was paid counts in budgets as it did.
    void begin(bool is_repeated) {
        is_repeated_ = is_repeated;
        costs_.begin();
    }

    // The steps of each request, in this order.

    /// Whether the request has to be reserved. False also when it would wait and is made for a
    /// cached response first.
    [[nodiscard]] bool must_reserve();
    /// Waits for the budgets. A value: one is used up. Errors: cancelled, configuration_error.
    [[nodiscard]] coro::task<result<std::optional<spent_budget>>> reserve(
        coro::call_context context) {
        return costs_.reserve(context);
    }
    /// `over` is used up. A value, `over`: nothing can be asked; else the request is made for a
    /// cached response.
    [[nodiscard]] std::optional<spent_budget> ask_cache_instead(spent_budget over);
    /// Errors: as llm_port::complete.
    [[nodiscard]] coro::task<result<ports::chat_response>> ask(coro::call_context context);
    /// Marks the failure of a call that a budget or limit ended between two requests.
    void mark_stopped(result<ports::chat_response>& response) const { refusal_.mark(response); }
    /// The error of whoever receives the pieces: it counts, whatever the response is.
    [[nodiscard]] std::optional<error> take_receiver_failure() noexcept {
        return stream_.take_failure();
    }
    /// There was no cached response: the steps begin again, and the request is paid for.
    [[nodiscard]] bool starts_again(const result<ports::chat_response>& response) noexcept {
        return search_.found_nothing(request_, response);
    }
    /// The budget that was used up when there was no cached response either, or no kept one.
    [[nodiscard]] std::optional<spent_budget> spent_after(
        const result<ports::chat_response>& response);

    void count(const ports::chat_response& response) { costs_.count(response, paid_earlier_); }
    void count(const error& failure) { costs_.count(failure, paid_earlier_); }

private:
    [[nodiscard]] coro::task<result<ports::chat_response>> ask_once(coro::call_context context);
    void on_limit_wait(bool waits) noexcept override;
    [[nodiscard]] coro::task<result<ports::send_terms>> before_sending(
        const ports::chat_request& request, const std::vector<ports::lost_request>& lost,
        coro::call_context context) override;
    void on_unpaid() noexcept override;

    task_observer* observer_; ///< null: nobody listens
    std::string_view task_;
    const call_choices& choices_;
    const task_time& time_;
    lang::heap& memory_;
    ports::chat_request& request_;
    task_costs costs_;
    cache_search search_;
    response_stream stream_;
    request_refusal refusal_;
    bool is_repeated_ = false;
    std::optional<spent_budget> refused_by_; ///< the request that was to be sent
    bool paid_earlier_ = false; ///< the response was kept, and what it cost counted then
    remembering_port* remembered_ = nullptr; ///< of the request under way, in a durable run
};

} // namespace heddle::tasks
