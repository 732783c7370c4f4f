#include <heddle/http/server.hpp>

#include "http/server_connection.hpp"
#include "http/server_shared.hpp"
#include "net/socket_io.hpp"

#include <heddle/base/exceptions.hpp>
#include <heddle/coro/nursery.hpp>
#include <heddle/fs/descriptor.hpp>
#include <heddle/http/status.hpp>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <boost/asio/socket_base.hpp>

#include <algorithm>
#include <memory>
#include <new>

#include <sys/socket.h>

namespace heddle::http {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using acceptor_type = asio::basic_socket_acceptor<tcp, coro::executor>;

/// How long accepting pauses when the process has no file descriptor or memory left.
constexpr std::chrono::milliseconds shortage_pause{20};
/// Without a pause for this long, a shortage is over. Each is logged once.
constexpr std::chrono::seconds shortage_end{10};
/// Pauses in a row for which there was no memory either.
constexpr unsigned max_refused_pauses = 1000;
/// Connections that are taken before the other work of the loop has its turn.
constexpr int max_at_once = 64;

error port_error(std::string what, const error_code& ec) {
    return error(errc::io_error, "server: " + std::move(what) + ": " + ec.message());
}

/// server_request::client.
std::string key_of(const asio::ip::address& address) {
    if (address.is_v4()) return address.to_string();
    const asio::ip::address_v6 v6 = address.to_v6();
    if (v6.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, v6).to_string();
    return asio::ip::network_v6(v6, 64).canonical().to_string();
}

/// Sends what the socket takes at once: nobody waits for a client that has too many connections.
void turn_away(int socket, const server_shared& shared) {
    if (!shared.tls) {
        const std::string body =
            shared.refusal_body({}, 429, "there are too many connections from your address");
        const std::string text = "HTTP/1.1 429 " + std::string(status_text(429)) +
                                 "\r\nContent-Type: application/json\r\nConnection: close\r\n"
                                 "Content-Length: " +
                                 std::to_string(body.size()) + "\r\n\r\n" + body;
        (void)net::write_some(socket, text, net::more_follows::no);
        (void)::shutdown(socket, SHUT_WR);
    }
}

} // namespace

const std::string& server_shared::date() {
    const std::time_t now = std::chrono::system_clock::to_time_t(loop.time_of_day());
    if (now == date_second_) return date_;
    static constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                             "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char text[48];
    // Not strftime: its names are those of the locale.
    const int size = std::snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT",
                                   days[parts.tm_wday], parts.tm_mday, months[parts.tm_mon],
                                   parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
    date_.assign(text, static_cast<std::size_t>(std::max(size, 0)));
    date_second_ = now;
    return date_;
}

struct server::state {
    state(server_options options, request_handler handler, coro::event_loop& loop, log_port& log)
        : shared(std::move(options), std::move(handler), loop, log),
          acceptor(loop.context().get_executor()), incoming(std::make_shared<client_signal>()) {}

    /// Is notified when a client waits in the kernel, or the port is closed.
    struct client_signal {
        coro::wait_point ready;
        bool is_armed = false;
    };

    /// Is notified of cancellation and of the deadline, in the place of the acceptor, which cannot.
    class stop_signal final : public coro::cancel_hook, public coro::timer_node {
    public:
        explicit stop_signal(state& owner) noexcept : owner_(owner) {}

    private:
        void on_cancel(cancel_reason) noexcept override { owner_.break_off(); }
        void on_timer() noexcept override { owner_.break_off(); }
        state& owner_;
    };

    void stop() noexcept {
        if (std::exchange(shared.stopping, true)) return;
        error_code ignored;
        acceptor.close(ignored);
        shared.room.notify();
        for (server_connection& open : connections) open.stop();
    }
    void break_off() noexcept {
        stop();
        broken_off = true;
        if (all_closed.waiting()) all_closed.notify();
    }

