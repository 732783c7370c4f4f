// Redirects (RFC 9110, 15.4), within one origin only. No socket.
#pragma once

#include <heddle/base/redaction.hpp>
#include <heddle/http/origin_name.hpp>
#include <heddle/ports/http_port.hpp>

#include <string>
#include <string_view>

namespace heddle::http {

/// Resolves a Location relative to the request that it answers (RFC 3986, 5.2).
/// Result: the new target (path and query) at the same origin. `secrets` are hidden in errors that
/// quote the Location.
/// Errors: ports::http_errc::redirect_refused with the Location, without query and user: for
/// another scheme, host or port, or an invalid Location.
[[nodiscard]] result<std::string> resolve_redirect(const origin_name& origin,
                                                   std::string_view target,
                                                   std::string_view location,
                                                   const redactor& secrets = redactor());

/// Changes `request` to the one to send next. 303 turns every method except HEAD into GET; 301 and
/// 302 turn POST into GET, as all clients do. Then the body and the headers that describe it are
/// removed. 307 and 308 change the target only.
/// Errors: as resolve_redirect.
[[nodiscard]] result<void> follow_redirect(ports::http_request& request, const origin_name& origin,
                                           const ports::http_response& response);

} // namespace heddle::http
