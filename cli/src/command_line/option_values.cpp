#include "command_line/option_values.hpp"

#include <cmath>

namespace heddle::cli {

std::optional<std::string> read_seconds(const std::optional<double>& written,
                                        const std::string& option, seconds_from least,
                                        std::optional<std::chrono::milliseconds>& into) {
    if (!written) return std::nullopt;
    constexpr double max_seconds = 365.0 * 24 * 3600;
    const bool zero_allowed = least == seconds_from::zero;
    // What is less becomes no time at all.
    const double min_seconds = zero_allowed ? 0 : 0.001;
    if (!(*written >= min_seconds) || !(*written <= max_seconds)) {
        return option + " must be a number of seconds from " + (zero_allowed ? "0" : "0.001") +
               ", at most a year";
    }
    into = std::chrono::milliseconds(std::llround(*written * 1000));
    return std::nullopt;
}

std::optional<std::string> mistake_of_budget(const std::optional<double>& dollars) {
    if (!dollars || (std::isfinite(*dollars) && *dollars >= 0)) return std::nullopt;
    return "--budget-usd must be a number of dollars from 0";
}

} // namespace heddle::cli
