// The HTTP/1.1 client, as a ports::http_port.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/base/secret.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/ports/http_port.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heddle::http {

/// Whether the certificate and the name of an https server are checked.
enum class peer_check : std::uint8_t {
    verify,       ///< chain, dates, and host name or address; the only safe choice
    none_insecure ///< accept anything: only for tests with your own machine
};

/// A host name with the addresses to use for it.
struct fixed_host {
    std::string name;                   ///< in lower case
    std::vector<std::string> addresses; ///< numeric IPv4 or IPv6
};

struct http_client_options {
    /// PEM file with the trusted certificates, in place of those of the system; empty: those of the
    /// system.
    std::string ca_file;
    /// Directory of certificates hashed by `openssl rehash`, trusted in addition to `ca_file`.
    std::string ca_directory;
    peer_check check = peer_check::verify;

    /// Proxy for http:// origins (absolute-form requests) and for https:// ones (CONNECT):
    /// "[http://|https://][user:password@]host[:port]"; empty: none. A whole URL is a secret
    /// because of its password. See heddle/http/environment.hpp for the usual variables.
    secret http_proxy;
    secret https_proxy;
    /// Hosts to connect to directly: names with all names below them ("example.com",
    /// ".example.com", "*.example.com"), addresses, CIDR ("10.0.0.0/8"), each with an optional
    /// port, or "*"; separated by commas or blanks.
    std::string no_proxy;
    /// Whether a proxy is also used for localhost, 127.0.0.0/8 and ::1.
    bool proxy_loopback = false;

    /// Maximum number of redirects followed for one call, within its origin only; with 0 a redirect
    /// is returned like other responses.
    int max_redirects = 5;
    /// Whether http_compression::client_default asks for compression. Streams ask only if the
    /// request sets it.
    bool ask_compressed = false;

    /// Maximum number of sockets per origin; further calls wait. Consider the limit of open files.
    std::size_t max_connections = 20'000;
    /// Maximum number of idle connections per origin; 0: none is kept.
    std::size_t max_idle = 20'000;
    /// An idle connection is closed at this age. Less than servers usually allow (60 to 75 s).
    std::chrono::milliseconds idle_age{55'000};
    /// How long the addresses of a name are cached.
    std::chrono::milliseconds address_age{30'000};
    /// With several addresses: start connecting to the next one after this time.
    std::chrono::milliseconds connect_stagger{250};
    /// Sent as User-Agent with requests that have none; empty: nothing is sent.
    std::string user_agent;
    /// Names with fixed addresses, which are not looked up.
    std::vector<fixed_host> fixed_hosts;

    /// Receives connection events (debug level); null: none. Outlives the client.
    log_port* log = nullptr;
};

/// Creates a client for one shard. Never fails: an unreadable certificate file is reported for the
/// first https origin, an invalid proxy for the first origin that needs it, an exhausted file table
/// by the exchanges.
/// `loop` outlives the client. Await close() before releasing it: until then, open connections keep
/// io_context::run() of the loop from returning. A client that is destroyed without close() closes
/// its sockets at once and ends its exchanges with cancel_reason::shutdown.
///
/// retryable() of its errors: true if a retry may help (resolve, connect, closed, reset, connect /
/// first byte / idle timeouts), false if it cannot (certificate, limits, protocol, total timeout,
/// invalid input). Sinks of stream() are called on the loop, outside any coroutine, and must not
/// block. Threads: the shard's only.
[[nodiscard]] std::shared_ptr<ports::http_port> make_http_client(coro::event_loop& loop,
                                                                 http_client_options options = {});

} // namespace heddle::http
