// An http_request as bytes.
#pragma once

#include <heddle/ports/http_port.hpp>

#include <string>
#include <string_view>

namespace heddle::http {

/// Refuses what would let data become protocol: control characters or blanks in method and target,
/// line ends in header values, headers that the client sets itself.
/// Errors: errc::invalid_argument naming the header, never its value.
[[nodiscard]] result<void> check_request(const ports::http_request& request);

/// True for what may stand as the value of a header: no line ends and other control characters.
[[nodiscard]] bool is_header_value(std::string_view text) noexcept;

/// What the request line and headers say besides the request.
struct request_route {
    std::string_view host;                ///< value of Host
    bool absolute = false;                ///< "http://" and host before the target, for a proxy
    std::string_view proxy_authorization; ///< empty: none
    bool ask_compressed = false;
    std::string_view user_agent{}; ///< unless the request has one; empty: none
};

/// Replaces `out` by request line, headers and the empty line. Precondition: check_request passed.
void render_head(const ports::http_request& request, const request_route& route, std::string& out);

/// The request brings a header of this name (given in lower case) of its own.
[[nodiscard]] bool has_header(const ports::http_request& request, std::string_view name) noexcept;

} // namespace heddle::http
