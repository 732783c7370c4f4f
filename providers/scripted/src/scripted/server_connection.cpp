#include "scripted/server_connection.hpp"

#include <heddle/http/status.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <charconv>
#include <ctime>

namespace heddle::scripted {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t first_room = 2 * 1024;
constexpr std::size_t kept_room = 64 * 1024;         // a buffer that grew beyond is given back
constexpr std::size_t max_unsent_bytes = 256 * 1024; // of responses to pipelined requests

void append_number(std::string& out, std::int64_t value, int base = 10) {
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, value, base).ptr);
}

std::int64_t now_in_seconds() noexcept { return static_cast<std::int64_t>(std::time(nullptr)); }

} // namespace

server_connection::server_connection(server_shared& shared, server_socket socket)
    : shared_(shared), socket_(std::move(socket)),
      parser_({shared.options.max_header_bytes, shared.options.max_body_bytes}) {}

coro::task<void> server_connection::serve(std::shared_ptr<server_connection> self,
                                          coro::call_context context) {
    server_connection& me = *self;
    for (;;) {
        const std::string_view received(me.in_.data() + me.begin_, me.end_ - me.begin_);
        const http::request_parser::step step = me.parser_.advance(received);
        if (step == http::request_parser::step::need_more) {
            const bool sent = co_await flush(me);
            if (!sent) break;
            const bool more = co_await receive(me);
            if (!more) break;
            continue;
        }
        me.phase_ = phase::answering;
        me.unschedule();
        ++me.shared_.counters.requests;
        if (step == http::request_parser::step::wrong) {
            me.keep_alive_ = false;
            me.write_error(me.parser_.status(), me.parser_.reason(), "invalid_request_error", {});
            const bool sent = co_await flush(me);
            if (sent) co_await linger(me);
            break;
        }
        ++me.shared_.counters.in_flight;
        bool going = true;
        if (me.take_request()) going = co_await answer_chat(me, context);
        --me.shared_.counters.in_flight;
        me.begin_ += me.parser_.consumed();
        me.parser_.reset();
        me.phase_ = me.begin_ == me.end_ ? phase::idle : phase::receiving;
        const bool last = !going || !me.keep_alive_ || me.shared_.stopping;
        if (last || me.out_.size() > max_unsent_bytes) {
            const bool sent = co_await flush(me);
            if (!sent) break;
        }
        if (last) break;
    }
    me.unschedule();
    // Ended in order: the client sees what was sent, and then the end.
    error_code ignored;
    me.socket_.shutdown(asio::socket_base::shutdown_send, ignored);
    me.close();
}

coro::task<bool> server_connection::receive(server_connection& self) {
    if (self.parser_.wants_continue()) {
        self.parser_.continue_sent();
        self.out_ += "HTTP/1.1 100 Continue\r\n\r\n";
        const bool sent = co_await flush(self);
        if (!sent) co_return false;
    }
    self.make_room();
    self.phase_ = self.begin_ == self.end_ ? phase::idle : phase::receiving;
    if (self.phase_ == phase::idle && self.shared_.stopping) co_return false;
    // The time of a request counts from its first byte, not anew from each.
    if (self.phase_ == phase::idle) self.limit_time(self.shared_.options.idle);
    else if (!self.scheduled()) self.limit_time(self.shared_.options.receive);
    error_code ec;
    const std::size_t count = co_await self.socket_.async_read_some(
        asio::buffer(self.in_.data() + self.end_, self.in_.size() - self.end_),
        asio::redirect_error(coro::use_task, ec));
    if (ec) co_return false;
    if (self.phase_ == phase::idle) self.limit_time(self.shared_.options.receive);
    self.end_ += count;
    co_return true;
}

coro::task<bool> server_connection::flush(server_connection& self) {
    if (self.out_.empty()) co_return true;
    // Nearly every response fits the socket's buffer: no need to wait for it.
    error_code ec;
    const std::size_t count = self.socket_.write_some(asio::buffer(self.out_), ec);
    if (ec && ec != asio::error::would_block) co_return false;
    if (count < self.out_.size()) {
        ec = {};
        self.limit_time(self.shared_.options.receive);
        co_await asio::async_write(self.socket_, asio::buffer(self.out_) + count,
                                   asio::redirect_error(coro::use_task, ec));
        self.unschedule();
        if (ec) co_return false;
    }
    if (self.out_.capacity() > kept_room) self.out_ = {};
    self.out_.clear();
    co_return true;
}

/// Reads on for a moment what the client is still sending: closing on unread bytes would reset the
/// connection, and the client might never see the response (RFC 9112, 9.6).
coro::task<void> server_connection::linger(server_connection& self) {
    constexpr std::chrono::milliseconds longest{500};
    constexpr std::size_t most = 1024 * 1024;
    error_code ec;
    self.socket_.shutdown(asio::socket_base::shutdown_send, ec);
    self.limit_time(longest);
    self.in_.resize(std::max(self.in_.size(), first_room));
    for (std::size_t read = 0; !ec && read < most;) {
        read += co_await self.socket_.async_read_some(asio::buffer(self.in_),
                                                      asio::redirect_error(coro::use_task, ec));
    }
}

