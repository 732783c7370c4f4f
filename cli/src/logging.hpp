// The log port over spdlog, on standard error.
#pragma once

#include "console.hpp"

#include <heddle/base/log.hpp>

#include <memory>

namespace heddle::cli {

/// -1: errors, 0: warnings, 1: messages of workflows, 2: also waits, retries and connections, 3 and
/// more: also whole model calls.
[[nodiscard]] log_level level_for(int verbosity) noexcept;

/// Lines look like "10:15:30.123 warning script: text"; they never mix with the status line.
/// `target` outlives it.
[[nodiscard]] std::unique_ptr<log_port> make_console_log(console& target, log_level least);

} // namespace heddle::cli
