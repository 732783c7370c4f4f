#include "http/server_connection.hpp"

#include <heddle/http/status.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <charconv>
#include <exception>
#include <new>
#include <span>
#include <utility>

namespace heddle::http {

namespace {

using net::io_status;

constexpr std::size_t first_room = 4 * 1024;
constexpr std::size_t kept_room = 64 * 1024;   // a buffer that grew beyond is given back
constexpr std::size_t max_ahead = 64 * 1024;   // read while a handler runs
constexpr std::size_t write_block = 64 * 1024; // that has write_time
/// What is received or sent at a stretch, before other connections have their turn.
constexpr std::size_t max_turn = 256 * 1024;

void append_number(std::string& out, std::uint64_t value, int base = 10) {
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, value, base).ptr);
}

/// A line end in a field would begin another one.
void append_field(std::string& out, std::string_view name, std::string_view value) {
    const auto begin = static_cast<std::ptrdiff_t>(out.size());
    out += name;
    out += ": ";
    out += value;
    const auto is_control = [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; };
    std::replace_if(out.begin() + begin, out.end(), is_control, ' ');
    out += "\r\n";
}

bool has_no_body(int status) noexcept { return status < 200 || status == 204 || status == 304; }

} // namespace

server_connection::server_connection(server_shared& shared, fs::descriptor socket, std::string peer,
                                     std::string client_key)
    : shared_(shared), stream_(shared.sockets, *this, std::move(socket)),
      client_key_(std::move(client_key)), peer_(std::move(peer)),
      parser_({shared.options.max_header_bytes, shared.options.max_body_bytes,
               shared.options.max_fields, shared.options.max_target_bytes}) {}

coro::task<void> server_connection::serve(std::shared_ptr<server_connection> self,
                                          coro::call_context context) {
    server_connection& me = *self;
    if (me.at_end_) co_return; // the server stopped before this began
    if (const auto ec = me.stream_.watch()) throw boost::system::system_error(ec);
    bool going = true;
    if (me.shared_.tls) going = co_await begin_tls(me);
    while (going) {
        const request_parser::step step =
            me.parser_.advance(std::string_view(me.in_).substr(me.begin_, me.end_ - me.begin_));
        if (step == request_parser::step::wrong) {
            co_await refuse(me, me.parser_.status(), me.parser_.reason());
            break;
        }
        if (step == request_parser::step::whole) {
            going = co_await respond(me, context);
            continue;
        }
        if (const early_refusal refused = me.refuse_early(); refused.status != 0) {
            std::vector<response_field> fields;
            if (refused.status == 401) fields.push_back({"WWW-Authenticate", "Bearer"});
            if (refused.retry_after)
                fields.push_back({"Retry-After", std::to_string(refused.retry_after->count())});
            co_await refuse(me, refused.status, refused.reason, std::move(fields));
            break;
        }
        if (me.parser_.wants_continue()) {
            going = co_await send_continue(me);
            if (!going) break;
        }
        const received got = co_await receive(me);
        if (got == received::too_late && me.phase_ == phase::receiving) {
            co_await refuse(me, 408,
                            me.parser_.has_header() ? "the body came too slowly"
                                                    : "the header came too slowly");
        }
        going = got == received::bytes;
    }
    if (!me.at_end_) me.stream_.close_notify();
    // Ended in order: the client sees what was sent, and then the end.
    me.stream_.end_sending();
    me.close();
}

coro::task<bool> server_connection::begin_tls(server_connection& self) {
    if (!self.stream_.secure(*self.shared_.tls)) co_return false;
    const coro::deadline until = self.in(self.shared_.options.header_time);
    for (;;) {
        const io_status status = self.stream_.handshake();
        if (status == io_status::done) co_return true;
        if (status != io_status::would_block) break;
        coro::wake woken = coro::wake::notified;
        if (self.stream_.wants_write()) woken = co_await wait_writable(self, until);
        else woken = co_await wait_readable(self, until);
        if (woken != coro::wake::notified || self.at_end_) break;
    }
    ++self.shared_.counters.refused;
    self.stream_.abandon_tls();
    self.at_end_ = true; // nothing can be sent over it
    co_return false;
}

coro::task<bool> server_connection::send_continue(server_connection& self) {
    self.parser_.continue_sent();
    self.out_ += "HTTP/1.1 100 Continue\r\n\r\n";
    const result<void> sent = co_await flush(self);
    co_return sent.has_value();
}

