// Taking a base URL apart.
#pragma once

#include <heddle/base/error.hpp>

#include <string>
#include <string_view>

namespace heddle::providers {

struct base_url {
    std::string origin; ///< "https://api.openai.com", as http_port::origin takes it
    std::string host;   ///< in lower case, without port and brackets
    std::string prefix; ///< "" or "/v1", without a slash at its end
    bool secure = false;
};

/// Reads "http[s]://host[:port][/prefix][/]". Errors: llm_errc::configuration for another scheme, a
/// user name, a query, a fragment, blanks or control characters; a user name, which may be a key,
/// is not shown. Pure.
[[nodiscard]] result<base_url> parse_base_url(std::string_view text);

} // namespace heddle::providers
