// An HTTP server that runs a workflow for each request, on Boost.Beast: one io_context, one thread.
//
//     5_http_server [PORT [heddle.toml]]
//
//     POST /answer    {"question": …}; with Accept: text/event-stream, text as it arrives.
//                     X-Timeout: seconds for this request
//     GET  /metrics   for Prometheus
//
// When the client goes away, its workflow is cancelled. SIGTERM and Ctrl-C let requests in progress
// end; a second signal ends the program at once. `heddle serve` is such a server as a product.

#include <heddle/heddle.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <array>
#include <cstdlib>
#include <iostream>
#include <set>
#include <sstream>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::use_awaitable;
using beast::error_code;
using tcp = asio::ip::tcp;
using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

constexpr std::uint64_t max_body = 1024 * 1024;
constexpr std::size_t max_ahead = 64 * 1024;    // that a client sends before it has its response
constexpr std::chrono::seconds max_silence{30}; // of a client that sends or reads
constexpr double max_seconds = 60;              // of a workflow
constexpr std::chrono::seconds grace{10};       // for requests in progress at the end

constexpr const char* rules = R"json({"rules": [
    {"match": "wait", "delay_ms": 60000, "text": "too late"},
    {"match": ".", "text": "A heddle lifts the warp."}]})json";

constexpr const char* workflow = R"lisp(
(defatom ask (params question)
  (instructions "Answer in one sentence: {{question}}"))

(define (answer question) (content (ask question)))
)lisp";

using request_type = http::request<http::string_body>;
using response_type = http::response<http::string_body>;

struct connection {
    explicit connection(tcp::socket socket)
        : stream(std::move(socket)), arrival(stream.get_executor()) {}
    beast::tcp_stream stream;
    beast::flat_buffer received; ///< and not used yet
    asio::steady_timer arrival;  ///< is cancelled when more has been received
    bool is_idle = true;         ///< waits for a request
};

/// Receives all that the client sends, also while a request is handled: only reading shows the end
/// of a connection. Completes when the client has closed it, or sends much before its response.
asio::awaitable<void> receive(connection& client) {
    std::array<char, 4096> block;
    while (client.received.size() < max_ahead) {
        error_code ec;
        const std::size_t size = co_await client.stream.socket().async_read_some(
            asio::buffer(block), asio::redirect_error(use_awaitable, ec));
        if (ec) co_return;
        client.received.commit(
            asio::buffer_copy(client.received.prepare(size), asio::buffer(block, size)));
        client.arrival.cancel();
    }
}

/// False: nothing was received until then.
asio::awaitable<bool> more_received(connection& client,
                                    std::chrono::steady_clock::time_point until) {
    client.arrival.expires_at(until);
    error_code ec;
    co_await client.arrival.async_wait(asio::redirect_error(use_awaitable, ec));
    co_return ec == asio::error::operation_aborted;
}

/// False: there is no further request, or none that can be read.
asio::awaitable<bool> read_request(connection& client,
                                   http::request_parser<http::string_body>& parser) {
    const auto until = std::chrono::steady_clock::now() + max_silence;
    parser.eager(true);
    while (!parser.is_done()) {
        error_code ec;
        std::size_t taken = 0;
        // The parser requires the end of a chunked body, "0\r\n\r\n", in one piece.
        const bool is_chunked = parser.is_header_done() && parser.chunked();
        if (client.received.size() >= (is_chunked ? 5 : 1))
            taken = parser.put(client.received.data(), ec);
        client.received.consume(taken);
        if (ec && ec != http::error::need_more) co_return false;
        if (!ec && taken != 0) continue;
        const bool goes_on = co_await more_received(client, until);
        if (!goes_on) co_return false;
    }
    co_return true;
}

response_type respond(const request_type& request, unsigned status, std::string body,
                      const char* type = "application/json") {
    response_type response(http::int_to_status(status), request.version());
    response.set(http::field::content_type, type);
    response.body() = std::move(body);
    response.keep_alive(request.keep_alive());
    response.prepare_payload();
    return response;
}

