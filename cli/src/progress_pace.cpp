#include "progress_pace.hpp"

#include <algorithm>
#include <cstdio>

namespace heddle::cli {

double progress_pace::rate(coro::clock::time_point now, std::uint64_t ended) noexcept {
    if (ended < ended_) { // something else has begun
        counted_from_ = looked_ = now;
        ended_ = 0;
        rate_ = 0;
    }
    const double passed = std::chrono::duration<double>(now - looked_).count();
    if (passed < 0.5) return rate_;
    const double latest = static_cast<double>(ended - ended_) / passed;
    const double counted = std::chrono::duration<double>(now - counted_from_).count();
    constexpr double memory = 10; // seconds
    if (counted < memory) rate_ = static_cast<double>(ended) / counted;
    else rate_ += (latest - rate_) * std::min(1.0, passed / memory);
    ended_ = ended;
    looked_ = now;
    return rate_;
}

bool progress_pace::takes_line(coro::clock::time_point now) noexcept {
    const double due = lines_ == 0 ? 2 : lines_ == 1 ? 10 : 30.0 * (lines_ - 1);
    if (seconds(now) < due) return false;
    ++lines_;
    return true;
}

std::string progress_bar(double share) {
    constexpr int cells = 10;
    const int full = std::clamp(static_cast<int>(share * cells), 0, cells);
    std::string text = "[" + std::string(static_cast<std::size_t>(full), '=');
    if (full < cells) text += '>';
    text.resize(1 + cells, ' ');
    return text + "]";
}

std::string rate_text(double rate) {
    char text[32];
    std::snprintf(text, sizeof text, rate < 10 ? "%.1f/s" : "%.0f/s", rate);
    return text;
}

} // namespace heddle::cli
