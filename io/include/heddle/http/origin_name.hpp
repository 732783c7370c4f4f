// The part of a URL that decides where to connect.
#pragma once

#include <heddle/base/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::http {

/// Scheme, host and port of "http://host[:port]" or "https://host[:port]", normalised.
struct origin_name {
    bool tls = false;
    std::string host; ///< lower case; an IPv6 address without brackets and zone
    std::string zone; ///< of an IPv6 address ("eth0"): where to connect, and nobody else's business
    std::uint16_t port = 0;
    bool numeric = false; ///< host is an IP address: not looked up, no SNI

    /// "https://api.openai.com:443", with the zone: no two origins share it.
    [[nodiscard]] std::string text() const;
    /// Value of the Host header: without the scheme's own port and without a zone (RFC 6874, 3).
    [[nodiscard]] std::string host_header() const;
    /// "api.openai.com:443", as CONNECT wants it: always with the port.
    [[nodiscard]] std::string authority() const;
    /// What to connect to: the host, for an address with its zone.
    [[nodiscard]] std::string connect_host() const;
};

/// Errors: ports::http_errc::invalid_url for another scheme, a user name, a path, query or
/// fragment, an empty or malformed host, a bad port. A single closing slash is let pass. A zone is
/// written [fe80::1%25eth0], or with the % alone.
[[nodiscard]] result<origin_name> parse_origin(std::string_view url);

} // namespace heddle::http
