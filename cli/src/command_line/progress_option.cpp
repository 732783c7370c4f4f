#include "command_line/progress_option.hpp"

namespace heddle::cli {

void add_progress_option(option_list& command, std::optional<std::string>& into) {
    command
        .option("--progress", into,
                "auto, lines (also on a terminal), json (one object per line on standard error) "
                "or none")
        .value("STYLE");
}

std::optional<std::string> read_progress_option(const std::optional<std::string>& written,
                                                progress_style& style) {
    if (!written) return std::nullopt;
    const auto known = progress_style_of(*written);
    if (!known) return "--progress must be auto, lines, json or none, not '" + *written + "'";
    style = *known;
    return std::nullopt;
}

} // namespace heddle::cli
