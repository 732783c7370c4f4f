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

/// Replaces `out` by request line, headers and the empty line. Precondition: check_request passed.
void render_head(const ports::http_request& request, std::string_view host, std::string& out);

} // namespace heddle::http