    /// A connection in the list and the counts of the server. It leaves them with this object, also
    /// if its coroutine is never started.
    class open_connection {
    public:
        open_connection(state& owner, std::shared_ptr<server_connection> connection)
            : owner_(owner), connection_(std::move(connection)) {
            owner_.add(*connection_);
        }
        open_connection(open_connection&& other) noexcept = default;
        open_connection& operator=(open_connection&&) = delete;
        ~open_connection() {
            if (connection_) owner_.remove(*connection_);
        }
        [[nodiscard]] state& owner() const noexcept { return owner_; }
        [[nodiscard]] const std::shared_ptr<server_connection>& get() const noexcept {
            return connection_;
        }

    private:
        state& owner_;
        std::shared_ptr<server_connection> connection_; ///< null: moved from
    };

    /// `children` outlives the coroutines: serve() joins before it ends.
    // NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)
    [[nodiscard]] coro::task<result<void>> accept_all(coro::nursery& children);
    [[nodiscard]] coro::task<result<void>> accept_next(coro::nursery& children);
    // NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)
    [[nodiscard]] static coro::task<result<void>> run_connection(open_connection started,
                                                                 coro::call_context context);
    [[nodiscard]] coro::task<void> wait_for_client();
    [[nodiscard]] coro::task<void> pause();
    [[nodiscard]] coro::task<void> wait_closed(std::chrono::milliseconds time);
    void take(fs::descriptor socket, const asio::ip::address& peer, coro::nursery& children);
    void take_waiting(coro::nursery& children);
    void add(server_connection& connection);
    void remove(server_connection& connection) noexcept;
    void end_receiving() noexcept;
    void log_failure(const char* what) noexcept;
    void log_shortage(std::string_view what) noexcept;
    void close_idle() noexcept;

    server_shared shared;
    acceptor_type acceptor;
    std::shared_ptr<client_signal> incoming; ///< shared with the wait of the acceptor
    boost::intrusive::list<server_connection, boost::intrusive::constant_time_size<false>>
        connections;
    coro::wait_point all_closed;
    std::string host;
    std::uint16_t port = 0;
    std::optional<coro::clock::time_point> last_shortage;
    bool broken_off = false;
};

result<std::unique_ptr<server>> server::listen(server_options options, request_handler handler,
                                               coro::event_loop& loop, log_port& log) {
    error_code ec;
    const asio::ip::address address = asio::ip::make_address(options.address, ec);
    if (ec) {
        return error(errc::invalid_argument,
                     "server: '" + options.address + "' is not an IP address");
    }
    const tcp::endpoint endpoint(address, options.port);
    auto object = std::make_unique<state>(std::move(options), std::move(handler), loop, log);
    if (const auto& tls = object->shared.options.tls) {
        HEDDLE_TRY(object->shared.tls,
                   net::tls_context::create_server(tls->certificate_file, tls->key_file));
    }
    object->host = address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
    const std::string where = object->host + ":" + std::to_string(endpoint.port());
    object->acceptor.open(endpoint.protocol(), ec);
    if (!ec) object->acceptor.set_option(acceptor_type::reuse_address(true), ec);
    if (!ec) object->acceptor.bind(endpoint, ec);
    constexpr int backlog = 4096; // the kernel caps it
    if (!ec) object->acceptor.listen(backlog, ec);
    if (!ec) object->acceptor.non_blocking(true, ec);
    if (!ec) ec = object->shared.sockets.failure();
    if (ec) return port_error("cannot listen on " + where, ec);
    object->port = object->acceptor.local_endpoint(ec).port();
    if (ec) return port_error("cannot listen on " + where, ec);
    return std::unique_ptr<server>(new server(std::move(object)));
}

