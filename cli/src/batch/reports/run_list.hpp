// `heddle runs list`.
#pragma once

#include "console.hpp"
#include "exit_code.hpp"

#include <string>
#include <vector>

namespace heddle::cli {

/// A line for each run in or directly below the folders.
[[nodiscard]] exit_code list_runs(const std::vector<std::string>& folders, bool json,
                                  console& output);

} // namespace heddle::cli
