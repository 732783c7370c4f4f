// Redirects (RFC 9110, 15.4), within one origin only. No socket.
#pragma once

#include <heddle/base/redaction.hpp>
#include <heddle/http/origin_name.hpp>
#include <heddle/ports/http_port.hpp>

#include <string>
#include <string_view>

namespace heddle::http {

/// Where a Location leads, seen from the request that it answers (RFC 3986, 5.2).
/// Result: the new target (path and query) at the same origin.
/// `secrets` are not shown where the server points at them.
/// Errors: ports::http_errc::redirect_refused naming where it pointed to, without query and user:
/// another scheme, host or port, or a Location that cannot be read.
[[nodiscard]] result<std::string> resolve_redirect(const origin_name& origin,
                                                   std::string_view target,
                                                   std::string_view location,
                                                   const redactor& secrets = redactor());

/// Makes `request` what is to be sent next. 303 turns everything but HEAD into GET, 301 and 302
/// turn POST into GET, as everybody does; the body goes then, and the headers that describe it. 307
/// and 308 change the target only.
/// Errors: as resolve_redirect.
[[nodiscard]] result<void> follow_redirect(ports::http_request& request, const origin_name& origin,
                                           const ports::http_response& answer);

} // namespace heddle::http
