#include <heddle/scripted/server.hpp>

#include <heddle/http/server.hpp>

#include "scripted/server/responder.hpp"

#include <boost/asio/ip/address.hpp>

#include <utility>

namespace heddle::scripted {

namespace {

http::server_options http_options(const server_options& wanted) {
    http::server_options options;
    options.address = wanted.address;
    options.port = wanted.port;
    options.max_header_bytes = wanted.max_header_bytes;
    options.max_body_bytes = wanted.max_body_bytes;
    options.max_connections = wanted.max_connections;
    options.max_connections_per_client = wanted.max_connections; // a batch is one client
    options.refusal_body = [](std::string_view, int status, std::string_view message) {
        return malformed_request_body(status, message);
    };
    options.header_time = options.body_time = options.write_time = wanted.receive;
    options.idle = wanted.idle;
    options.drain = wanted.drain;
    return options;
}

} // namespace

struct server::state {
    state(std::shared_ptr<engine> rules, secret key, coro::event_loop& on)
        : responses(std::move(rules), std::move(key)), loop(on) {}

    responder responses;
    coro::event_loop& loop;
    std::unique_ptr<http::server> serving;

    /// Stops the server in an orderly way; by its own context it would cancel what it does.
    class stop_signal final : public coro::cancel_hook, public coro::timer_node {
    public:
        explicit stop_signal(http::server& of) noexcept : of_(of) {}

    private:
        void on_cancel(cancel_reason) noexcept override { of_.stop(); }
        void on_timer() noexcept override { of_.stop(); }
        http::server& of_;
    };
};

result<std::unique_ptr<server>> server::listen(std::shared_ptr<engine> rules,
                                               server_options options, coro::event_loop& loop,
                                               log_port& log) {
    boost::system::error_code is_name; // which listen() refuses
    const auto address = boost::asio::ip::make_address(options.address, is_name);
    if (!is_name && !address.is_loopback() && options.reach == exposure::loopback_only) {
        return error(errc::invalid_argument, "model server: " + options.address +
                                                 " can be reached from outside this machine")
            .with_hint("use 127.0.0.1, or allow any address explicitly");
    }
    auto object = std::make_unique<state>(std::move(rules), std::move(options.required_key), loop);
    responder& responses = object->responses;
    HEDDLE_TRY(object->serving,
               http::server::listen(
                   http_options(options),
                   [&responses](const http::server_request& request,
                                http::response_writer& response, coro::call_context context) {
                       return responder::respond(responses, request, response, context);
                   },
                   loop, log));
    return std::unique_ptr<server>(new server(std::move(object)));
}

coro::task<result<void>> server::serve(coro::call_context context) {
    coro::event_loop& loop = state_->loop;
    state::stop_signal signal(*state_->serving);
    if (context.stop_error()) stop();
    else if (context.cancel) context.cancel->hook(signal);
    if (!context.until.is_never()) loop.schedule(signal, context.until.at());
    result<void> served = co_await state_->serving->serve(coro::call_context{&loop, nullptr, {}});
    signal.unschedule();
    loop.settle(); // a deadline that has not come holds nobody
    co_return served;
}

server::server(std::unique_ptr<state> object) noexcept : state_(std::move(object)) {}
server::~server() = default;

std::uint16_t server::port() const noexcept { return state_->serving->port(); }

std::string server::base_url() const { return state_->serving->url() + "/v1"; }

void server::stop() noexcept { state_->serving->stop(); }

server_counters server::counters() const noexcept {
    const http::server_counters seen = state_->serving->counters();
    server_counters shown;
    shown.requests = seen.requests + seen.refused;
    shown.connections = seen.connections;
    shown.open_connections = seen.open_connections;
    shown.max_open_connections = seen.max_open_connections;
    shown.in_flight = seen.in_progress;
    return shown;
}

} // namespace heddle::scripted
