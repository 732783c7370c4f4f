// One call of a provider on another loop.
#pragma once

#include <heddle/coro/call_context.hpp>
#include <heddle/coro/handler_memory.hpp>
#include <heddle/coro/loop_address.hpp>
#include <heddle/ports/flow_gate.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/ports/send_gate.hpp>

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace heddle::providers {

class remote_call;

/// The part of a call that belongs to the caller's frame and thread.
class remote_caller final : private ports::flow_gate::listener {
public:
    /// `on_delta` is empty if the response is not streamed. `call` learns of this object.
    remote_caller(std::shared_ptr<remote_call> call, const ports::chat_request& request,
                  ports::chat_delta_sink on_delta, coro::call_context context);
    ~remote_caller();
    remote_caller(const remote_caller&) = delete;
    remote_caller& operator=(const remote_caller&) = delete;

    /// A piece of the response has arrived.
    void take(std::string piece);
    /// Hands on what has arrived, as long as the gate is open.
    void hand_on() noexcept;
    void show_wait(bool waits) noexcept;
    void show_unpaid() noexcept {
        if (sends_) sends_->on_unpaid();
    }
    [[nodiscard]] coro::task<result<ports::send_terms>> admit(
        const ports::chat_request& request, const std::vector<ports::lost_request>& lost,
        coro::call_context here);

    /// The end of the call: waits until the receiver has taken all pieces.
    [[nodiscard]] coro::task<result<ports::chat_response>> finish(
        result<ports::chat_response> outcome);

private:
    void on_open() noexcept override;
    [[nodiscard]] result<void> hand_over(const std::string& piece) noexcept;

    std::shared_ptr<remote_call> call_;
    ports::chat_delta_sink on_delta_;
    ports::flow_gate* gate_;
    ports::limit_wait_listener* waits_;
    ports::send_gate* sends_;
    coro::call_context context_;
    std::deque<std::string> pieces_;
    std::optional<error> receiver_failure_;
    std::optional<error> admission_failure_;
    bool shows_wait_ = false;
};

/// What both threads have of a call. It may outlive the frame of the caller.
class remote_call final : public std::enable_shared_from_this<remote_call>,
                          private ports::flow_gate,
                          private ports::limit_wait_listener,
                          private ports::send_gate {
public:
    /// Copies the request.
    remote_call(ports::llm_port& service, coro::loop_address home,
                const ports::chat_request& request, bool streams, coro::loop_address here);

    /// The call itself. Threads: home.
    [[nodiscard]] coro::task<result<ports::chat_response>> perform(coro::call_context home);

    // Threads: the caller's.

    [[nodiscard]] remote_caller* caller() noexcept { return caller_; }
    void set_caller(remote_caller* caller) noexcept { caller_ = caller; }
    /// The receiver has taken a piece.
    void piece_taken(std::size_t bytes);
    /// The receiver wants nothing more: the call ends.
    void refuse();
    /// hand_on() in a turn of its own.
    void hand_on_later() noexcept;

private:
    // Threads: the caller's.
    void hand_on() noexcept {
        if (caller_) caller_->hand_on();
    }
    void show_wait() noexcept;

    // Threads: home.
    [[nodiscard]] bool open() const noexcept override;
    void on_limit_wait(bool waits) noexcept override;
    [[nodiscard]] coro::task<result<ports::send_terms>> before_sending(
        const ports::chat_request& request, const std::vector<ports::lost_request>& lost,
        coro::call_context home) override;
    void on_unpaid() noexcept override;
    [[nodiscard]] result<void> send_piece(std::string_view text);

    ports::llm_port& service_;
    const coro::loop_address home_;
    const coro::loop_address here_;
    const bool streams_;
    const std::string task_; ///< of the origin of the request
    const std::string work_;
    ports::chat_request request_; ///< unchanged once the call has begun

    std::size_t pending_ = 0;             ///< of home: bytes that the caller has not taken
    bool refused_ = false;                ///< of home
    coro::cancel_source* stop_ = nullptr; ///< of home: of the call in progress

    remote_caller* caller_ = nullptr; ///< of the caller; null: its frame is gone

    std::atomic<bool> waits_{false};
    std::atomic<bool> wait_is_posted_{false};
    coro::handler_memory<1> wait_memory_;
    coro::handler_memory<1> open_memory_;
};

} // namespace heddle::providers
