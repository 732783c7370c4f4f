// Requests as they are shown: without keys, as text or as JSON.
#pragma once

#include <heddle/base/redaction.hpp>
#include <heddle/setup/services/watched_provider.hpp>

#include <string>

namespace heddle::cli {

/// A copy of a request with the secrets in its strings hidden.
[[nodiscard]] ports::chat_request without_secrets(const ports::chat_request& request,
                                                  const redactor& secrets);

/// The members of a JSON object, without braces: "task", "work" if it is known, "service", "model"
/// and "request", as recordings have it.
[[nodiscard]] std::string request_members(const ports::chat_request& request,
                                          std::string_view service);

} // namespace heddle::cli
