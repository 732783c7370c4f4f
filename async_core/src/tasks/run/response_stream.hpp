// Responses that are handed on as they arrive.
#pragma once

#include "tasks/run/task_costs.hpp"

#include <heddle/coro/task.hpp>
#include <heddle/tasks/call/task_call.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace heddle::tasks {

class delta_receiver;
class task_runner;

/// Hands on the responses of one execution, to a function of the workflow or to the host.
class response_stream {
public:
    /// Both outlive it.
    response_stream(task_runner& runner, const task_call& call);
    response_stream(const response_stream&) = delete;
    response_stream& operator=(const response_stream&) = delete;

    /// From now on responses are handed on, if there is somebody to receive them.
    void open();
    [[nodiscard]] bool is_open() const noexcept { return open_; }

    /// One request, whose text is handed on. `costs` is notified of its end before the receiver has
    /// all of it. Everything that is referred to outlives the call. Errors: as llm_port::stream;
    /// the receiver's, with what has arrived as ports::partial_response.
    [[nodiscard]] coro::task<result<ports::chat_response>> ask(ports::llm_port& provider,
                                                               ports::chat_request& request,
                                                               task_costs& costs,
                                                               coro::call_context context);
    /// The error of the receiver, which is raised once the request has ended.
    [[nodiscard]] std::optional<error> take_failure() noexcept {
        return std::exchange(failure_, std::nullopt);
    }

private:
    class pieces;

    [[nodiscard]] coro::task<result<void>> read(pieces& arrived, ports::llm_port& provider,
                                                const ports::chat_request& request,
                                                task_costs& costs,
                                                std::optional<result<ports::chat_response>>& ended,
                                                coro::call_context context);
    [[nodiscard]] coro::task<result<void>> hand_on(pieces& arrived, coro::call_context context);
    [[nodiscard]] result<void> notify_host(std::string_view text);

    task_runner& runner_;
    const task_call& call_;
    std::uint64_t number_; ///< among the executions of the session
    lang::value receiver_; ///< a function, or nil
    bool open_ = false;
    delta_receiver* host_ = nullptr; ///< receives it, too; null: does not
    std::optional<error> failure_;
};

} // namespace heddle::tasks
