#include "batch/progress/batch_progress.hpp"

#include <heddle/base/display_width.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/object.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace heddle::cli {

namespace {

std::string cost_text(const batch_counts& counts) {
    std::string text = setup::dollars(counts.spent.cost_usd);
    if (text.empty() && !counts.budget_usd) return {};
    if (text.empty()) text = "$0";
    if (counts.budget_usd)
        text += " of " + (*counts.budget_usd > 0 ? setup::dollars(*counts.budget_usd) : "$0");
    else if (counts.mean_cost && counts.left() && *counts.left() != 0) {
        const double expected =
            counts.spent.cost_usd + *counts.mean_cost * static_cast<double>(*counts.left());
        text += ", about " + setup::dollars(expected) + " in all";
    }
    return text;
}

} // namespace

std::string progress_line(const batch_counts& counts, double seconds, double rate,
                          unsigned columns) {
    if (!counts.loading.empty()) {
        std::string line = "loading " + utf8::printable_line(counts.loading);
        if (!counts.waits_for.empty()) line += " | then waiting for " + counts.waits_for;
        return line;
    }
    std::vector<std::string> parts;
    std::string rows = setup::grouped(counts.ended());
    const std::string about = counts.total_is_estimate ? "~" : "";
    if (counts.total) {
        rows += "/" + about + setup::grouped(*counts.total);
        const double share = *counts.total == 0 ? 1
                                                : static_cast<double>(counts.ended()) /
                                                      static_cast<double>(*counts.total);
        if (columns == 0 || columns >= 60) rows = progress_bar(share) + " " + rows;
    }
    parts.push_back(rows + " rows");
    if (rate > 0 && counts.ended_now() != 0) {
        parts.push_back(rate_text(rate));
        if (counts.left() && *counts.left() != 0 && seconds >= 2) {
            parts.push_back(
                about + setup::duration_text(static_cast<double>(*counts.left()) / rate) + " left");
        }
    }
    std::string running = setup::grouped(counts.in_progress) + " running";
    if (counts.on_the_wire != 0)
        running += ", " + setup::grouped(counts.on_the_wire) + " on the wire";
    if (counts.limited != 0)
        running += ", " + setup::grouped(counts.limited) + " waiting for a limit";
    if (counts.retrying != 0) running += ", " + setup::grouped(counts.retrying) + " to retry";
    if (!counts.waits_for.empty()) running += ", waiting for " + counts.waits_for;
    parts.push_back(std::move(running));
    if (counts.waiting != 0)
        parts.push_back(setup::grouped(counts.waiting) + " waiting for " +
                        setup::counted(counts.parked, "parked call"));
    if (counts.failed != 0) parts.push_back(setup::grouped(counts.failed) + " failed");
    if (counts.rejected != 0) parts.push_back(setup::grouped(counts.rejected) + " rejected");
    if (counts.cached != 0)
        parts.push_back(setup::grouped(counts.cached) + " " + counts.cached_from);
    if (std::string cost = cost_text(counts); !cost.empty()) parts.push_back(std::move(cost));
    if (counts.spent.input_tokens != 0) {
        parts.push_back(setup::grouped(counts.spent.input_tokens) + " tokens in, " +
                        setup::grouped(counts.spent.output_tokens) + " out");
    }
    std::string line;
    for (const std::string& part : parts) {
        std::string longer = line.empty() ? part : line + " | " + part;
        if (columns != 0 && !line.empty() && display_width(longer) >= columns) break;
        line = std::move(longer);
    }
    return line;
}

std::string progress_json(const batch_counts& counts, double seconds, double rate,
                          std::string_view event) {
    boost::json::object members{{"event", event},
                                {"total", nullptr},
                                {"total_is_estimate", counts.total_is_estimate},
                                {"done", counts.done},
                                {"failed", counts.failed},
                                {"rejected", counts.rejected},
                                {"kept", counts.kept},
                                {"running", counts.in_progress},
                                {"on_the_wire", counts.on_the_wire},
                                {"waiting_for_limit", counts.limited},
                                {"retrying", counts.retrying},
                                {"waiting", counts.waiting},
                                {"parked_calls", counts.parked},
                                {"waits_for", nullptr},
                                {"loading", nullptr},
                                {"seconds", std::round(seconds * 10) / 10},
                                {"rows_per_second", std::round(rate * 100) / 100},
                                {"seconds_left", nullptr},
                                {"requests", counts.spent.requests},
                                {"cache_hits", counts.cached},
                                {"input_tokens", counts.spent.input_tokens},
                                {"output_tokens", counts.spent.output_tokens},
                                {"cost_usd", setup::rounded_usd(counts.spent.cost_usd)}};
    if (counts.total) members["total"] = *counts.total;
    if (!counts.loading.empty()) members["loading"] = counts.loading;
    if (!counts.waits_for.empty()) members["waits_for"] = counts.waits_for;
    if (counts.left() && rate > 0)
        members["seconds_left"] = std::round(static_cast<double>(*counts.left()) / rate);
    return setup::json_line(members);
}

batch_progress::batch_progress(coro::event_loop& loop, console& output, progress_style style,
                               std::function<batch_counts()> counts)
    : loop_(loop), console_(output), style_(style),
      redraws_(style == progress_style::automatic && output.traits().err_is_terminal &&
               output.traits().can_redraw),
      counts_(std::move(counts)), pace_(loop.now()) {
    if (style_ == progress_style::none) return;
    loop_.schedule(*this, loop.now() + progress_pace::redraw_every);
}

void batch_progress::show() {
    const batch_counts counts = counts_();
    const auto now = loop_.now();
    const double seconds = pace_.seconds(now);
    const double rate = pace_.rate(now, counts.ended_now());
    if (style_ == progress_style::json) {
        console_.err_data(progress_json(counts, seconds, rate, "progress"), true);
    } else if (redraws_) {
        console_.show_status(progress_line(counts, seconds, rate, console_.columns()));
    } else {
        console_.err_log(progress_line(counts, seconds, rate, 0) + "\n");
    }
}

void batch_progress::on_timer() noexcept {
    const auto now = loop_.now();
    if (redraws_ || pace_.takes_line(now)) show();
    else (void)pace_.rate(now, counts_().ended_now()); // keeps up with the rate
    loop_.schedule(*this,
                   now + (redraws_ ? progress_pace::redraw_every : progress_pace::look_every));
}

void batch_progress::stop() {
    if (std::exchange(stopped_, true) || style_ == progress_style::none) return;
    unschedule();
    if (redraws_) console_.clear_status();
    const batch_counts counts = counts_();
    if (!counts.loading.empty()) return; // it never began
    const double passed = std::max(pace_.seconds(loop_.now()), 0.001);
    const double mean = static_cast<double>(counts.ended_now()) / passed;
    if (style_ == progress_style::json) {
        console_.err_data(progress_json(counts, passed, mean, "end"));
    }
}

} // namespace heddle::cli
