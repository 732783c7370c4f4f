// What a server can do wrong, row by row.
#pragma once

#include "client_fixture.hpp"

#include <functional>

namespace heddle::http {

using peer_type = loopback::connection;

/// Which limit of time is short in a row; the others are far beyond what a loaded machine needs.
enum class brief { none, connect, first_byte, idle, total };

enum class where { both, plain, tls };

struct fault {
    const char* name;
    /// What the exchange may end in; empty: it succeeds with `body`.
    std::vector<http_errc> ends;
    /// Played after the request was read; returns true to go on serving the connection properly.
    std::function<bool(peer_type&)> play;
    brief limit = brief::none;
    const char* body = "";
    where runs = where::both;
    bool second = false;     ///< the connection serves one exchange properly before
    bool before = false;     ///< played without reading the request
    std::size_t request = 2; ///< bytes of the request's body
};

// What servers do with a connection.
std::function<bool(peer_type&)> says(std::string bytes);
std::function<bool(peer_type&)> says_and_waits(std::string bytes);
std::function<bool(peer_type&)> says_and_resets(std::string bytes);
std::function<bool(peer_type&)> says_and_goes_on(std::string bytes);
std::function<bool(peer_type&)> repeats(std::string begin, std::string again);
std::function<bool(peer_type&)> trickles(std::string begin, std::size_t count);
bool waits(peer_type& peer);
bool hangs_up(peer_type&);
bool resets(peer_type& peer);
std::string chunk_of(std::size_t size);
std::string with_length(const std::string& head, const std::string& body);
std::string many(const std::string& what, int count);

inline const std::string ok = "HTTP/1.1 200 OK\r\n";
inline const std::string hundred = ok + "Content-Length: 100\r\n\r\n";
inline const std::string chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";
inline const std::string gzip = ok + "Content-Encoding: gzip\r\n";

inline constexpr auto closed = http_errc::connection_closed;
inline constexpr auto broken = http_errc::connection_reset;
inline constexpr auto protocol = http_errc::protocol_error;
inline constexpr auto big_header = http_errc::header_too_large;
inline constexpr auto big_body = http_errc::body_too_large;
inline constexpr auto idle = http_errc::idle_timeout;
inline constexpr auto unconnected = http_errc::connect_failed; // a reset may come before we look

/// A row: the server sends the bytes and waits until the client closes the connection.
[[nodiscard]] fault sends(const char* name, std::string bytes,
                          std::vector<http_errc> ends = {protocol});

[[nodiscard]] std::vector<fault> connection_faults();
[[nodiscard]] std::vector<fault> head_faults();
[[nodiscard]] std::vector<fault> body_faults();

} // namespace heddle::http
