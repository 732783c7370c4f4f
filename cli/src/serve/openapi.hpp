// The description of the server's API.
#pragma once

#include "serve/served_functions.hpp"

#include <heddle/json.hpp>

namespace heddle::cli {

/// An OpenAPI 3.1 document with a path for each function, made from its parameters.
/// `has_tokens`: whether calls need a bearer token.
[[nodiscard]] json openapi_document(const served_functions& functions, bool has_tokens);

/// `text` as a part of a path: everything but letters, digits and -._~/ is percent-encoded.
[[nodiscard]] std::string path_encoded(std::string_view text);

} // namespace heddle::cli
