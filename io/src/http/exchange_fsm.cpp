#include <heddle/http/exchange_fsm.hpp>

#include <algorithm>
#include <string>

namespace heddle::http {

using ports::http_errc;

namespace {

std::string milliseconds_text(std::chrono::milliseconds span) {
    if (span.count() % 1000 == 0) return std::to_string(span.count() / 1000) + " s";
    return std::to_string(span.count()) + " ms";
}

/// `begin + span` without overflow: a huge limit means none.
coro::clock::time_point later(coro::clock::time_point begin, std::chrono::milliseconds span) {
    // In milliseconds: the other way round the comparison itself would overflow.
    using std::chrono::milliseconds;
    const auto room =
        std::chrono::duration_cast<milliseconds>(coro::clock::time_point::max() - begin);
    return span >= room ? coro::clock::time_point::max() : begin + span;
}

} // namespace

exchange_step exchange_fsm::start(time_point now) {
    started_ = mark_ = now;
    phase_ = phase::waiting;
    if (rules_.until.passed(now)) return cancelled(cancel_reason::deadline);
    return exchange_step::acquire;
}

exchange_step exchange_fsm::opening(time_point now) {
    if (done()) return exchange_step::wait;
    phase_ = phase::opening;
    mark_ = now;
    return exchange_step::open;
}

exchange_step exchange_fsm::connected(connection_origin origin, time_point now) {
    if (done()) return exchange_step::wait;
    origin_ = origin;
    phase_ = phase::sending;
    mark_ = now;
    send_error_ = {};
    return exchange_step::send;
}

exchange_step exchange_fsm::sent(bool whole, time_point now) {
    if (phase_ != phase::sending) return exchange_step::wait;
    mark_ = now;
    if (!whole) return exchange_step::send;
    await_head(now);
    return exchange_step::receive;
}

void exchange_fsm::await_head(time_point now) noexcept {
    phase_ = phase::head;
    mark_ = sent_ = now;
}

exchange_step exchange_fsm::send_failed(boost::system::error_code ec, time_point now) {
    if (phase_ != phase::sending) return exchange_step::wait;
    // The server may have responded and hung up before it read everything: look for that response.
    send_error_ = ec;
    await_head(now);
    return exchange_step::receive;
}

exchange_step exchange_fsm::received(std::string_view bytes, time_point now) {
    if (done()) return exchange_step::wait;
    if (phase_ < phase::sending)
        return finish(error(errc::internal, "bytes arrived before there was a request"));
    const response_rules rules{rules_.head_request,          rules_.limits.max_header_bytes,
                               rules_.limits.max_body_bytes, rules_.decompress,
                               rules_.hold_redirects,        rules_.through_proxy};
    auto whole = parser_.feed(bytes, rules, target_);
    if (!whole) {
        // The parser and the sinks do not know where they are.
        error failure = std::move(whole).error();
        if (failure.code().category() == ports::http_category()) {
            std::string message = std::string(rules_.origin) + ": " + failure.message();
            error placed = error(failure.code(), std::move(message)).with_retryable(false);
            if (!failure.info().hint.empty())
                placed = std::move(placed).with_hint(failure.info().hint);
            return finish(std::move(placed));
        }
        return finish(std::move(failure));
    }
    mark_ = now;
    if (*whole) {
        keep_ = parser_.reusable() && phase_ != phase::sending && !send_error_;
        return finish(std::nullopt);
    }
    if (phase_ == phase::sending) return exchange_step::wait;
    // From its first byte on the response is bound by `idle`, whether its head is whole or not.
    phase_ = parser_.response_begun() ? phase::body : phase::head;
    if (phase_ == phase::head) mark_ = sent_;
    if (rules_.enough && *rules_.enough && enough_until_ == time_point::max())
        enough_until_ = later(now, after_enough);
    return exchange_step::receive;
}

exchange_step exchange_fsm::ended(stream_end how, boost::system::error_code ec, time_point now) {
    if (done()) return exchange_step::wait;
    if (how == stream_end::clean && parser_.begun()) {
        auto whole = parser_.finish();
        if (whole && *whole) return finish(std::nullopt);
    }
    if (!parser_.begun() && may_send_again(now)) return send_again(now);
    if (!ec) ec = send_error_;
    return finish(broken(
        how == stream_end::reset ? http_errc::connection_reset : http_errc::connection_closed, ec));
}

exchange_step exchange_fsm::failed(error why) {
    if (done()) return exchange_step::wait;
    return finish(std::move(why));
}

exchange_step exchange_fsm::cancelled(cancel_reason reason) {
    if (done()) return exchange_step::wait;
    return finish(error::cancelled(reason));
}

exchange_step exchange_fsm::timed(time_point now) {
    if (done()) return exchange_step::wait;
    if (rules_.until.passed(now)) return cancelled(cancel_reason::deadline);
    if (now >= later(started_, rules_.limits.total))
        return finish(timeout(http_errc::total_timeout));
    if (now < phase_limit()) return exchange_step::wait;
    switch (phase_) {
    case phase::opening: return finish(timeout(http_errc::connect_timeout));
    case phase::head: return finish(timeout(http_errc::first_byte_timeout));
    case phase::sending:
    case phase::body: return finish(timeout(http_errc::idle_timeout));
    case phase::start:
    case phase::waiting:
    case phase::done: break;
    }
    return exchange_step::wait;
}

void exchange_fsm::release(time_point now) noexcept {
    held_ = false;
    mark_ = now;
}

exchange_fsm::time_point exchange_fsm::phase_limit() const noexcept {
    if (held_) return enough_until_; // the silence is our own
    switch (phase_) {
    case phase::opening: return later(mark_, rules_.limits.connect);
    case phase::head: return later(mark_, rules_.limits.first_byte);
    case phase::sending: return later(mark_, rules_.limits.idle);
    case phase::body: return std::min(later(mark_, rules_.limits.idle), enough_until_);
    case phase::start:
    case phase::waiting:
    case phase::done: break;
    }
    return time_point::max();
}

exchange_fsm::time_point exchange_fsm::next_time() const noexcept {
    if (phase_ == phase::done || phase_ == phase::start) return time_point::max();
    return std::min({phase_limit(), later(started_, rules_.limits.total), rules_.until.at()});
}

exchange_step exchange_fsm::finish(std::optional<error> outcome) {
    if (outcome) keep_ = false;
    outcome_ = std::move(outcome);
    phase_ = phase::done;
    return exchange_step::finish;
}

bool exchange_fsm::may_send_again(time_point now) const noexcept {
    if (resent_ || phase_ < phase::sending) return false;
    const bool was_written = phase_ != phase::sending && !send_error_;
    if (rules_.once && was_written) return false;
    if (rules_.idempotent) return true;
    const bool at_once = phase_ == phase::sending || now - sent_ <= stale_within;
    return origin_ == connection_origin::pooled && at_once;
}

exchange_step exchange_fsm::send_again(time_point now) {
    resent_ = true;
    parser_.reset();
    phase_ = phase::opening;
    mark_ = now;
    return exchange_step::reopen;
}

error exchange_fsm::broken(http_errc code, boost::system::error_code ec) const {
    std::string message(rules_.origin);
    message += code == http_errc::connection_reset ? ": the connection broke"
                                                   : ": the server closed the connection";
    if (!parser_.response_begun())
        message +=
            phase_ == phase::sending ? " while the request was sent" : " before it responded";
    else if (!parser_.head_done()) message += " inside the response header";
    else
        message += " after " + std::to_string(parser_.body_bytes()) + " bytes of the response body";
    if (ec) message += " (" + ec.message() + ")";
    error failure = error(code, std::move(message)).with_retryable(true);
    if (!parser_.response_begun())
        failure = std::move(failure).with_hint(
            "sending it again may help; heddle does not do so because the server may have acted "
            "on the request");
    return failure;
}

error exchange_fsm::timeout(http_errc code) const {
    std::string message(rules_.origin);
    std::string hint;
    const ports::http_limits& limits = rules_.limits;
    switch (code) {
    case http_errc::connect_timeout:
        message += ": no connection within " + milliseconds_text(limits.connect);
        hint = "check that the server can be reached from here, or raise the connect limit";
        break;
    case http_errc::first_byte_timeout:
        message += ": no response within " + milliseconds_text(limits.first_byte);
        hint = "raise the first-byte limit if the server is known to take long";
        break;
    case http_errc::idle_timeout:
        message += phase_ == phase::sending ? ": the server did not read the request for "
                                            : ": no data received for ";
        message += milliseconds_text(limits.idle);
        hint = "raise the idle limit if such pauses are expected";
        break;
    default:
        message += ": not done within " + milliseconds_text(limits.total);
        hint = phase_ == phase::waiting ? "all connections were in use: allow more of them, or "
                                          "start fewer calls at once"
                                        : "raise the total limit";
        break;
    }
    return error(code, std::move(message))
        .with_hint(std::move(hint))
        .with_retryable(code != http_errc::total_timeout);
}

} // namespace heddle::http
