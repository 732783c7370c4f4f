// An HTTP/1.1 server.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/log.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/http/response_writer.hpp>
#include <heddle/http/server_request.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::http {

/// Responds to one request. The context is cancelled with cancel_reason::user as soon as the client
/// hangs up, and with the reason of server::serve when that is cancelled or the time to drain is
/// over; the server waits for the handler in any case. A handler that ends without a response, or
/// by an exception, is a bug: the client gets a 500, or a response without its end.
/// A coroutine must not be a lambda with captures: let the lambda call a function.
using request_handler = std::function<coro::task<void>(
    const server_request& request, response_writer& response, coro::call_context context)>;

/// The certificate of a server, in PEM.
struct server_tls {
    std::string certificate_file; ///< its certificate first, then those of the authorities above
    std::string key_file;         ///< without a password
};

/// Why a request is refused before its body is received.
struct early_refusal {
    int status = 0; ///< 0: it is not
    std::string reason;
    std::optional<std::chrono::seconds> retry_after{}; ///< for Retry-After
};

struct server_options {
    std::string address = "127.0.0.1"; ///< an IP address; names are not looked up
    std::uint16_t port = 0;            ///< 0: any free port
    std::optional<server_tls> tls{};   ///< TLS 1.2 or later; none: plain HTTP

    // Bounds of a request. One that exceeds them is refused with 431, 414, 431 and 413.
    std::size_t max_header_bytes = 64 * 1024; ///< request line and fields
    std::size_t max_target_bytes = 16 * 1024;
    std::size_t max_fields = 100;
    std::size_t max_body_bytes = 8 * 1024 * 1024;

    /// Of all connections: what is received and not handled yet, and the bodies of requests in
    /// progress. Above it, requests of more than 16 kB that are not complete are refused with a 503
    /// and Retry-After: those of clients that hold more than a quarter of it, and above twice as
    /// much all. It can be exceeded by one read of each connection, and by the doubling of chunked
    /// bodies.
    std::size_t max_received_bytes = std::size_t{1024} * 1024 * 1024;

    /// When so many are open, the oldest of those that wait for a request is closed for a new one;
    /// when there is none, further ones wait in the queue of the kernel.
    std::size_t max_connections = 10'000;
    /// Of one IPv4 address, or of one network of 64 bits of IPv6. Further ones get a 429.
    std::size_t max_connections_per_client = 2'000;

    /// Called with a request whose header is there and whose body is still to come, so that nobody
    /// fills the memory who may not ask anything. A refusal is sent with refusal_body, and the
    /// connection is closed. Empty: all bodies are received. Must not throw.
    std::function<early_refusal(const server_request&)> before_body{};
    /// The body, in JSON, of what the server itself responds, for an API with a format of its own.
    /// `path`: of the request, without its query; empty where its target has not been read. Empty:
    /// error_body(). Must not throw.
    std::function<std::string(std::string_view path, int status, std::string_view message)>
        refusal_body{};

    std::chrono::milliseconds header_time{10'000}; ///< from the first byte; also for TLS to begin
    std::chrono::milliseconds body_time{60'000};   ///< from the end of the header
    std::chrono::milliseconds idle{60'000};        ///< between requests
    std::chrono::milliseconds write_time{30'000};  ///< to take 64 kB of a response
    std::chrono::milliseconds drain{10'000};       ///< for requests in progress after stop()
    /// For cancelled handlers to send their last words after `drain`; then sockets are closed. Over
    /// as soon as all connections have ended.
    std::chrono::milliseconds close_time{1'000};
};

struct server_counters {
    std::uint64_t requests = 0; ///< complete requests
    std::uint64_t refused = 0;  ///< malformed, too large or too slow requests, and connections
    std::uint64_t connections = 0;
    std::size_t open_connections = 0;
    std::size_t max_open_connections = 0; ///< at once
    std::size_t in_progress = 0;          ///< requests whose handler runs
    std::size_t received_bytes = 0;       ///< of max_received_bytes
};

/// Reads requests and passes each to a handler: HTTP/1.1 and 1.0, keep-alive, pipelined requests
/// one after the other, chunked bodies, `Expect: 100-continue`. What is malformed or exceeds a
/// bound is refused with 400, 408, 413, 414, 417, 431, 501, 503 or 505 and
/// server_options::refusal_body, and its connection is closed. Pipelined requests let other
/// connections have their turn.
///
/// While a handler runs, the connection is read from, so that its end is noticed at once. A client
/// that sends more than 64 kB ahead of its response counts as gone.
/// Threads: the loop's only.
class server {
public:
    /// Opens the port; connections wait in the kernel until serve() runs. `loop` and `log` outlive
    /// the server. Errors: errc::invalid_argument for an address that is not an IP address;
    /// errc::io_error if the port cannot be opened; ports::http_errc::tls_failed for a certificate
    /// or a key that cannot be used.
    [[nodiscard]] static result<std::unique_ptr<server>> listen(server_options options,
                                                                request_handler handler,
                                                                coro::event_loop& loop,
                                                                log_port& log);
    /// serve() must have ended.
    ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept;
    /// "http://127.0.0.1:PORT", or with https.
    [[nodiscard]] std::string url() const;

    /// Serves until stop() is called or `context` is cancelled, which count as success, and returns
    /// once all handlers have ended and every socket is closed. Call it once.
    /// Cancellation cancels requests in progress at once; so does its deadline.
    /// Errors: errc::io_error if the port fails.
    [[nodiscard]] coro::task<result<void>> serve(coro::call_context context);

    /// Begins the end of serve(): closes the port and idle connections, allows `drain` for requests
    /// in progress, whose connections are closed after their responses, and then cancels the rest
    /// with cancel_reason::shutdown. Requests that are not complete then are refused with a 503 and
    /// Retry-After. Does not wait. May be called before serve().
    void stop() noexcept;

    [[nodiscard]] server_counters counters() const noexcept;

private:
    struct state;
    explicit server(std::unique_ptr<state> object) noexcept;
    std::unique_ptr<state> state_;
};

} // namespace heddle::http
