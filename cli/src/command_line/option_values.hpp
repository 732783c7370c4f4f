// Values of options that several commands read in the same way.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace heddle::cli {

enum class seconds_from : std::uint8_t { zero, above_zero };

/// Sets `into` to the seconds that `written` names, if it was written. Result: the mistake, which
/// names `option`, or nothing. More than a year is a mistake, too: its milliseconds might not fit.
[[nodiscard]] std::optional<std::string> read_seconds(
    const std::optional<double>& written, const std::string& option, seconds_from least,
    std::optional<std::chrono::milliseconds>& into);

/// What is wrong with the value of --budget-usd; nothing if it is absent or fine.
[[nodiscard]] std::optional<std::string> mistake_of_budget(const std::optional<double>& dollars);

} // namespace heddle::cli
