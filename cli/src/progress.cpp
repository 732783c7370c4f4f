#include "progress.hpp"

#include "render.hpp"

#include <heddle/base/display_width.hpp>
#include <heddle/setup/display_text.hpp>

#include <cstdio>
#include <utility>
#include <vector>

namespace heddle::cli {

namespace {

std::string elapsed_text(double seconds) {
    if (seconds >= 60) return setup::duration_text(seconds);
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", seconds);
    return text;
}

/// "12 calls/s"; empty while it would be a guess.
std::string call_rate_text(std::uint64_t ended, double seconds) {
    constexpr double first_look = 2; // seconds
    if (ended == 0 || seconds < first_look) return {};
    const double rate = static_cast<double>(ended) / seconds;
    char text[48];
    std::snprintf(text, sizeof text, rate < 10 ? ", %.1f calls/s" : ", %.0f calls/s", rate);
    return text;
}

} // namespace

std::string run_progress_line(const lang::map_progress& maps, const call_counts& calls,
                              double seconds, double rate, unsigned columns) {
    std::vector<std::string> parts;
    if (maps.total != 0) {
        const double share = static_cast<double>(maps.ended) / static_cast<double>(maps.total);
        std::string done = setup::grouped(maps.ended) + "/" + setup::grouped(maps.total) + " " +
                           std::to_string(static_cast<int>(share * 100)) + "%";
        if (columns == 0 || columns >= 60) done = progress_bar(share) + " " + done;
        parts.push_back(std::move(done));
        if (rate > 0 && maps.ended != 0) {
            parts.push_back(rate_text(rate));
            if (seconds >= 2 && maps.ended < maps.total) {
                parts.push_back(
                    setup::duration_text(static_cast<double>(maps.total - maps.ended) / rate) +
                    " left");
            }
        }
        if (maps.failed != 0) parts.push_back(setup::grouped(maps.failed) + " failed");
    }
    std::string summary = maps.total == 0 || calls.any() ? calls.summary() : "";
    if (maps.total == 0) summary += call_rate_text(calls.done + calls.failed, seconds);
    if (!summary.empty()) parts.push_back(std::move(summary));
    parts.push_back(elapsed_text(seconds));
    std::string line;
    for (const std::string& part : parts) {
        // Without a map it is one sentence.
        const std::string_view between = maps.total == 0 ? ", " : " | ";
        std::string longer = line.empty() ? part : line + std::string(between) + part;
        if (columns != 0 && !line.empty() && display_width(longer) >= columns) break;
        line = std::move(longer);
    }
    return line;
}

progress::progress(coro::event_loop& loop, console& target, progress_source source,
                   progress_style style)
    : loop_(loop), console_(target), source_(std::move(source)), style_(style),
      before_(*source_.counts), pace_(loop.now()),
      redraws_(style == progress_style::automatic && target.traits().err_is_terminal &&
               target.traits().can_redraw) {
    const bool shows = redraws_ || (style_ != progress_style::none && source_.maps);
    if (shows) loop_.schedule(*this, loop.now() + progress_pace::redraw_every);
    else style_ = progress_style::none;
}

lang::map_progress progress::maps() const {
    return source_.maps ? source_.maps() : lang::map_progress();
}

void progress::stop() {
    if (std::exchange(stopped_, true)) return;
    unschedule();
    if (redraws_ && shown_) console_.clear_status();
    const call_counts counts = source_.counts->since(before_);
    const double seconds = pace_.seconds(loop_.now());
    if (style_ == progress_style::json) {
        console_.err_data(render_progress_json(counts, nullptr, seconds, 0, "end"));
        return;
    }
    // Whoever has read a line knows from the last one how it ended.
    if (redraws_ || (style_ != progress_style::lines && !shown_)) return;
    if (!counts.any() && !shown_) return;
    console_.err("end: " + run_progress_line({}, counts, seconds, 0, 0) + "\n");
}

void progress::on_timer() noexcept {
    const auto now = loop_.now();
    const call_counts counts = source_.counts->since(before_);
    const lang::map_progress at = maps();
    const double rate = pace_.rate(now, at.ended);
    const double seconds = pace_.seconds(now);
    const bool any = counts.any() || at.total != 0;
    if (redraws_) {
        if (any)
            console_.show_status(run_progress_line(at, counts, seconds, rate, console_.columns()));
        shown_ = shown_ || any;
    } else if (pace_.takes_line(now) && any) {
        shown_ = true;
        if (style_ == progress_style::json)
            console_.err_data(render_progress_json(counts, &at, seconds, rate, "progress"), true);
        else console_.err_log(run_progress_line(at, counts, seconds, rate, 0) + "\n");
    }
    loop_.schedule(*this,
                   now + (redraws_ ? progress_pace::redraw_every : progress_pace::look_every));
}

} // namespace heddle::cli
