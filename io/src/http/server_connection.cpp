#include "http/server_connection.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <span>
#include <utility>

namespace heddle::http {

namespace {

using net::io_status;

constexpr std::size_t first_room = 4 * 1024;
constexpr std::size_t max_ahead = 64 * 1024; // read while a handler runs
/// Pipelined requests before other connections have their turn: so many, or for so long.
constexpr unsigned max_requests_in_turn = 16;
constexpr std::chrono::milliseconds max_turn_time{1};
/// A request of this size is received also above max_received_bytes.
constexpr std::size_t small_request = 16 * 1024;
constexpr std::chrono::seconds refusal_wait{1};

} // namespace

server_connection::server_connection(server_shared& shared, fs::descriptor socket, std::string peer,
                                     std::string client_key)
    : shared_(shared), stream_(shared.sockets, *this, std::move(socket)),
      client_key_(std::move(client_key)), peer_(std::move(peer)),
      parser_({shared.options.max_header_bytes, shared.options.max_body_bytes,
               shared.options.max_fields, shared.options.max_target_bytes}) {}

// An exception may have ended serve() before it closed the connection.
server_connection::~server_connection() { count_received(0); }

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
            if (going && me.ends_turn()) {
                co_await coro::yield_now(me.shared_.loop);
                going = !me.at_end_;
            }
            continue;
        }
        me.drop_taken();
        early_refusal refused = me.refuse_early();
        if (refused.status != 0) {
            co_await turn_down(me, std::move(refused));
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
        if (got == received::shut_down && me.phase_ == phase::receiving) {
            early_refusal ended{503, "the server is shutting down", refusal_wait};
            co_await turn_down(me, std::move(ended));
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
        if (self.shared_.is_over) co_return received::shut_down;
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
        self.requests_in_turn_ = 0;
        // The parser has taken a body out of the room as far as it has come.
        const bool between = self.begin_ == self.end_ && !self.parser_.has_header();
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
    self.count_received();

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
    const server_options& options = shared_.options;
    if (options.before_body && parser_.has_header() && !std::exchange(is_asked_, true)) {
        server_request request = parser_.begun_request();
        complete_request(request);
        early_refusal refused = options.before_body(request);
        if (refused.status != 0) return refused;
    }
    const std::size_t most = options.max_received_bytes;
    if (shared_.counters.received_bytes <= most) return {};
    // One client with many large requests is not to keep the others from theirs.
    const bool has_share = client_ && client_->received_bytes <= most / 4;
    if (has_share && shared_.counters.received_bytes / 2 <= most) return {};
    const std::size_t have = parser_.body_size() + (end_ - begin_);
    if (have <= small_request && parser_.missing(end_ - begin_) <= small_request - have) return {};
    return {503, "the requests in progress are too large together", refusal_wait};
}

void server_connection::drop_taken() noexcept {
    begin_ += parser_.drop_taken();
    release_room();
    count_received();
}

void server_connection::count_received() noexcept {
    count_received(end_ - begin_ + parser_.body_room());
}

void server_connection::count_received(std::size_t now) noexcept {
    shared_.counters.received_bytes += now - received_;
    if (client_) client_->received_bytes += now - received_;
    received_ = now;
}

void server_connection::count_for_nobody() noexcept {
    count_received(0);
    client_ = nullptr;
}

bool server_connection::ends_turn() noexcept {
    // Of a client that waits for each response, nothing is there yet: no look at the clock.
    const bool is_first = requests_in_turn_++ == 0;
    if (begin_ == end_ && requests_in_turn_ < max_requests_in_turn) return false;
    const coro::clock::time_point now = shared_.loop.now();
    if (is_first) turn_end_ = now + max_turn_time;
    if (requests_in_turn_ < max_requests_in_turn && now < turn_end_) return false;
    requests_in_turn_ = 0;
    return true;
}

void server_connection::take_next() {
    is_asked_ = false;
    parser_.reset();
    count_received();
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
    self.parser_.discard_body();
    self.begin_ = self.end_;
    self.release_room();
    self.count_received();
    const result<void> sent = co_await flush(self);
    if (sent) co_await linger(self);
}

/// With the fields that belong to the reason.
coro::task<void> server_connection::turn_down(server_connection& self, early_refusal refused) {
    std::vector<response_field> fields;
    if (refused.status == 401) fields.push_back({"WWW-Authenticate", "Bearer"});
    if (refused.retry_after)
        fields.push_back({"Retry-After", std::to_string(refused.retry_after->count())});
    co_await refuse(self, refused.status, refused.reason, std::move(fields));
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
        count_received();
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
    is_room_full_ = got.status == io_status::done && got.count == room.size();
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
    std::size_t least = end_ + (missing == 0 ? 1 : std::min(missing, end_ + first_room));
    // The parser takes a body out of the room: what is left of it is not a measure of what comes.
    const bool ends_in_room = missing != 0 && missing <= in_.size() - end_;
    if (is_room_full_ && !ends_in_room && in_.size() < kept_room)
        least = std::max(least, std::min(in_.size() * 2, kept_room));
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

void server_connection::end_receiving() noexcept {
    if (phase_ == phase::receiving && readable_.waiting()) readable_.notify();
}

void server_connection::close() noexcept {
    hang_up();
    count_received(0);
    if (readable_.waiting()) readable_.notify();
    stream_.close();
}

} // namespace heddle::http
