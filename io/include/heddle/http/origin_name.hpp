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
    std::string host; ///< lower case; an IPv6 address without brackets
    std::uint16_t port = 0;
    bool numeric = false; ///< host is an IP address: not looked up, no SNI

    /// "https://api.openai.com:443"
    [[nodiscard]] std::string text() const;
    /// Value of the Host header: without the scheme's own port.
    [[nodiscard]] std::string host_header() const;
    /// "api.openai.com:443", as CONNECT wants it: always with the port.
    [[nodiscard]] std::string authority() const;
};

/// "localhost" and all below it: loopback by definition (RFC 6761, 6.3), never looked up.
[[nodiscard]] bool is_localhost_name(std::string_view host);

/// Errors: ports::http_errc::invalid_url for another scheme, a user name, a path, query or
/// fragment, an empty or malformed host, a bad port. A single closing slash is let pass.
[[nodiscard]] result<origin_name> parse_origin(std::string_view url);

} // namespace heddle::http
