#include "batch/batch_counts.hpp"

#include <cmath>
#include <cstdio>

namespace heddle::cli {

std::string duration_text(double seconds) {
    if (seconds < 10) {
        char text[32];
        std::snprintf(text, sizeof text, "%.1f s", seconds);
        return text;
    }
    const auto whole = static_cast<long long>(std::llround(seconds));
    if (whole < 120) return std::to_string(whole) + " s";
    const long long minutes = (whole + 30) / 60;
    if (minutes < 120) return std::to_string(minutes) + " min";
    return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
}

} // namespace heddle::cli
