#include "progress.hpp"

#include <cstdio>

namespace heddle::cli {

namespace {

constexpr auto redraw_every = std::chrono::milliseconds(100);

std::string elapsed_text(coro::clock::duration elapsed) {
    const auto seconds = std::chrono::duration<double>(elapsed).count();
    char text[32];
    if (seconds < 60) {
        std::snprintf(text, sizeof text, "%.1f s", seconds);
    } else {
        const auto whole = static_cast<long long>(seconds);
        std::snprintf(text, sizeof text, "%lld:%02lld min", whole / 60, whole % 60);
    }
    return text;
}

/// "12 calls/s"; empty while it would be a guess.
std::string rate_text(std::uint64_t ended, coro::clock::duration elapsed) {
    constexpr double first_look = 2; // seconds
    const auto seconds = std::chrono::duration<double>(elapsed).count();
    if (ended == 0 || seconds < first_look) return {};
    const double rate = static_cast<double>(ended) / seconds;
    char text[48];
    std::snprintf(text, sizeof text, rate < 10 ? ", %.1f calls/s" : ", %.0f calls/s", rate);
    return text;
}

} // namespace

progress::progress(coro::event_loop& loop, console& target, const call_counts& counts)
    : loop_(loop), console_(target), counts_(counts), before_(counts), began_(loop.now()) {
    const console_traits& traits = target.traits();
    if (traits.err_is_terminal && traits.can_redraw) loop_.schedule(*this, began_ + redraw_every);
}

void progress::stop() {
    unschedule();
    if (!shown_.empty()) console_.clear_status();
    shown_.clear();
}

void progress::on_timer() noexcept {
    const auto now = loop_.now();
    const call_counts counts = counts_.since(before_);
    if (counts.any()) {
        const auto elapsed = now - began_;
        shown_ = counts.summary() + rate_text(counts.done + counts.failed, elapsed) + ", " +
                 elapsed_text(elapsed);
        console_.show_status(shown_);
    }
    loop_.schedule(*this, now + redraw_every);
}

} // namespace heddle::cli
