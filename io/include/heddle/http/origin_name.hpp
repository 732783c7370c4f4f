// The part of a URL that determines where to connect.
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
    std::string zone; ///< of an IPv6 address ("eth0"); only used to connect
    std::uint16_t port = 0;
    bool numeric = false; ///< host is an IP address: not looked up, no SNI

    /// "https://api.openai.com:443", with the zone: unique for each origin.
    [[nodiscard]] std::string text() const;
    /// Value of the Host header: without the default port of the scheme and without a zone (RFC
    /// 6874, 3).
    [[nodiscard]] std::string host_header() const;
    /// "api.openai.com:443", as required by CONNECT: always with the port.
    [[nodiscard]] std::string authority() const;
    /// The host to connect to; an address has its zone.
    [[nodiscard]] std::string connect_host() const;
};

/// Errors: ports::http_errc::invalid_url for another scheme, a user name, a path, query or
/// fragment, an empty or malformed host, a bad port. A single trailing slash is allowed. A zone is
/// written [fe80::1%25eth0], or with a plain %.
[[nodiscard]] result<origin_name> parse_origin(std::string_view url);

} // namespace heddle::http
