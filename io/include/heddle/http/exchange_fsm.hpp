// One HTTP exchange as a pure state machine: no socket, no timer, no coroutine.
#pragma once

#include <heddle/coro/deadline.hpp>
#include <heddle/http/response_parser.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace heddle::http {

/// What the driver is to do next.
enum class exchange_step : std::uint8_t {
    wait,    ///< nothing new: go on with what is under way
    acquire, ///< ask the pool; answer with opening() or connected()
    open,    ///< open a fresh connection; answer with connected() or failed()
    reopen,  ///< close the connection and open a fresh one in its place; answers as for open
    send,    ///< write (on); answer with sent() or send_failed()
    receive, ///< read when there is something; answer with received() or ended()
    finish   ///< give the connection back or close it, see keeps_connection(); outcome() is set
};

enum class connection_origin : std::uint8_t { fresh, pooled };

/// How a connection stopped giving bytes.
enum class stream_end : std::uint8_t {
    clean,     ///< end of stream; with TLS: announced by close_notify
    truncated, ///< TLS only: end without close_notify
    reset      ///< an error of the socket or of TLS
};

/// What an exchange is bound by; a copy of what the request and the call context say.
struct exchange_rules {
    std::string_view origin; ///< for messages; outlives the machine
    ports::http_limits limits;
    coro::deadline until; ///< the call's own deadline; passing it cancels
    bool head_request = false;
    bool idempotent = false;
    bool decompress = true; ///< see response_rules for this and the next two
    bool hold_redirects = false;
    bool through_proxy = false;
};

/// Knows phases, limits, the rule for stale connections, and what every ending means.
/// The driver feeds events with the time they happened at and performs the returned step; it asks
/// next_time() after each step and calls timed() when that moment has come. Events that arrive
/// after the end are ignored (step `wait`).
///
/// Phases: waiting for a connection -> opening -> sending -> awaiting the head -> body -> done.
/// Limits: `connect` spans opening; `idle` spans a pause in sending or inside the answer;
/// `first_byte` runs from the last byte sent; `total` and `until` run from the start.
/// An answer that comes before the request is fully sent is taken; its connection is not kept.
/// A pooled connection that ends before any byte of the answer, while the request is written or
/// within `stale_within` of its last byte, was closed before the request reached anybody: it is
/// replaced by a fresh one, once. One that ends later may have been at work on it. A fresh one is
/// replaced, once, only if the request is idempotent.
/// Interim answers (1xx) do not begin the answer: `first_byte` goes on behind them.
class exchange_fsm {
public:
    using time_point = coro::clock::time_point;
    static constexpr std::chrono::milliseconds stale_within{1000};

    exchange_fsm(parser_cache& cache, const exchange_rules& rules, response_target target)
        : rules_(rules), target_(target), parser_(cache) {}

    [[nodiscard]] exchange_step start(time_point now);
    [[nodiscard]] exchange_step opening(time_point now);
    [[nodiscard]] exchange_step connected(connection_origin origin, time_point now);
    [[nodiscard]] exchange_step sent(bool whole, time_point now);
    [[nodiscard]] exchange_step send_failed(boost::system::error_code ec, time_point now);
    [[nodiscard]] exchange_step received(std::string_view bytes, time_point now);
    [[nodiscard]] exchange_step ended(stream_end how, boost::system::error_code ec, time_point now);
    /// Opening failed, or the pool was closed: the error is handed on.
    [[nodiscard]] exchange_step failed(error why);
    [[nodiscard]] exchange_step cancelled(cancel_reason reason);
    [[nodiscard]] exchange_step timed(time_point now);
    /// The driver reads no more because the receiver is busy, and reads on. Between the two only
    /// `total` and `until` run; afterwards `idle` begins anew.
    void hold() noexcept { held_ = true; }
    void release(time_point now) noexcept;

    /// The earliest moment at which timed() has something to say; time_point::max() when done.
    [[nodiscard]] time_point next_time() const noexcept;
    [[nodiscard]] bool done() const noexcept { return phase_ == phase::done; }
    [[nodiscard]] bool sending() const noexcept { return phase_ == phase::sending; }
    /// Something of the answer has come.
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
    time_point sent_{}; ///< when the request was whole, or could not be sent
    std::optional<error> outcome_;
    boost::system::error_code send_error_;
    phase phase_ = phase::start;
    connection_origin origin_ = connection_origin::fresh;
    bool resent_ = false;
    bool keep_ = false;
    bool held_ = false;
};

} // namespace heddle::http
