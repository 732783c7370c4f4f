// The error that ends a command, as the user gets it.
#pragma once

#include "console.hpp"
#include "exit_code.hpp"

#include <heddle/base/error.hpp>

namespace heddle::cli {

/// Prints why a command ends: text for people, or one JSON object with the exit code. Result:
/// `code`.
[[nodiscard]] exit_code report_error(const error& failure, exit_code code, bool json,
                                     console& output);
/// As report_error, for a mistake in the command line or the configuration: exit_code::usage.
[[nodiscard]] exit_code report_usage_error(const error& failure, bool json, console& output);

} // namespace heddle::cli
