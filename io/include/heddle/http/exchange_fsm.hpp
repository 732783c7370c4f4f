// One HTTP exchange as a pure state machine: no socket, no timer, no coroutine.
#pragma once

#include <heddle/coro/deadline.hpp>
#include <heddle/http/response_parser.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace heddle::http {

/// What the driver must do next.
enum class exchange_step : std::uint8_t {
    wait,    ///< nothing new: continue what is in progress
    acquire, ///< ask the pool; then call opening() or connected()
    open,    ///< open a new connection; then call connected() or failed()
    reopen,  ///< close the connection and open a new one in its place; then as for open
    send,    ///< start or continue writing; then call sent() or send_failed()
    receive, ///< read when data arrives; then call received() or ended()
    finish   ///< return the connection or close it, see keeps_connection(); outcome() is set
};

enum class connection_origin : std::uint8_t { fresh, pooled };

/// How the data of a connection ended.
enum class stream_end : std::uint8_t {
    clean,     ///< end of stream; with TLS: announced by close_notify
    truncated, ///< TLS only: end without close_notify
    reset      ///< an error of the socket or of TLS
};

/// The bounds of an exchange, copied from the request and the call context.
struct exchange_rules {
    std::string_view origin; ///< for messages; outlives the machine
    ports::http_limits limits;
    coro::deadline until;         ///< deadline of the call; passing it cancels
    const bool* enough = nullptr; ///< the receiver needs no more of the body; null: it needs all
    bool head_request = false;
    bool idempotent = false;
    bool once = false;      ///< not sent again once it was written
    bool decompress = true; ///< see response_rules for this and the next two
    bool hold_redirects = false;
    bool through_proxy = false;
};

/// Implements phases, limits, the rule for stale connections, and the outcome of each ending. The
/// driver passes events with their time and performs the returned step; it calls next_time() after
/// each step, and timed() at that time. Events that arrive after the end are ignored (step `wait`).
///
/// Phases: waiting for a connection -> opening -> sending -> awaiting the head -> body -> done.
/// Limits: `connect` spans opening; `idle` spans a pause in sending or inside the response;
/// `first_byte` runs from the last byte sent; `total` and `until` run from the start. A response
/// that arrives before the request is fully sent is accepted; its connection is not kept.
/// A pooled connection that ends before any byte of the response, while the request is written or
/// within `stale_within` of its last byte, is assumed to have been closed before the server
/// received the request: it is replaced by a new one, once. If it ends later, the server may have
/// processed the request; it is then replaced, once, only if the request is idempotent, and so is a
/// new connection. Interim responses (1xx) do not begin the response: `first_byte` continues after
/// them.
/// Once the receiver has enough, the body has `after_enough` to end, so that the connection can be
/// used again; else the exchange ends as if it had been idle.
class exchange_fsm {
public:
    using time_point = coro::clock::time_point;
    static constexpr std::chrono::milliseconds stale_within{1000};
    static constexpr std::chrono::milliseconds after_enough{250};

    exchange_fsm(parser_cache& cache, const exchange_rules& rules, response_target target)
        : rules_(rules), target_(target), parser_(cache) {}

    [[nodiscard]] exchange_step start(time_point now);
    [[nodiscard]] exchange_step opening(time_point now);
    [[nodiscard]] exchange_step connected(connection_origin origin, time_point now);
    [[nodiscard]] exchange_step sent(bool whole, time_point now);
    [[nodiscard]] exchange_step send_failed(boost::system::error_code ec, time_point now);
    [[nodiscard]] exchange_step received(std::string_view bytes, time_point now);
    [[nodiscard]] exchange_step ended(stream_end how, boost::system::error_code ec, time_point now);
    /// Opening failed, or the pool was closed: the exchange ends with the error.
    [[nodiscard]] exchange_step failed(error why);
    [[nodiscard]] exchange_step cancelled(cancel_reason reason);
    [[nodiscard]] exchange_step timed(time_point now);
    /// The driver stops reading because the receiver is busy, and continues. In between, only
    /// `total` and `until` apply; afterwards `idle` starts again.
    void hold() noexcept { held_ = true; }
    void release(time_point now) noexcept;

    /// When timed() must be called; time_point::max() when done.
    [[nodiscard]] time_point next_time() const noexcept;
    [[nodiscard]] bool done() const noexcept { return phase_ == phase::done; }
    [[nodiscard]] bool sending() const noexcept { return phase_ == phase::sending; }
    /// Whether a part of the response has arrived.
    [[nodiscard]] bool answering() const noexcept { return parser_.begun(); }
    /// Valid when done: the connection is clean and may carry another exchange.
    [[nodiscard]] bool keeps_connection() const noexcept { return keep_; }
    [[nodiscard]] time_point started() const noexcept { return started_; }
    /// Valid when done: empty on success.
    [[nodiscard]] const std::optional<error>& outcome() const noexcept { return outcome_; }
    /// Bytes of the body that have arrived, after decompression.
    [[nodiscard]] std::size_t body_bytes() const noexcept { return parser_.body_bytes(); }

private:
    enum class phase : std::uint8_t { start, waiting, opening, sending, head, body, done };

    void await_head(time_point now) noexcept;
    [[nodiscard]] exchange_step finish(std::optional<error> outcome);
    [[nodiscard]] bool may_send_again(time_point now) const noexcept;
    [[nodiscard]] exchange_step send_again(time_point now);
    [[nodiscard]] error broken(ports::http_errc code, boost::system::error_code ec) const;
    [[nodiscard]] error timeout(ports::http_errc code) const;
    [[nodiscard]] time_point phase_limit() const noexcept;

    exchange_rules rules_;
    response_target target_;
    response_parser parser_;
    time_point started_{};
    time_point mark_{}; ///< begin of the phase, or the last progress in it
    time_point enough_until_ = time_point::max(); ///< the receiver had enough before
    time_point sent_{}; ///< when the request was completely sent, or could not be sent
    std::optional<error> outcome_;
    boost::system::error_code send_error_;
    phase phase_ = phase::start;
    connection_origin origin_ = connection_origin::fresh;
    bool resent_ = false;
    bool keep_ = false;
    bool held_ = false;
};

} // namespace heddle::http
