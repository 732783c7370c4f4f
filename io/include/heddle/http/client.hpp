// The HTTP/1.1 client behind ports::http_port.
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
    none_insecure ///< accept anything: for a test against a machine of one's own
};

/// A host name with the addresses to use for it.
struct fixed_host {
    std::string name;                   ///< in lower case
    std::vector<std::string> addresses; ///< numeric IPv4 or IPv6
};

struct http_client_options {
    /// PEM file with the certificates to trust, in place of the system's; empty: the system's.
    std::string ca_file;
    /// Directory of certificates hashed by `openssl rehash`, trusted besides `ca_file`.
    std::string ca_directory;
    peer_check check = peer_check::verify;

    /// Proxy for http:// origins (absolute-form requests) and for https:// ones (CONNECT):
    /// "[http://|https://][user:password@]host[:port]"; empty: none. A whole URL is a secret
    /// because of its password. See heddle/http/environment.hpp for the usual variables.
    secret http_proxy;
    secret https_proxy;
    /// Whom to reach directly: names with all below them ("example.com", ".example.com",
    /// "*.example.com"), addresses, CIDR ("10.0.0.0/8"), each with an optional port, or "*";
    /// separated by commas or blanks.
    std::string no_proxy;
    /// localhost, 127.0.0.0/8 and ::1 are reached directly unless this is set.
    bool proxy_loopback = false;

    /// Redirects that are followed for one call, within its origin only; with 0 a redirect is an
    /// answer like others.
    int max_redirects = 5;
    /// What http_compression::client_default means. Not for streams: those ask only if told.
    bool ask_compressed = false;

    /// Sockets per origin; further calls wait in line. Mind the limit of open files.
    std::size_t max_connections = 20'000;
    /// Unused connections kept per origin; 0: none is kept.
    std::size_t max_idle = 20'000;
    /// An unused connection is closed at this age. Less than what servers usually allow (60 to 75
    /// s).
    std::chrono::milliseconds idle_age{55'000};
    /// How long the addresses of a name are used without asking again.
    std::chrono::milliseconds address_age{30'000};
    /// With several addresses: start with the next one when a connection takes longer than this.
    std::chrono::milliseconds connect_stagger{250};
    /// Sent as User-Agent with requests that have none; empty: nothing is sent.
    std::string user_agent;
    /// Names that are not looked up.
    std::vector<fixed_host> fixed_hosts;

    /// Where connection events go (debug level); null: nowhere. Outlives the client.
    log_port* log = nullptr;
};

/// Makes a client for one shard. Never fails: a certificate file that cannot be read shows when the
/// first https origin is asked for, a proxy that cannot be read with the first one that needs it,
/// an exhausted file table in the exchanges.
/// `loop` outlives the client. Await close() before letting go of it: until then open connections
/// keep the loop's io_context::run() from returning. A client that is destroyed unclosed closes its
/// sockets at once and ends its exchanges with cancel_reason::shutdown.
///
/// What retryable() says of its errors: true where sending again may help (resolve, connect,
/// closed, reset, connect / first byte / idle timeouts), false where it cannot (certificate,
/// limits, protocol, total timeout, invalid input). Sinks of stream() are called on the loop,
/// outside any coroutine, and must not block. Threads: the shard's only.
[[nodiscard]] std::shared_ptr<ports::http_port> make_http_client(coro::event_loop& loop,
                                                                 http_client_options options = {});

} // namespace heddle::http
