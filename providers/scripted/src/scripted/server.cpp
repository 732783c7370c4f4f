#include <heddle/scripted/server.hpp>

#include <heddle/coro/nursery.hpp>

#include "scripted/server_connection.hpp"

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/redirect_error.hpp>

namespace heddle::scripted {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using acceptor_type = asio::basic_socket_acceptor<tcp, coro::executor>;

/// How long accepting pauses when the process has no file descriptor left.
constexpr std::chrono::milliseconds out_of_files_pause{20};

error port_error(std::string what, const error_code& ec) {
    return error(errc::io_error, "model server: " + std::move(what) + ": " + ec.message());
}

decode_options reader_options() {
    decode_options options;
    options.provider_name = "the request"; // what the messages of the reader are about
    options.subject = "the body";
    return options;
}

} // namespace

struct server::state {
    state(std::shared_ptr<engine> rules, server_options options, coro::event_loop& loop,
          log_port& log)
        : shared{std::move(rules),
                 std::move(options),
                 loop,
                 log,
                 json_reader(reader_options()),
                 {},
                 false,
                 {}},
          acceptor(loop.context().get_executor()) {}

    /// Is notified of cancellation and of the deadline, in the place of the acceptor, which cannot.
    class stop_signal final : public coro::cancel_hook, public coro::timer_node {
    public:
        explicit stop_signal(state& owner) noexcept : owner_(owner) {}

    private:
        void on_cancel(cancel_reason) noexcept override { owner_.stop(); }
        void on_timer() noexcept override { owner_.stop(); }
        state& owner_;
    };

    void stop() noexcept {
        if (std::exchange(shared.stopping, true)) return;
        error_code ignored;
        acceptor.close(ignored);
        room.notify();
        for (server_connection& open : connections) open.stop();
    }

    /// `children` and, below, `self` outlive the coroutines: serve() joins before it ends.
    // NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)
    [[nodiscard]] coro::task<result<void>> accept_all(coro::nursery& children);
    [[nodiscard]] static coro::task<result<void>> run_connection(
        state& self, std::shared_ptr<server_connection> connection, coro::call_context context);
    // NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)
    void took_one() noexcept {
        ++shared.counters.connections;
        ++shared.counters.open_connections;
        shared.counters.max_open_connections =
            std::max(shared.counters.max_open_connections, shared.counters.open_connections);
    }

    server_shared shared;
    acceptor_type acceptor;
    boost::intrusive::list<server_connection, boost::intrusive::constant_time_size<false>>
        connections;
    coro::wait_point room; // a connection ended, or the server stops
    coro::wait_point all_closed;
    std::string address;
    std::uint16_t port = 0;
};

result<std::unique_ptr<server>> server::listen(std::shared_ptr<engine> rules,
                                               server_options options, coro::event_loop& loop,
                                               log_port& log) {
    error_code ec;
    const asio::ip::address address = asio::ip::make_address(options.address, ec);
    if (ec) {
        return error(errc::invalid_argument,
                     "model server: '" + options.address + "' is not an IP address");
    }
    if (!address.is_loopback() && options.reach == exposure::loopback_only) {
        return error(errc::invalid_argument, "model server: " + options.address +
                                                 " can be reached from outside this machine")
            .with_hint("use 127.0.0.1, or allow any address explicitly");
    }
    const tcp::endpoint endpoint(address, options.port);
    auto object = std::make_unique<state>(std::move(rules), std::move(options), loop, log);
    const std::string where = address.to_string() + ":" + std::to_string(endpoint.port());
    object->acceptor.open(endpoint.protocol(), ec);
    if (!ec) object->acceptor.set_option(acceptor_type::reuse_address(true), ec);
    if (!ec) object->acceptor.bind(endpoint, ec);
    constexpr int backlog = 4096; // a whole batch connects at once; the kernel caps it
    if (!ec) object->acceptor.listen(backlog, ec);
    if (ec) return port_error("cannot listen on " + where, ec);
    object->port = object->acceptor.local_endpoint(ec).port();
    if (ec) return port_error("cannot listen on " + where, ec);
    object->address = address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
    return std::unique_ptr<server>(new server(std::move(object)));
}

coro::task<result<void>> server::serve(coro::call_context context) {
    state& self = *state_;
    coro::event_loop& loop = self.shared.loop;
    state::stop_signal signal(self);
    if (context.stop_error()) self.stop();
    else if (context.cancel) context.cancel->hook(signal);
    if (!context.until.is_never()) loop.schedule(signal, context.until.at());

    // The children learn of the end from stop(), which lets them finish, and only then from here.
    coro::nursery children(coro::call_context{&loop, nullptr, {}});
    result<void> accepted = co_await self.accept_all(children);
    self.stop();
    if (self.shared.counters.open_connections != 0) {
        const coro::deadline drained(loop.now() + self.shared.options.drain);
        co_await self.all_closed.wait(coro::call_context{&loop, nullptr, drained});
    }
    children.cancel(cancel_reason::shutdown);
    for (server_connection& open : self.connections) open.close();
    result<void> joined = co_await children.join();
    if (!accepted) co_return accepted;
    co_return joined;
}

coro::task<result<void>> server::state::accept_all(coro::nursery& children) {
    while (!shared.stopping) {
        if (shared.counters.open_connections >= shared.options.max_connections) {
            co_await room.wait(coro::call_context{&shared.loop, nullptr, {}});
            continue;
        }
        server_socket socket(acceptor.get_executor());
        error_code ec;
        co_await acceptor.async_accept(socket, asio::redirect_error(coro::use_task, ec));
        if (shared.stopping) break;
        if (ec == asio::error::no_descriptors ||
            ec == boost::system::errc::too_many_files_open_in_system) {
            shared.log.write(log_level::warn, "server",
                             "no file descriptor left; accepting pauses");
            const coro::deadline until(shared.loop.now() + out_of_files_pause);
            co_await room.wait(coro::call_context{&shared.loop, nullptr, until});
            continue;
        }
        if (ec == asio::error::connection_aborted || ec == boost::system::errc::protocol_error)
            continue;
        if (ec) co_return port_error("the port broke", ec);
        socket.set_option(tcp::no_delay(true), ec);
        socket.non_blocking(true, ec);
        auto connection = std::make_shared<server_connection>(shared, std::move(socket));
        connections.push_back(*connection);
        took_one();
        children.start(run_connection(*this, std::move(connection), children.context()));
    }
    co_return result<void>();
}

coro::task<result<void>> server::state::run_connection(
    state& self, std::shared_ptr<server_connection> connection, coro::call_context context) {
    co_await server_connection::serve(connection, context);
    self.connections.erase(self.connections.iterator_to(*connection));
    --self.shared.counters.open_connections;
    if (self.room.waiting()) self.room.notify();
    if (self.shared.counters.open_connections == 0 && self.all_closed.waiting())
        self.all_closed.notify();
    co_return result<void>();
}

server::server(std::unique_ptr<state> object) noexcept : state_(std::move(object)) {}
server::~server() = default;

std::uint16_t server::port() const noexcept { return state_->port; }

std::string server::base_url() const {
    return "http://" + state_->address + ":" + std::to_string(state_->port) + "/v1";
}

void server::stop() noexcept { state_->stop(); }

server_counters server::counters() const noexcept { return state_->shared.counters; }

} // namespace heddle::scripted