coro::task<server_connection::received> server_connection::receive(server_connection& self) {
    for (;;) {
        if (self.stream_.may_read()) {
            self.make_room(self.parser_.missing(self.end_ - self.begin_));
            const net::io_outcome got = self.read_some();
            if (got.status == io_status::done) {
                self.phase_ = phase::receiving;
                self.in_turn_ += got.count;
                if (self.in_turn_ < max_turn) co_return received::bytes;
                self.in_turn_ = 0;
                co_await coro::yield_now(self.shared_.loop);
                if (self.at_end_) co_return received::end;
                co_return received::bytes;
            }
            if (got.status != io_status::would_block) {
                self.at_end_ = true;
                co_return received::end;
            }
        }
        self.in_turn_ = 0;
        const bool between = self.begin_ == self.end_;
        if (between) {
            self.phase_ = phase::idle;
            if (self.shared_.stopping) co_return received::end;
            if (self.shared_.room.waiting()) self.shared_.room.notify();
        }
        const coro::wake woken = co_await wait_readable(self, self.receive_deadline());
        if (self.at_end_) co_return received::end;
        if (woken == coro::wake::timed_out) co_return received::too_late;
    }
}

/// The time of a part counts from its beginning, not anew from each byte.
coro::deadline server_connection::receive_deadline() {
    const server_options& options = shared_.options;
    if (phase_ == phase::idle) {
        limit_ = {};
        return in(options.idle);
    }
    if (!parser_.has_header()) {
        if (limit_.is_never()) limit_ = in(options.header_time);
    } else if (!std::exchange(limits_body_, true)) {
        limit_ = in(options.body_time);
    }
    return limit_;
}

/// A request that counts as in progress, and is cancelled when the client hangs up.
class server_connection::request_in_progress {
public:
    request_in_progress(server_connection& connection, coro::cancel_source& gone) noexcept
        : connection_(connection) {
        connection_.request_ = &gone;
        ++connection_.shared_.counters.requests;
        ++connection_.shared_.counters.in_progress;
    }
    request_in_progress(const request_in_progress&) = delete;
    request_in_progress& operator=(const request_in_progress&) = delete;
    ~request_in_progress() {
        connection_.request_ = nullptr;
        --connection_.shared_.counters.in_progress;
    }

private:
    server_connection& connection_;
};

coro::task<bool> server_connection::respond(server_connection& self, coro::call_context context) {
    server_request request = self.parser_.request();
    self.complete_request(request);
    self.phase_ = phase::responding;
    self.keep_alive_ = request.keep_alive;
    self.is_http_1_0_ = request.is_http_1_0;
    self.no_body_ = self.parser_.is_head();
    // The parser keeps what it has read: these bytes are not needed any more.
    self.begin_ += self.parser_.consumed();
    self.release_room();

    response_writer response(self);
    std::string thrown;
    bool failed = false;
    coro::cancel_source gone(context.cancel);
    {
        const request_in_progress going(self, gone);
        // What was notified before is not again. In the next turn: a client that has ended its side
        // right after the request gets a response that is there at once.
        if (self.stream_.may_read()) self.shared_.sockets.again(self, {true, false, false});
        try {
            co_await self.shared_.handler(request, response, context.with_cancel(gone));
        } catch (const std::exception& e) {
            failed = true;
            thrown = e.what();
        } catch (...) {
            failed = true;
        }
    }
    if (failed || !response.has_started()) {
        self.shared_.log.write(log_level::error, "server",
                               "a handler failed: " + (failed ? thrown : "it sent no response"));
    }
    // What was put and is not sent would be taken for the begin of the next response.
    bool whole = response.has_finished() && !failed && self.out_.empty();
    if (!response.has_started()) {
        self.keep_alive_ = false;
        response_head head;
        head.status = 500;
        std::string body = self.shared_.refusal_body(request.path(), 500, "internal error");
        const result<void> sent = co_await response.send(std::move(head), std::move(body));
        whole = sent.has_value();
    } else if (!whole && !failed) {
        const result<void> sent = co_await response.finish();
        whole = sent.has_value();
    }
    self.take_next();
    // Without its last chunk the client sees that the response is incomplete.
    co_return whole&& self.keep_alive_ && !self.shared_.stopping && !self.at_end_;
}

