// Errors with messages that were checked before.
#pragma once

#include <heddle/base/error.hpp>

#include <string>

namespace heddle {

/// An error whose message is known to be valid UTF-8. The check of a message of 50 MB
/// would take long.
[[nodiscard]] error error_of_valid_text(boost::system::error_code code, std::string message);

} // namespace heddle
