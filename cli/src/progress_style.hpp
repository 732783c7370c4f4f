// How the progress of a command is shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace heddle::cli {

/// automatic: a status line on a terminal, elsewhere a line now and then.
enum class progress_style : std::uint8_t { automatic, lines, json, none };

/// The style of that name, or nothing.
[[nodiscard]] constexpr std::optional<progress_style> progress_style_of(
    std::string_view name) noexcept {
    if (name == "auto") return progress_style::automatic;
    if (name == "lines") return progress_style::lines;
    if (name == "json") return progress_style::json;
    if (name == "none") return progress_style::none;
    return std::nullopt;
}

} // namespace heddle::cli