coro::task<bool> server_connection::answer_chat(server_connection& self,
                                                coro::call_context context) {
    const std::chrono::milliseconds delay = self.pending_.result.delay;
    if (delay.count() > 0) {
        const bool sent = co_await flush(self); // what earlier requests still have coming
        if (!sent) co_return false;
        const bool still_there = co_await pause(self, delay, context);
        if (!still_there) co_return false;
    }
    const bool is_answer =
        std::holds_alternative<ports::chat_response>(self.pending_.result.answer);
    if (is_answer && self.pending_.asked.stream) {
        const bool sent = co_await stream_answer(self, context);
        co_return sent;
    }
    self.write_chat();
    co_return true;
}

coro::task<bool> server_connection::pause(server_connection& self, std::chrono::milliseconds time,
                                          coro::call_context context) {
    self.watch_peer();
    const coro::deadline until(self.shared_.loop.now() + time);
    const coro::wake woken = co_await self.pause_.wait(context.with_deadline(until));
    co_return woken == coro::wake::timed_out && !self.peer_gone_;
}

coro::task<bool> server_connection::stream_answer(server_connection& self,
                                                  coro::call_context context) {
    const auto& answer = std::get<ports::chat_response>(self.pending_.result.answer);
    const std::chrono::milliseconds pause_time = self.pending_.result.piece_delay;
    const auto pieces = stream_pieces(answer.refusal.empty() ? answer.text : answer.refusal);
    const auto events =
        self.pending_.format->events(self.pending_.asked, answer, pieces, now_in_seconds());
    if (self.http_1_0_) self.keep_alive_ = false; // such a response ends with its connection
    self.out_ += "HTTP/1.1 200 OK\r\ncontent-type: ";
    self.out_ += self.pending_.format->stream_type();
    self.out_ += "\r\ncache-control: no-cache\r\n";
    self.out_ += self.http_1_0_ ? "" : "transfer-encoding: chunked\r\n";
    self.out_ += self.keep_alive_ ? "\r\n" : "connection: close\r\n\r\n";
    for (std::string event;;) {
        const bool slow = pause_time.count() > 0 && events->at_piece();
        event.clear();
        if (!events->next(event)) break;
        if (self.http_1_0_) {
            self.out_ += event;
        } else {
            append_number(self.out_, static_cast<std::int64_t>(event.size()), 16);
            self.out_ += "\r\n" + event + "\r\n";
        }
        if (!slow) continue;
        const bool sent = co_await flush(self);
        if (!sent) co_return false;
        const bool still_there = co_await pause(self, pause_time, context);
        if (!still_there) co_return false;
    }
    if (!self.http_1_0_) self.out_ += "0\r\n\r\n";
    co_return true;
}

void server_connection::make_room() {
    if (begin_ != 0) { // a request never wraps: what is left moves to the front
        std::copy(in_.begin() + static_cast<std::ptrdiff_t>(begin_),
                  in_.begin() + static_cast<std::ptrdiff_t>(end_), in_.begin());
        end_ -= begin_;
        begin_ = 0;
    }
    if (end_ == 0 && in_.size() > kept_room) {
        in_.clear();
        in_.shrink_to_fit();
    }
    // The bounds of the parser bound this too. The body's length is known in advance, but it is
    // only a claim: room grows with what really comes.
    const std::size_t wanted =
        end_ + std::clamp<std::size_t>(parser_.missing(end_), 1, end_ + first_room);
    if (in_.size() < wanted) in_.resize(std::max(wanted, std::max(first_room, in_.size() * 2)));
}

bool server_connection::take_request() {
    const http::server_request& request = parser_.request();
    keep_alive_ = request.keep_alive;
    http_1_0_ = request.is_http_1_0;
    const served_route route = find_route(request);
    pending_ = {};
    pending_.format = route.format;
    if (route.what == served_route::kind::health) {
        write_json(200, R"({"status":"ok"})");
        return false;
    }
    if (!is_allowed(key_of(request))) {
        write_error(401, "Incorrect API key provided.", "authentication_error", "invalid_api_key");
        return false;
    }
    if (route.what == served_route::kind::unknown) {
        write_error(404, "Unknown path.", "invalid_request_error", "unknown_url");
        return false;
    }
    // Whatever answers GET answers HEAD (RFC 9110, 9.1).
    const bool is_head_of_get = parser_.is_head() && route.method == "GET";
    if (request.method != route.method && !is_head_of_get) {
        write_error(405, "This path has another method.", "invalid_request_error",
                    "method_not_supported");
        return false;
    }
    if (route.what == served_route::kind::chat) {
        take_chat(route, request.body);
        return true;
    }
    write_models(route);
    return false;
}