void server_connection::complete_request(server_request& request) const {
    request.peer = peer_;
    request.client = client_key_;
    request.is_secure = stream_.is_secure();
}

early_refusal server_connection::refuse_early() {
    if (!shared_.options.before_body || !parser_.has_header()) return {};
    if (std::exchange(is_asked_, true)) return {};
    server_request request = parser_.begun_request();
    complete_request(request);
    return shared_.options.before_body(request);
}

void server_connection::take_next() {
    is_asked_ = false;
    parser_.reset();
    limit_ = {};
    limits_body_ = false;
    phase_ = begin_ == end_ ? phase::idle : phase::receiving;
}

coro::task<void> server_connection::refuse(server_connection& self, int status,
                                           std::string_view why,
                                           std::vector<response_field> fields) {
    ++self.shared_.counters.refused;
    self.phase_ = phase::responding;
    self.keep_alive_ = false;
    self.no_body_ = self.parser_.is_head();
    const std::string body =
        self.shared_.refusal_body(self.parser_.begun_request().path(), status, why);
    response_head head;
    head.status = status;
    head.fields = std::move(fields);
    self.put_head(head, body.size());
    self.put_body(body);
    const result<void> sent = co_await flush(self);
    if (sent) co_await linger(self);
}

/// Reads on for a moment what the client is still sending: closing on unread bytes would reset the
/// connection, and the client might never see the response (RFC 9112, 9.6).
coro::task<void> server_connection::linger(server_connection& self) {
    constexpr std::chrono::milliseconds longest{500};
    constexpr std::size_t most = 1024 * 1024;
    self.stream_.close_notify();
    self.stream_.end_sending();
    const coro::deadline until = self.in(longest);
    for (std::size_t read = 0; read < most && !self.at_end_;) {
        self.begin_ = self.end_ = 0;
        self.make_room(0);
        const net::io_outcome got = self.stream_.read_raw(self.in_);
        if (got.status == io_status::done) {
            read += got.count;
            continue;
        }
        if (got.status != io_status::would_block) break;
        const coro::wake woken = co_await wait_readable(self, until);
        if (woken != coro::wake::notified) break;
    }
    self.at_end_ = true;
}

coro::task<result<void>> server_connection::flush(server_connection& self) {
    std::size_t sent = 0;
    std::size_t in_block = 0;
    std::size_t in_turn = 0;
    coro::deadline until = self.in(self.shared_.options.write_time);
    bool fine = !self.at_end_;
    while (fine && sent < self.out_.size()) {
        const net::io_outcome put =
            self.stream_.write_some(std::string_view(self.out_).substr(sent, max_turn));
        if (put.status == io_status::done) {
            sent += put.count;
            in_block += put.count;
            if (in_block >= write_block) {
                in_block = 0;
                until = self.in(self.shared_.options.write_time);
            }
            in_turn += put.count;
            if (in_turn >= max_turn) {
                in_turn = 0;
                co_await coro::yield_now(self.shared_.loop);
                fine = !self.at_end_;
            }
            continue;
        }
        fine = false;
        if (put.status == io_status::would_block) {
            const coro::wake woken = co_await wait_writable(self, until);
            fine = woken == coro::wake::notified && !self.at_end_;
        }
    }
    self.out_.clear();
    if (self.out_.capacity() > kept_room) std::string().swap(self.out_);
    if (fine) co_return result<void>();
    self.hang_up();
    co_return error::cancelled(cancel_reason::user, "the client has hung up");
}

void server_connection::put_head(const response_head& head, std::optional<std::size_t> length) {
    if (shared_.stopping) keep_alive_ = false;
    if (!length && is_http_1_0_) keep_alive_ = false; // its end is that of the connection
    if (has_no_body(head.status)) {
        no_body_ = true;
        length.reset();
    }
    out_ += "HTTP/1.1 ";
    append_number(out_, static_cast<std::uint64_t>(std::clamp(head.status, 100, 999)));
    out_ += ' ';
    out_ += status_text(head.status);
    out_ += "\r\nDate: ";
    out_ += shared_.date();
    out_ += "\r\n";
    if (!head.content_type.empty()) append_field(out_, "Content-Type", head.content_type);
    for (const response_field& each : head.fields) append_field(out_, each.name, each.value);
    if (length) {
        out_ += "Content-Length: ";
        append_number(out_, *length);
        out_ += "\r\n";
    } else if (!is_http_1_0_ && !has_no_body(head.status)) {
        out_ += "Transfer-Encoding: chunked\r\n";
    }
    if (!keep_alive_) out_ += "Connection: close\r\n";
    else if (is_http_1_0_) out_ += "Connection: keep-alive\r\n";
    out_ += "\r\n";
}

