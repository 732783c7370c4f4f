// The option --progress.
#pragma once

#include "command_line/option_list.hpp"
#include "progress_style.hpp"

#include <optional>
#include <string>

namespace heddle::cli {

/// `into` receives what was written.
void add_progress_option(option_list& command, std::optional<std::string>& into);

/// Sets `style` if the option was written. Result: the mistake, or nothing.
[[nodiscard]] std::optional<std::string> read_progress_option(
    const std::optional<std::string>& written, progress_style& style);

} // namespace heddle::cli