void server_connection::write_models(const served_route& route) {
    const auto& models = shared_.rules->models();
    std::string& body = shared_.body;
    body.clear();
    if (route.what == served_route::kind::models) {
        route.format->append_models(body, models);
    } else if (std::find(models.begin(), models.end(), route.model) != models.end()) {
        route.format->append_model(body, route.model);
    } else {
        write_error(404, "The model does not exist.", "invalid_request_error", "model_not_found");
        return;
    }
    write_json(200, body);
}

void server_connection::take_chat(const served_route& route, std::string_view body) {
    result<served_chat> read = route.format->decode(shared_.reader, route.target, body);
    if (!read) {
        fault wrong;
        wrong.status = 400;
        wrong.type = "invalid_request_error";
        wrong.message = read.error().message();
        pending_.result.answer = std::move(wrong);
        return;
    }
    pending_.asked = *std::move(read);
    pending_.result = shared_.rules->answer(pending_.asked.chat);
    pending_.asked.chat = {}; // its texts are not needed while the response waits
}

void server_connection::write_chat() {
    if (const auto* failed = std::get_if<fault>(&pending_.result.answer)) {
        write_fault(*failed);
        return;
    }
    shared_.body.clear();
    pending_.format->append_answer(
        shared_.body, std::get<ports::chat_response>(pending_.result.answer), now_in_seconds());
    write_json(200, shared_.body);
}

void server_connection::write_fault(const fault& shown) {
    std::string headers;
    if (shown.retry_after && pending_.format->wait_in_headers()) {
        headers = "retry-after: ";
        append_number(headers, std::chrono::ceil<std::chrono::seconds>(*shown.retry_after).count());
        headers += "\r\nretry-after-ms: ";
        append_number(headers, shown.retry_after->count());
        headers += "\r\n";
    }
    shared_.body.clear();
    pending_.format->append_fault(shared_.body, shown);
    write_json(shown.status, shared_.body, headers);
}

void server_connection::write_error(int status, std::string_view message, std::string_view type,
                                    std::string_view code) {
    fault shown;
    shown.status = status;
    shown.message = message;
    shown.type = type;
    shown.code = code;
    write_fault(shown);
}

void server_connection::write_json(int status, std::string_view body,
                                   std::string_view more_headers) {
    if (shared_.stopping) keep_alive_ = false;
    if (status == 200) {
        out_ += "HTTP/1.1 200 OK\r\n";
    } else {
        out_ += "HTTP/1.1 ";
        append_number(out_, status);
        out_ += ' ';
        out_ += http::status_text(status);
        out_ += "\r\n";
    }
    out_ += "content-type: application/json\r\n";
    out_ += more_headers;
    if (!keep_alive_) out_ += "connection: close\r\n";
    else if (http_1_0_) out_ += "connection: keep-alive\r\n";
    out_ += "content-length: ";
    append_number(out_, static_cast<std::int64_t>(body.size()));
    out_ += "\r\n\r\n";
    // The client takes what follows the response to a HEAD for the next response (RFC 9110, 9.3.2).
    if (!parser_.is_head()) out_ += body;
}

bool server_connection::is_allowed(std::string_view given) const noexcept {
    const std::string_view wanted = shared_.options.required_key.reveal();
    if (wanted.empty()) return true;
    if (given.size() != wanted.size()) return false;
    unsigned different = 0; // as long for a wrong first byte as for a wrong last one
    for (std::size_t i = 0; i < given.size(); ++i) {
        different |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(wanted[i]);
    }
    return different == 0;
}

/// Detects that the client has hung up while its response is delayed and nothing is read. Pipelined
/// requests stay unread.
void server_connection::watch_peer() {
    if (watching_ || begin_ + parser_.consumed() != end_) return;
    watching_ = true;
    socket_.async_wait(
        asio::socket_base::wait_read, [self = shared_from_this()](const error_code& ec) {
            self->watching_ = false;
            if (ec) return;
            char byte = 0;
            error_code peek;
            self->socket_.receive(asio::buffer(&byte, 1), asio::socket_base::message_peek, peek);
            if (!peek || peek == asio::error::would_block) return;
            self->peer_gone_ = true;
            if (self->pause_.waiting()) self->pause_.notify();
        });
}

void server_connection::limit_time(std::chrono::milliseconds time) {
    shared_.loop.schedule(*this, shared_.loop.now() + time);
}

void server_connection::stop() noexcept {
    if (phase_ == phase::idle) close();
}

void server_connection::close() noexcept {
    error_code ignored;
    socket_.close(ignored);
}

} // namespace heddle::scripted