coro::task<result<void>> server::serve(coro::call_context context) {
    state& self = *state_;
    coro::event_loop& loop = self.shared.loop;
    state::stop_signal signal(self);
    if (context.stop_error()) self.break_off();
    else if (context.cancel) context.cancel->hook(signal);
    if (!context.until.is_never()) loop.schedule(signal, context.until.at());

    // The handlers are cancelled by the context, or when the time to drain is over. A connection
    // that fails ends no other.
    coro::nursery children(coro::call_context{&loop, context.cancel, {}},
                           coro::nursery::on_failure::ignore);
    result<void> accepted;
    // Whatever is thrown, the children must be joined.
    try {
        accepted = co_await self.accept_all(children);
        self.stop();
        if (!self.broken_off) co_await self.wait_closed(self.shared.options.drain);
        children.cancel(cancel_reason::shutdown);
        self.end_receiving();
        self.broken_off = false;
        co_await self.wait_closed(self.shared.options.close_time);
    } catch (...) {
        accepted = error_of_exception("the server");
        self.stop();
        children.cancel(cancel_reason::shutdown);
    }
    for (server_connection& open : self.connections) open.close();
    result<void> joined = co_await children.join();
    signal.unschedule();
    loop.settle(); // the times of connections that are gone hold nobody
    if (!accepted) co_return accepted;
    co_return joined;
}

coro::task<void> server::state::wait_closed(std::chrono::milliseconds time) {
    const coro::deadline until(shared.loop.now() + time);
    while (shared.counters.open_connections != 0 && !broken_off) {
        const coro::wake woken =
            co_await all_closed.wait(coro::call_context{&shared.loop, nullptr, until});
        if (woken == coro::wake::timed_out) break;
    }
}

coro::task<result<void>> server::state::accept_all(coro::nursery& children) {
    unsigned refused_pauses = 0;
    while (!shared.stopping) {
        bool has_memory = true;
        try {
            result<void> accepted = co_await accept_next(children);
            if (!accepted) co_return accepted;
        } catch (const std::bad_alloc&) { // this client has lost its connection, and no other
            has_memory = false;
        }
        if (has_memory) continue;
        log_shortage("accepting pauses: out of memory");
        try {
            co_await pause();
            refused_pauses = 0;
        } catch (const std::bad_alloc&) {
            if (++refused_pauses == max_refused_pauses) throw;
        }
    }
    co_return result<void>();
}

coro::task<result<void>> server::state::accept_next(coro::nursery& children) {
    co_await wait_for_client();
    if (shared.stopping) co_return result<void>();
    tcp::endpoint peer;
    error_code ec;
    fs::descriptor socket(net::accept_one(acceptor.native_handle(), peer, ec));
    if (ec == asio::error::would_block || ec == asio::error::connection_aborted ||
        ec == boost::system::errc::protocol_error)
        co_return result<void>();
    if (ec == asio::error::no_descriptors ||
        ec == boost::system::errc::too_many_files_open_in_system ||
        ec == asio::error::no_buffer_space || ec == asio::error::no_memory) {
        log_shortage("accepting pauses: " + ec.message());
        co_await pause();
        co_return result<void>();
    }
    if (ec) co_return port_error("the port broke", ec);
    while (shared.counters.open_connections >= shared.options.max_connections && !shared.stopping) {
        close_idle();
        co_await shared.room.wait(coro::call_context{&shared.loop, nullptr, {}});
    }
    if (shared.stopping) co_return result<void>();
    take(std::move(socket), peer.address(), children);
    take_waiting(children);
    co_return result<void>();
}

/// A wait that was awaited by way of Asio would, without memory for it, drop this coroutine.
coro::task<void> server::state::wait_for_client() {
    if (!incoming->is_armed) {
        acceptor.async_wait(asio::socket_base::wait_read, [to = incoming](const error_code&) {
            to->is_armed = false;
            to->ready.notify();
        });
        incoming->is_armed = true;
    }
    co_await incoming->ready.wait(coro::call_context{&shared.loop, nullptr, {}});
}

/// Until a connection has ended, or for a moment.
coro::task<void> server::state::pause() {
    close_idle();
    const coro::deadline until(shared.loop.now() + shortage_pause);
    co_await shared.room.wait(coro::call_context{&shared.loop, nullptr, until});
}

