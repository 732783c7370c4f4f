// Drives one exchange_fsm with a real connection, the loop's timers and a cancel hook.
#pragma once

#include "client_core.hpp"
#include "connection.hpp"

#include <heddle/coro/cancel.hpp>
#include <heddle/http/exchange_fsm.hpp>

#include <boost/asio/async_result.hpp>

#include <optional>

namespace heddle::http {

/// Lives in the coroutine of its call: start(), then wait until ended(), then take_outcome().
/// Between start and end everything happens in callbacks of the loop, so that the coroutine is
/// resumed once per call and not once per piece of it. The resumption is always posted.
/// Cancellation: its connection is closed inside cancel_source::request; the coroutine follows.
/// Timers: one node. It is moved only when the next limit comes earlier than the node's time; when
/// it fires too early it is set again (so a byte that arrives costs no timer work).
class exchange_operation final : public pool_waiter,
                                 public running_exchange,
                                 private connection_user,
                                 private coro::cancel_hook,
                                 private ports::flow_gate::listener,
                                 private coro::timer_node {
public:
    /// All arguments outlive the operation; the sinks may be null.
    exchange_operation(client_core& core, const ports::http_request& request,
                       coro::call_context context, const ports::http_head_sink* on_head,
                       const ports::http_body_sink* on_piece);
    ~exchange_operation();

    void start();
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    /// Parks the caller until the end. Only while not ended().
    [[nodiscard]] auto wait() {
        return boost::asio::async_initiate<const coro::use_task_t, void()>(
            [this](auto handler) { handler_.emplace(std::move(handler)); }, coro::use_task);
    }
    [[nodiscard]] result<ports::http_response> take_outcome();
    /// Valid when ended: the response is a redirect that the client is to follow.
    [[nodiscard]] bool redirected() const noexcept;
    [[nodiscard]] const ports::http_response& response() const noexcept { return response_; }
    [[nodiscard]] const origin_state& origin() const noexcept { return *origin_; }
    [[nodiscard]] coro::clock::time_point started() const noexcept { return fsm_->started(); }

    /// The pool has something for this queued call.
    void granted(const pool_grant& grant) noexcept;
    void stop(cancel_reason reason) noexcept override;

private:
    void on_opened() noexcept override;
    void on_open_failed(error why) noexcept override;
    void on_io(net::readiness what) noexcept override;
    void on_cancel(cancel_reason reason) noexcept override { stop(reason); }
    void on_timer() noexcept override;
    void on_open() noexcept override;

    void perform(exchange_step step) noexcept;
    [[nodiscard]] exchange_step acquire();
    [[nodiscard]] exchange_step take(const pool_grant& grant);
    [[nodiscard]] exchange_step open();
    [[nodiscard]] exchange_step send();
    [[nodiscard]] exchange_step receive();
    [[nodiscard]] bool held_back() noexcept;
    void set_timer() noexcept;
    [[nodiscard]] bool wants_compression() const noexcept;
    void finish() noexcept;
    void refuse(error why) noexcept;

    client_core& core_;
    const ports::http_request& request_;
    origin_state* origin_ = nullptr;
    coro::cancel_source* cancel_;
    connection* connection_ = nullptr;
    ports::http_response response_;
    std::optional<error> refusal_; ///< a request that was never started
    std::optional<exchange_fsm> fsm_;
    std::optional<coro::task_handler> handler_;
    coro::clock::time_point timer_at_ = coro::clock::time_point::max();
    std::size_t sent_ = 0;
    coro::deadline until_;
    const ports::http_head_sink* on_head_;
    const ports::http_body_sink* on_piece_;
    ports::flow_gate* gate_;                         ///< listening to it: nothing is read
    cancel_reason stop_after_ = cancel_reason::none; ///< asked for while a sink was being called
    bool in_callback_ = false;
    bool ended_ = false;
    bool ask_compressed_ = false;
};

} // namespace heddle::http