std::string error_text(const heddle::error& failure) {
    return heddle::json(heddle::json::object{{"error", to_json(failure)}}).to_string() + "\n";
}

std::string event(const char* name, const heddle::json& data) {
    return "event: " + std::string(name) + "\ndata: " + data.to_string() + "\n\n";
}

/// The deadline of a request is that of its workflow.
heddle::call_options bounds_of(const request_type& request) {
    const std::string asked = request["X-Timeout"];
    const double seconds = std::strtod(asked.c_str(), nullptr);
    const double bound = seconds > 0 && seconds < max_seconds ? seconds : max_seconds;
    return {.timeout = std::chrono::nanoseconds(static_cast<std::int64_t>(bound * 1e9))};
}

class server {
public:
    server(asio::io_context& context, heddle::runtime& rt, heddle::program flow, std::uint16_t port)
        : context_(context), rt_(rt), flow_(std::move(flow)),
          acceptor_(context, tcp::endpoint(asio::ip::address_v4::loopback(), port)) {}

    [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

    asio::awaitable<void> accept() {
        asio::steady_timer pause(context_);
        acceptor_.non_blocking(true);
        acceptor_.set_option(asio::socket_base::enable_connection_aborted(true)); // else it waits
        while (acceptor_.is_open()) {
            tcp::socket socket(context_);
            error_code ec;
            co_await acceptor_.async_accept(socket, asio::redirect_error(use_awaitable, ec));
            // All that wait: with one in each turn of a busy loop, the last client waits long.
            while (!ec && acceptor_.is_open()) {
                error_code ignored;
                socket.set_option(tcp::no_delay(true), ignored);
                asio::co_spawn(context_, serve(std::move(socket)), asio::detached);
                socket = tcp::socket(context_);
                acceptor_.accept(socket, ec);
            }
            if (!acceptor_.is_open()) co_return;
            if (ec != asio::error::would_block &&
                ec != asio::error::connection_aborted) { // as when no file descriptor is left
                pause.expires_after(50ms);
                co_await pause.async_wait(use_awaitable);
            }
        }
    }

    /// No new connections and requests; those in progress have `grace`.
    void stop() {
        acceptor_.close();
        for (connection* each : connections_) {
            if (each->is_idle) each->stream.close();
        }
        rt_.shutdown(grace, asio::detached);
    }

private:
    asio::awaitable<void> serve(tcp::socket socket) {
        connection client(std::move(socket));
        connections_.insert(&client);
        // The first that ends cancels the other one, and both are awaited: when the client has
        // gone, that ends the call in progress.
        co_await (serve_requests(client) || receive(client));
        connections_.erase(&client);
    }

    asio::awaitable<void> serve_requests(connection& client) {
        try {
            bool goes_on = true;
            while (goes_on) {
                http::request_parser<http::string_body> parser;
                parser.body_limit(max_body);
                client.is_idle = true;
                goes_on = co_await read_request(client, parser);
                if (!goes_on) break;
                client.is_idle = false;
                goes_on = co_await handle(client, parser.get());
                goes_on = goes_on && acceptor_.is_open();
            }
        } catch (const std::exception&) { // the client has gone, or is too slow
        }
    }

    /// Returns whether the connection can be used for a further request.
    asio::awaitable<bool> handle(connection& client, const request_type& request) {
        response_type response;
        if (request.method() == http::verb::get && request.target() == "/metrics") {
            response = respond(request, 200, metrics(), "text/plain; version=0.0.4");
        } else if (request.method() != http::verb::post || request.target() != "/answer") {
            response = respond(request, 404, "{\"error\":{\"message\":\"nothing is here\"}}\n");
        } else {
            auto input = heddle::json::parse(request.body());
            if (!input) {
                response = respond(request, 400, error_text(input.error()));
            } else if (request[http::field::accept].find("text/event-stream") !=
                       std::string_view::npos) {
                co_return co_await respond_in_pieces(client, request, *std::move(input));
            } else {
                const heddle::result<heddle::answer> answered = co_await flow_.call(
                    "answer", *std::move(input), bounds_of(request), use_awaitable);
                if (!answered &&
                    answered.error().cancelled_because() == heddle::cancel_reason::user)
                    co_return false; // the client has gone
                response = answered ? respond(request, 200, answered->to_json().to_string())
                                    : respond(request, http_status(answered.error()),
                                              error_text(answered.error()));
            }
        }
        if (!acceptor_.is_open()) response.keep_alive(false);
        client.stream.expires_after(max_silence);
        co_await http::async_write(client.stream, response, use_awaitable);
        co_return response.keep_alive();
    }

    /// Server-sent events: a slow reader holds back the model's service, not our memory.
    asio::awaitable<bool> respond_in_pieces(connection& client, const request_type& request,
                                            heddle::json input) {
        http::response<http::empty_body> head(http::status::ok, request.version());
        head.set(http::field::content_type, "text/event-stream");
        head.set(http::field::cache_control, "no-cache");
        head.chunked(true);
        head.keep_alive(request.keep_alive());
        http::response_serializer<http::empty_body> head_bytes(head);
        client.stream.expires_after(max_silence);
        co_await http::async_write_header(client.stream, head_bytes, use_awaitable);

        // However this function ends, the call does not outlive the job.
        heddle::job job = flow_.start("answer", std::move(input), bounds_of(request));
        for (;;) {
            const std::optional<heddle::piece> piece = co_await job.next(use_awaitable);
            if (!piece) break;
            const std::string text = event("piece", piece->text);
            co_await write_chunk(client, text);
        }
        const auto ended = co_await job.result(use_awaitable);
        const std::string last =
            ended ? event("result", ended->to_json()) : event("error", to_json(ended.error()));
        co_await write_chunk(client, last);
        client.stream.expires_after(max_silence);
        co_await asio::async_write(client.stream, http::make_chunk_last(), use_awaitable);
        co_return head.keep_alive();
    }

    static asio::awaitable<void> write_chunk(connection& client, const std::string& text) {
        client.stream.expires_after(max_silence);
        co_await asio::async_write(client.stream, http::make_chunk(asio::buffer(text)),
                                   use_awaitable);
    }

    [[nodiscard]] std::string metrics() const {
        const heddle::call_stats all = rt_.stats().all;
        std::ostringstream out;
        out << "connections " << connections_.size() << "\ncalls_running " << all.running
            << "\ncalls_queued " << all.queued << "\ncalls_total{outcome=\"done\"} " << all.done
            << "\ncalls_total{outcome=\"failed\"} " << all.failed
            << "\ncalls_total{outcome=\"cancelled\"} " << all.cancelled
            << "\ntokens_total{direction=\"input\"} " << all.input_tokens
            << "\ntokens_total{direction=\"output\"} " << all.output_tokens << "\ncost_usd_total "
            << all.cost_usd << "\n";
        return out.str();
    }

    asio::io_context& context_;
    heddle::runtime& rt_;
    heddle::program flow_;
    tcp::acceptor acceptor_;
    std::set<connection*> connections_;
};

} // namespace

int main(int count, char** words) {
    try {
        asio::io_context context(1);
        heddle::runtime_options options;
        if (count > 2) options.config = words[2];
        else options.scripted_rules = rules;
        heddle::runtime rt(context, heddle::host_threads::one, std::move(options));
        const heddle::program flow = rt.load_text("workflow.heddle", workflow).value();
        const int port = count > 1 ? std::atoi(words[1]) : 8080;
        server served(context, rt, flow, static_cast<std::uint16_t>(port));

        asio::signal_set signals(context, SIGINT, SIGTERM);
        signals.async_wait([&](error_code ec, int) {
            if (ec) return;
            signals.clear(); // the next one has its usual effect
            served.stop();
        });
        asio::co_spawn(context, served.accept(), asio::detached);
        std::cout << "http://127.0.0.1:" << served.port() << std::endl;
        context.run();
    } catch (const std::exception& failure) {
        std::cerr << failure.what() << "\n";
        return 1;
    }
}