/// One connection in each turn of the loop is too few when the turns of a busy server are long: a
/// thousand clients would wait for a thousand turns. What fails here fails again in accept_all().
void server::state::take_waiting(coro::nursery& children) {
    for (int taken = 1; taken < max_at_once; ++taken) {
        if (shared.counters.open_connections >= shared.options.max_connections) return;
        tcp::endpoint peer;
        error_code ec;
        fs::descriptor socket(net::accept_one(acceptor.native_handle(), peer, ec));
        if (ec) return;
        take(std::move(socket), peer.address(), children);
    }
}

void server::state::take(fs::descriptor socket, const asio::ip::address& peer,
                         coro::nursery& children) {
    ++shared.counters.connections;
    std::string key = key_of(peer);
    const auto known = shared.clients.find(key);
    const std::size_t open = known == shared.clients.end() ? 0 : known->second.open;
    if (open >= shared.options.max_connections_per_client) {
        ++shared.counters.refused;
        turn_away(socket.get(), shared);
        return;
    }
    auto connection = std::make_shared<server_connection>(shared, std::move(socket),
                                                          peer.to_string(), std::move(key));
    open_connection opened(*this, std::move(connection));
    children.start(run_connection(std::move(opened), children.context()));
}

void server::state::add(server_connection& connection) {
    client_use& client = shared.clients[connection.client_key()]; // first: it may throw
    ++client.open;
    connection.count_for(client);
    connections.push_back(connection);
    server_counters& counters = shared.counters;
    ++counters.open_connections;
    counters.max_open_connections =
        std::max(counters.max_open_connections, counters.open_connections);
}

void server::state::remove(server_connection& connection) noexcept {
    connection.close(); // unless it has ended in order
    connections.erase(connections.iterator_to(connection));
    connection.count_for_nobody();
    const auto client = shared.clients.find(connection.client_key());
    if (--client->second.open == 0) shared.clients.erase(client);
    --shared.counters.open_connections;
    if (shared.room.waiting()) shared.room.notify();
    if (shared.counters.open_connections == 0 && all_closed.waiting()) all_closed.notify();
}

/// Refuses what is not completely received now.
void server::state::end_receiving() noexcept {
    shared.is_over = true;
    for (server_connection& open : connections) open.end_receiving();
}

void server::state::log_shortage(std::string_view what) noexcept {
    const coro::clock::time_point now = shared.loop.now();
    const bool goes_on = last_shortage && now - *last_shortage < shortage_end;
    last_shortage = now;
    if (!goes_on) shared.log.write(log_level::warn, "server", what);
}

void server::state::log_failure(const char* what) noexcept {
    try {
        shared.log.write(log_level::error, "server", std::string("a connection failed: ") + what);
    } catch (...) { // no memory for the reason
        shared.log.write(log_level::error, "server", "a connection failed");
    }
}

/// Closes the oldest connection that waits for a request.
void server::state::close_idle() noexcept {
    for (server_connection& each : connections) {
        if (!each.is_idle()) continue;
        each.close();
        return;
    }
}

coro::task<result<void>> server::state::run_connection(open_connection started,
                                                       coro::call_context context) {
    const open_connection open(std::move(started)); // ends here, and not with the frame
    try {
        co_await server_connection::serve(open.get(), context);
    } catch (const std::exception& e) { // no memory: this connection ends, and no other
        open.owner().log_failure(e.what());
    }
    co_return result<void>();
}

server::server(std::unique_ptr<state> object) noexcept : state_(std::move(object)) {}
server::~server() = default;

std::uint16_t server::port() const noexcept { return state_->port; }

std::string server::url() const {
    return (state_->shared.tls ? "https://" : "http://") + state_->host + ":" +
           std::to_string(state_->port);
}

void server::stop() noexcept { state_->stop(); }

server_counters server::counters() const noexcept { return state_->shared.counters; }

} // namespace heddle::http