void server_connection::put_body(std::string_view bytes) {
    if (!no_body_) out_ += bytes;
}

void server_connection::put_chunk(std::string_view bytes) {
    if (no_body_ || bytes.empty()) return;
    if (is_http_1_0_) {
        out_ += bytes;
        return;
    }
    append_number(out_, bytes.size(), 16);
    out_ += "\r\n";
    out_ += bytes;
    out_ += "\r\n";
}

void server_connection::put_last_chunk() {
    if (!no_body_ && !is_http_1_0_) out_ += "0\r\n\r\n";
}

coro::task<coro::wake> server_connection::wait_readable(server_connection& self,
                                                        coro::deadline until) {
    return self.readable_.wait(coro::call_context{&self.shared_.loop, nullptr, until});
}

coro::task<coro::wake> server_connection::wait_writable(server_connection& self,
                                                        coro::deadline until) {
    return self.writable_.wait(coro::call_context{&self.shared_.loop, nullptr, until});
}

/// Nobody is notified who does not wait: whoever waits has looked at the socket just before.
void server_connection::on_ready(net::readiness what) noexcept {
    stream_.note(what);
    if (what.writable && writable_.waiting()) writable_.notify();
    // TLS may have to write before it reads on.
    what.readable = what.readable || (what.writable && stream_.may_read());
    if (!what.readable) return;
    if (request_ == nullptr) {
        if (readable_.waiting()) readable_.notify();
        return;
    }
    try {
        read_ahead();
    } catch (const std::bad_alloc&) { // its end would not show
        hang_up();
    }
}

/// While a handler runs: keeps what comes for later, and notices the end.
void server_connection::read_ahead() {
    while (end_ - begin_ < max_ahead) {
        make_room(0);
        const net::io_outcome got = read_some();
        if (got.status == io_status::done && stream_.may_read()) continue;
        if (got.status == io_status::done || got.status == io_status::would_block) return;
        hang_up();
        return;
    }
    hang_up(); // without reading, its end would not show, and what it asked would go on
}

void server_connection::hang_up() noexcept {
    at_end_ = true;
    if (request_ != nullptr) request_->request(cancel_reason::user);
    if (writable_.waiting()) writable_.notify();
}

net::io_outcome server_connection::read_some() {
    const std::span<char> room(in_.data() + end_, std::min(in_.size() - end_, max_turn));
    const net::io_outcome got = stream_.read_some(room);
    if (got.status == io_status::done) end_ += got.count;
    return got;
}

/// Frees the room of a large request of which nothing is left.
void server_connection::release_room() noexcept {
    if (begin_ != end_) return;
    begin_ = end_ = 0;
    if (in_.size() > kept_room) std::string().swap(in_);
}

void server_connection::make_room(std::size_t missing) {
    release_room();
    if (begin_ != 0) { // a request never wraps: what is left moves to the front
        std::copy(in_.begin() + static_cast<std::ptrdiff_t>(begin_),
                  in_.begin() + static_cast<std::ptrdiff_t>(end_), in_.begin());
        end_ -= begin_;
        begin_ = 0;
    }
    // The body's length is known in advance, but it is only a claim: room grows with what comes,
    // and not beyond that length.
    const std::size_t least = end_ + (missing == 0 ? 1 : std::min(missing, end_ + first_room));
    if (in_.size() >= least) return;
    std::size_t size = std::max({least, first_room, in_.size() * 2});
    if (missing != 0) size = std::min(size, std::max(end_ + missing, first_room));
    std::string grown;
    grown.reserve(size); // exactly: a string that grows doubles
    grown.assign(in_, 0, end_);
    grown.resize(size);
    in_.swap(grown);
}

coro::deadline server_connection::in(std::chrono::milliseconds time) const noexcept {
    return coro::deadline(shared_.loop.now() + time);
}

void server_connection::stop() noexcept {
    if (phase_ == phase::idle) close();
}

void server_connection::close() noexcept {
    hang_up();
    if (readable_.waiting()) readable_.notify();
    stream_.close();
}

} // namespace heddle::http
