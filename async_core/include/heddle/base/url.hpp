// Where the parts of a URL are, and which hosts are this machine.
#pragma once

#include <optional>
#include <string_view>

namespace heddle {

/// As written: views into the text, nothing decoded and nothing checked.
struct url_parts {
    std::string_view scheme;    ///< in front of "://"
    std::string_view authority; ///< user, host and port; up to the first of "/?#"
    std::string_view rest;      ///< path, query and fragment, each with what introduces it
};

/// Takes "scheme://authority/path?query#fragment" apart (RFC 3986, appendix B). Nothing for a text
/// without "://". Pure; threads: any.
[[nodiscard]] std::optional<url_parts> split_url(std::string_view text) noexcept;

/// Whether a host in lower case is "localhost" or a name below it, with or without the closing dot:
/// loopback by definition, never looked up (RFC 6761, 6.3). False for addresses.
[[nodiscard]] bool is_localhost(std::string_view host) noexcept;

/// Whether a host in lower case, without brackets, is this machine: as is_localhost, and addresses
/// of 127.0.0.0/8, and ::1. A name that only begins like such an address is not.
[[nodiscard]] bool is_loopback_host(std::string_view host) noexcept;

} // namespace heddle
