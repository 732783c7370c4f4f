// HTTP as the providers see it.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/flow_gate.hpp>
#include <heddle/ports/http_headers.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::ports {

enum class http_errc : int {
    ok = 0,
    invalid_url,
    resolve_failed, ///< no address for the host
    connect_failed, ///< refused, unreachable
    tls_failed,     ///< handshake or verification
    connect_timeout,
    first_byte_timeout,
    idle_timeout, ///< no data for too long within a response
    total_timeout,
    connection_closed, ///< the peer closed the connection before the response was complete
    connection_reset,
    protocol_error, ///< the response is not HTTP/1.1 (RFC 9112)
    header_too_large,
    body_too_large,
    shut_down,       ///< the client was closed
    proxy_refused,   ///< a proxy refused the request (407, 403, ...)
    redirect_refused ///< a redirect to another origin, too many redirects, or an invalid one
};

[[nodiscard]] const boost::system::error_category& http_category() noexcept;
[[nodiscard]] inline boost::system::error_code make_error_code(http_errc code) noexcept {
    return {static_cast<int>(code), http_category()};
}

/// Whether a request asks for a compressed response. A compressed response is read in any case.
enum class http_compression : std::uint8_t {
    client_default, ///< as the client is configured
    none,
    gzip ///< useful for long responses over a slow connection
};

/// Bounds of one exchange, in addition to the deadline of the call.
struct http_limits {
    std::chrono::milliseconds connect{10'000};     ///< resolve, TCP and TLS together
    std::chrono::milliseconds first_byte{600'000}; ///< from the last byte of the request
    std::chrono::milliseconds idle{120'000};       ///< between pieces of a response
    std::chrono::milliseconds total{
        900'000}; ///< the whole exchange, including the wait for a connection
    std::size_t max_header_bytes = 64 * 1024;
    std::size_t max_body_bytes = 64 * 1024 * 1024; ///< after decompression
};

/// Scheme, host and port with their state (addresses, idle connections, TLS sessions). Obtained
/// from http_port::origin and kept by the provider.
class http_origin {
public:
    virtual ~http_origin() = default;
    /// "https://api.openai.com:443"
    [[nodiscard]] virtual const std::string& name() const noexcept = 0;
};

/// Observes the sending of a request.
class sent_listener {
public:
    /// Called when the whole request has been written to its connection, and again each time that
    /// the client resends it. Must not end the exchange.
    virtual void on_sent() noexcept = 0;

protected:
    ~sent_listener() = default;
};

struct http_request {
    std::shared_ptr<http_origin> origin;
    std::string method = "POST";
    std::string target = "/"; ///< path and query, already percent-encoded
    http_headers headers;     ///< without Host, Content-Length, Connection
    std::string body;
    http_limits limits;
    /// Whether the request may safely be sent twice (GET). Only then does the client resend a
    /// request that may have reached the server. A pooled connection that turns out to be closed,
    /// while the request is written or within a second of it, is always replaced once.
    bool idempotent = false;
    /// The request is never sent again once it was written, also on a stale connection: for what
    /// is paid for each time.
    bool once = false;
    /// Incremented each time that the client resends the request. May be null. Not owned; outlives
    /// the call.
    std::uint32_t* resent = nullptr;
    /// exchange() only: receives the size of the body, in bytes after decompression, that had
    /// arrived of a 2xx response when the exchange failed; 0 where these were blanks. Null: it
    /// is not asked for. Not owned; outlives the call.
    std::size_t* received = nullptr;
    /// stream() only: true once the receiver has all that it needs of the body. If the body does
    /// not end within a quarter of a second from then, the exchange fails with idle_timeout,
    /// whatever still arrives. Null: the body is read to its end. Not owned; outlives the call.
    const bool* enough = nullptr;
    /// Notified when the request has been written; null: none. Not owned; outlives the call.
    sent_listener* sent = nullptr;
    /// If `headers` contains Accept-Encoding, that one is sent, and the body is not decoded.
    http_compression compression = http_compression::client_default;
    /// stream() only: while it is closed, nothing is read from the connection, which holds the
    /// server back, and `idle` is suspended; all other limits apply. The body of one read (64 KiB,
    /// before decompression) is delivered without asking. Null: never held back. Not owned;
    /// outlives the call.
    flow_gate* gate = nullptr;
};

struct http_response {
    int status = 0;
    std::vector<std::pair<std::string, std::string>> headers; ///< names in lower case, in order
    std::string body;

    /// First value of a header (name in lower case), or nothing.
    [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept {
        for (const auto& [key, value] : headers) {
            if (key == name) return std::string_view(value);
        }
        return std::nullopt;
    }
};

/// Receives the body in pieces. Returning an error ends the exchange and closes its connection.
using http_body_sink = std::function<result<void>(std::string_view piece)>;
/// Receives status and headers before the first piece of the body.
using http_head_sink = std::function<result<void>(const http_response& head)>;

/// Counters for progress, tests and benchmarks.
struct http_counters {
    std::size_t open_connections = 0; ///< sockets that exist now
    std::size_t idle_connections = 0;
    std::size_t in_flight = 0; ///< exchanges in progress, including waiting ones
    std::uint64_t started = 0;
    std::uint64_t finished = 0;
    std::uint64_t failed = 0;
    std::uint64_t connections_made = 0;
    std::uint64_t reused = 0;
};

/// The HTTP client of one shard. Threads: the shard's only.
class http_port {
public:
    virtual ~http_port() = default;

    /// `url` is "http://host[:port]" or "https://…"; a path is refused with invalid_url. Calls with
    /// the same origin return the same object.
    [[nodiscard]] virtual result<std::shared_ptr<http_origin>> origin(std::string_view url) = 0;

    /// Sends a request and receives the whole response, whatever its status. Redirects within the
    /// origin are followed as the client is configured; the body is decompressed.
    /// Errors: http_errc, cancelled. An error of the server sets retryable().
    /// Cancellation: at any point; the connection is closed before the call returns.
    [[nodiscard]] virtual coro::task<result<http_response>> exchange(
        http_request request, coro::call_context context) = 0;

    /// As exchange, with the body delivered as it arrives (response.body stays empty).
    [[nodiscard]] virtual coro::task<result<http_response>> stream(http_request request,
                                                                   http_head_sink on_head,
                                                                   http_body_sink on_piece,
                                                                   coro::call_context context) = 0;

    /// Closes idle connections, cancels exchanges, and waits until every socket is closed.
    [[nodiscard]] virtual coro::task<void> close() = 0;

    [[nodiscard]] virtual http_counters counters() const noexcept = 0;
};

} // namespace heddle::ports

namespace boost::system {
template <>
struct is_error_code_enum<heddle::ports::http_errc> : std::true_type {};
} // namespace boost::system
