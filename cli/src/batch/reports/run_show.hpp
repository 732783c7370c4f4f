// `heddle runs show`.
#pragma once

#include "console.hpp"
#include "exit_code.hpp"

#include <string>

namespace heddle::cli {

/// Rows, cost, files, reasons of failures.
[[nodiscard]] exit_code show_run(const std::string& run, bool json, console& output);

} // namespace heddle::cli
