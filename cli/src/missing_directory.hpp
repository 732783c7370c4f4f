// Directories on the command line that do not exist.
#pragma once

#include <heddle/base/error.hpp>

#include <string>

namespace heddle::cli {

/// False also where that cannot be found out: whoever opens it has the reason.
[[nodiscard]] bool is_missing(const std::string& directory);

/// not_found, in the same words from every command.
[[nodiscard]] error missing_directory(const std::string& directory);

} // namespace heddle::cli
