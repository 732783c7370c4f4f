#include <heddle/providers/limits/wait_reporter.hpp>

#include <heddle/base/number_text.hpp>
#include <heddle/base/time_text.hpp>

namespace heddle::providers::limits {

namespace {

/// "600 a minute", "5 a second", "200 a day".
std::string rate_text(double per_second) {
    struct unit {
        double seconds;
        const char* name;
    };
    constexpr std::array<unit, 4> units{
        {{60, "minute"}, {1, "second"}, {3600, "hour"}, {86'400, "day"}}};
    unit chosen = units[0];
    if (per_second >= 1000.0 / 60) chosen = units[1];
    else if (per_second * 60 < 1) chosen = per_second * 3600 < 1 ? units[3] : units[2];
    return rounded_text(per_second * chosen.seconds, 3) + " a " + chosen.name;
}

std::string limit_text(const char* what, measure which, const limiter_counters& figures) {
    std::string text = std::string("the limit of ") + what;
    if (const auto rate = figures.per_second[static_cast<std::size_t>(which)]) {
        text += " (" + rate_text(*rate) + ")";
    }
    return text + " is used up";
}

} // namespace

std::string hold_text(limiter_hold hold, const limiter_counters& figures) {
    switch (hold) {
    case limiter_hold::asked_pause: return "the service responded with 429 and asked for a pause";
    case limiter_hold::backoff: return "the service responded with 429 without a time";
    case limiter_hold::in_flight:
        return std::to_string(figures.in_flight) + " calls are in flight, and no more may be";
    case limiter_hold::requests: return limit_text("requests", measure::requests, figures);
    case limiter_hold::tokens: return limit_text("tokens", measure::tokens, figures);
    case limiter_hold::input_tokens:
        return limit_text("input tokens", measure::input_tokens, figures);
    case limiter_hold::output_tokens:
        return limit_text("output tokens", measure::output_tokens, figures);
    case limiter_hold::learned_pace:
        return "earlier 429s showed that " + rate_text(figures.learned_per_second.value_or(0)) +
               " get through";
    case limiter_hold::nothing: break;
    }
    return "nothing delays them";
}

void wait_reporter::write(const limiter_fsm& machine, time_point now, bool warns) {
    next_line_ = now + between_lines;
    if (warns) warned_[static_cast<std::size_t>(machine.hold())] = true;
    const limiter_counters figures = machine.counters(now);
    std::string line = whom_ + ": " + hold_text(machine.hold(), figures) + "; ";
    line += figures.waiting == 1 ? "1 call waits" : std::to_string(figures.waiting) + " calls wait";
    if (machine.wake_at() != time_point::max()) {
        line += figures.waiting == 1 ? " " : ", the first one ";
        if (machine.may_be_sooner()) line += "at most ";
        line += whole_seconds_text(machine.wake_at() - now);
    }
    log_.write(warns ? log_level::warn : log_level::debug, "llm", line);
}

} // namespace heddle::providers::limits
