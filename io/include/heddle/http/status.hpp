// Status codes of HTTP.
#pragma once

#include <string_view>

namespace heddle::http {

/// The reason phrase of a status code (RFC 9110, 15), or "Error" for one that is not known here.
[[nodiscard]] std::string_view status_text(int status) noexcept;

} // namespace heddle::http
