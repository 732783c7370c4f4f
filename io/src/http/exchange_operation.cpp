#include "exchange_operation.hpp"

#include "proxy_tunnel.hpp"
#include "request_text.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/exceptions.hpp>

#include <boost/asio/post.hpp>

#include <new>
#include <typeinfo>

namespace heddle::http {

namespace {

/// Bodies up to this size are written together with the head: one copy is cheaper than one more
/// system call, and a TLS record takes 16 KiB anyway.
constexpr std::size_t max_joined_body = 14 * 1024;
/// Reads of one connection before others get their turn.
constexpr int max_consecutive_reads = 16;

} // namespace

exchange_operation::exchange_operation(client_core& core, const ports::http_request& request,
                                       coro::call_context context,
                                       const ports::http_head_sink* on_head,
                                       const ports::http_body_sink* on_piece)
    : core_(core), request_(request), cancel_(context.cancel), until_(context.until),
      on_head_(on_head), on_piece_(on_piece), gate_(on_piece != nullptr ? request.gate : nullptr) {
    ++core_.counted.in_flight;
    ++core_.counted.started;
}

exchange_operation::~exchange_operation() {
    // Only when the coroutine is destroyed before it was parked: nothing may point here any more.
    if (!ended_ && fsm_) perform(fsm_->cancelled(cancel_reason::shutdown));
    --core_.counted.in_flight;
}

void exchange_operation::refuse(error why) noexcept {
    refusal_ = std::move(why);
    ended_ = true;
}

void exchange_operation::start() {
    if (core_.closed()) {
        refuse(
            error(ports::http_errc::shut_down, "the HTTP client was closed").with_retryable(false));
        return;
    }
    if (cancel_ != nullptr && cancel_->requested()) {
        refuse(error::cancelled(cancel_->reason()));
        return;
    }
    ports::http_origin* const asked = request_.origin.get();
    if (asked == nullptr || typeid(*asked) != typeid(origin_state) ||
        static_cast<origin_state*>(asked)->core() != &core_) {
        refuse(error(errc::invalid_argument, "HTTP request: its origin was not made by this client")
                   .with_retryable(false));
        return;
    }
    auto fine = check_request_line(request_);
    header_text& headers = static_cast<origin_state*>(asked)->headers();
    if (fine) fine = headers.assign(request_.headers);
    if (!fine) {
        refuse(std::move(fine).error());
        return;
    }
    origin_ = static_cast<origin_state*>(asked);
    exchange_rules rules;
    rules.origin = origin_->name();
    rules.limits = request_.limits;
    rules.until = until_;
    rules.head_request = request_.method == "HEAD";
    rules.idempotent = request_.idempotent;
    rules.once = request_.once;
    rules.enough = on_piece_ != nullptr ? request_.enough : nullptr;
    rules.decompress = !headers.names_accept_encoding();
    rules.hold_redirects = core_.options().max_redirects > 0;
    rules.through_proxy = origin_->forwards();
    ask_compressed_ = rules.decompress && wants_compression();
    fsm_.emplace(core_.parsers, rules, response_target{&response_, on_head_, on_piece_});
    core_.running.push_back(*this);
    if (cancel_ != nullptr) cancel_->hook(*this);
    perform(fsm_->start(core_.sockets().now()));
}

bool exchange_operation::wants_compression() const noexcept {
    switch (request_.compression) {
    case ports::http_compression::none: return false;
    case ports::http_compression::gzip: return true;
    case ports::http_compression::client_default: break;
    }
    // A service that compresses a stream may hold its pieces back.
    return core_.options().ask_compressed && on_piece_ == nullptr;
}

bool exchange_operation::redirected() const noexcept {
    return !refusal_ && !fsm_->outcome() && response_.status >= 300 && response_.status < 400 &&
           core_.options().max_redirects > 0 && is_redirect(response_);
}

result<ports::http_response> exchange_operation::take_outcome() {
    if (refusal_) {
        ++core_.counted.failed;
        return *std::move(refusal_);
    }
    if (fsm_->outcome()) {
        const bool accepted = response_.status >= 200 && response_.status < 300;
        // Blanks before a response are sent to keep the connection open.
        if (request_.received != nullptr && accepted && !ascii::trim(response_.body).empty())
            *request_.received = fsm_->body_bytes();
        if (fsm_->outcome()->code() == ports::http_errc::proxy_refused && origin_->forwards()) {
            return proxy_wants_user(origin_->name() + ": the proxy " + origin_->next_hop().text(),
                                    !origin_->proxy()->authorization.empty());
        }
        return *fsm_->outcome();
    }
    return std::move(response_);
}

void exchange_operation::perform(exchange_step step) noexcept {
    for (;;) {
        switch (step) {
        case exchange_step::wait:
        case exchange_step::receive: set_timer(); return;
        case exchange_step::acquire: step = acquire(); break;
        case exchange_step::reopen:
            core_.log(log_level::debug, origin_->name(),
                      "the connection ended before a response; sending again");
            if (request_.resent != nullptr) ++*request_.resent;
            connection_->close();
            [[fallthrough]];
        case exchange_step::open: step = open(); break;
        case exchange_step::send: step = send(); break;
        case exchange_step::finish: finish(); return;
        }
    }
}

exchange_step exchange_operation::acquire() { return take(origin_->pool().acquire(*this)); }

exchange_step exchange_operation::take(const pool_grant& grant) {
    const auto now = core_.sockets().now();
    switch (grant.answer) {
    case pool_answer::queued: return exchange_step::wait;
    case pool_answer::closed:
        return fsm_->failed(
            error(ports::http_errc::shut_down, "the HTTP client was closed").with_retryable(false));
    case pool_answer::open:
        connection_ = &origin_->make_connection();
        connection_->attach(*this);
        return fsm_->opening(now);
    case pool_answer::reuse:
        connection_ = static_cast<connection*>(grant.item);
        connection_->attach(*this);
        ++core_.counted.reused;
        return fsm_->connected(connection_origin::pooled, now);
    }
    return exchange_step::wait;
}

void exchange_operation::granted(const pool_grant& grant) noexcept { perform(take(grant)); }

exchange_step exchange_operation::open() {
    sent_ = 0;
    if (auto failed = connection_->open()) return fsm_->failed(*std::move(failed));
    return exchange_step::wait;
}

void exchange_operation::on_opened() noexcept {
    perform(fsm_->connected(connection_origin::fresh, core_.sockets().now()));
}

void exchange_operation::on_open_failed(error why) noexcept {
    perform(fsm_->failed(std::move(why)));
}

exchange_step exchange_operation::send() {
    // Rendered again after a partial write, which is rare: so nothing has to be kept meanwhile.
    std::string& head = core_.rendered;
    request_route route{origin_->host_header(),
                        origin_->forwards(),
                        {},
                        ask_compressed_,
                        core_.options().user_agent};
    if (route.absolute) route.proxy_authorization = origin_->proxy()->authorization.reveal();
    const std::size_t body_size = request_.body.size();
    const bool joined = body_size <= max_joined_body;
    try {
        // Another request may have been begun since; these headers were found good then.
        (void)origin_->headers().assign(request_.headers);
        render_head(request_, origin_->headers(), route, head);
        if (joined) head += request_.body;
    } catch (const std::bad_alloc&) {
        return fsm_->failed(out_of_memory());
    }
    const std::size_t whole = head.size() + (joined ? 0 : body_size);
    while (sent_ < whole) {
        const bool in_head = sent_ < head.size();
        const std::string_view rest =
            in_head ? std::string_view(head).substr(sent_)
                    : std::string_view(request_.body).substr(sent_ - head.size());
        const auto more = in_head && !joined ? net::more_follows::yes : net::more_follows::no;
        const net::io_outcome outcome = connection_->write(rest, more);
        if (outcome.status == net::io_status::would_block) return exchange_step::wait;
        const auto now = core_.sockets().now();
        if (outcome.status != net::io_status::done) {
            // Whether the server sent something before is found out in the next turn: a sink must
            // not be called from here, which may be inside the caller's start().
            core_.sockets().again(*connection_, {true, false, false});
            return fsm_->send_failed(outcome.ec, now);
        }
        sent_ += outcome.count;
        if (sent_ < whole) (void)fsm_->sent(false, now);
    }
    if (request_.sent != nullptr) request_.sent->on_sent();
    return fsm_->sent(true, core_.sockets().now());
}

exchange_step exchange_operation::receive() {
    // It may have closed since the last read. The beginning is read in any case: it shows whether
    // there is something to hold back.
    if (gate_ != nullptr && fsm_->answering() && held_back()) return exchange_step::wait;
    const std::span<char> buffer = core_.scratch();
    for (int reads = 0; reads < max_consecutive_reads; ++reads) {
        const net::io_outcome outcome = connection_->read(buffer);
        const auto now = core_.sockets().now();
        switch (outcome.status) {
        case net::io_status::would_block: return exchange_step::wait;
        case net::io_status::end: return fsm_->ended(stream_end::clean, {}, now);
        case net::io_status::truncated: return fsm_->ended(stream_end::truncated, {}, now);
        case net::io_status::failed: return fsm_->ended(stream_end::reset, outcome.ec, now);
        case net::io_status::done: break;
        }
        const exchange_step step = fsm_->received({buffer.data(), outcome.count}, now);
        if (step == exchange_step::finish || stop_after_ != cancel_reason::none) return step;
        if (gate_ != nullptr && held_back()) return exchange_step::wait;
        if (outcome.count < buffer.size() && connection_->short_read_is_last()) return step;
    }
    core_.sockets().again(*connection_, {true, false, false});
    return exchange_step::wait;
}

bool exchange_operation::held_back() noexcept {
    if (listening()) return true;
    if (gate_->open()) return false;
    fsm_->hold();
    gate_->listen(*this);
    return true;
}

void exchange_operation::on_open() noexcept {
    fsm_->release(core_.sockets().now());
    set_timer();
    // In the next turn, as this is called by the receiver. Readiness that came meanwhile was passed
    // over, and TLS may have something buffered: a read will show.
    core_.sockets().again(*connection_, {true, false, false});
}

void exchange_operation::on_io(net::readiness what) noexcept {
    exchange_step step = exchange_step::wait;
    in_callback_ = true;
    if (fsm_->sending() && what.writable) step = send();
    if (what.readable) {
        try {
            step = receive();
        } catch (const std::exception& thrown) {
            // A sink, or no memory for the body. Neither may unwind into the loop.
            step = fsm_->failed(
                error(errc::internal, std::string("while a response was read: ") + thrown.what()));
        }
    }
    in_callback_ = false;
    if (stop_after_ != cancel_reason::none && step != exchange_step::finish)
        step = fsm_->cancelled(stop_after_);
    perform(step);
}

void exchange_operation::on_timer() noexcept {
    timer_at_ = coro::clock::time_point::max();
    perform(fsm_->timed(core_.loop().now()));
}

void exchange_operation::stop(cancel_reason reason) noexcept {
    if (!in_callback_) {
        perform(fsm_->cancelled(reason));
        return;
    }
    running_exchange::unlink(); // whoever stops all of them is done with this one
    stop_after_ = reason;
}

void exchange_operation::set_timer() noexcept {
    const auto next = fsm_->next_time();
    if (next >= timer_at_) return;
    timer_at_ = next;
    core_.loop().schedule(*this, next);
}

void exchange_operation::finish() noexcept {
    cancel_hook::unhook();
    unlisten();
    unschedule();
    running_exchange::unlink();
    origin_->pool().leave(*this);
    ended_ = true;
    ++(fsm_->outcome() ? core_.counted.failed : core_.counted.finished);
    if (connection_ != nullptr) {
        if (fsm_->outcome()) connection_->abandon();
        origin_->give_back(*std::exchange(connection_, nullptr), fsm_->keeps_connection());
    }
    if (!handler_) return;
    auto handler = std::move(*handler_);
    handler_.reset();
    boost::asio::post(core_.loop().get_executor(),
                      [h = std::move(handler)]() mutable { std::move(h)(); });
}

} // namespace heddle::http
