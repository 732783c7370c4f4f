#include "batch/run_limits.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace heddle::cli {

namespace {

struct limit_row {
    std::string_view name;
    double least;
    double most;
    bool is_count;
};

constexpr std::array<limit_row, 5> rows{{{"concurrency", 1, 1e6, true},
                                         {"budget-usd", 0, 1e12, false},
                                         {"max-calls", 0, 1e15, true},
                                         {"stop-after", 1, 1e15, true},
                                         {deadline_limit, 0, 365.0 * 24 * 3600, false}}};

std::string text_of(double number) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, number).ptr;
    return {text, end};
}

error no_such_limit(const std::string& text) {
    return error(errc::invalid_argument,
                 "there is no limit '" + text + "'; limits are " + known_limits);
}

} // namespace

result<void> check_limit(const std::string& name, double value) {
    const auto* const row = std::find_if(rows.begin(), rows.end(),
                                         [&](const limit_row& each) { return each.name == name; });
    if (row == rows.end()) return no_such_limit(name);
    const bool fits =
        value >= row->least && value <= row->most && (!row->is_count || std::trunc(value) == value);
    if (fits) return {};
    return error(errc::invalid_argument,
                 name + " must be a " + (row->is_count ? "whole number" : "number") + " from " +
                     text_of(row->least) + " to " + text_of(row->most));
}

result<std::pair<std::string, double>> parse_limit(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) return no_such_limit(text);
    std::pair<std::string, double> limit(text.substr(0, equals), 0);
    const std::string number = text.substr(equals + 1);
    const auto [end, failed] =
        std::from_chars(number.data(), number.data() + number.size(), limit.second);
    if (failed != std::errc() || end != number.data() + number.size()) return no_such_limit(text);
    if (auto fits = check_limit(limit.first, limit.second); !fits)
        return error(errc::invalid_argument, fits.error().message() + ", not '" + text + "'");
    return limit;
}

run_limits limits_of(const batch_request& asked) {
    run_limits limits{{"concurrency", static_cast<double>(asked.concurrency)}};
    if (asked.budget_usd) limits["budget-usd"] = *asked.budget_usd;
    if (asked.max_calls) limits["max-calls"] = static_cast<double>(*asked.max_calls);
    if (asked.max_failed) limits["stop-after"] = static_cast<double>(*asked.max_failed);
    else if (asked.skips_all_failures) limits["stop-after"] = 0; // --on-error skip: never
    return limits;
}

void adopt_limits(batch_request& asked, const run_limits& limits) {
    for (const auto& [name, value] : limits) {
        if (name == "budget-usd") asked.budget_usd = value;
        else if (name == "concurrency") asked.concurrency = static_cast<std::uint64_t>(value);
        else if (name == "max-calls") asked.max_calls = static_cast<std::uint64_t>(value);
        else if (name == "stop-after") asked.max_failed = static_cast<std::uint64_t>(value);
    }
}

run_limits set_limits::take(run_limits command) {
    const auto is_as_before = [&](const std::string& name) {
        if (of_command.empty()) return true; // an older heddle has not noted them
        const auto before = of_command.find(name);
        const auto now = command.find(name);
        if (before == of_command.end() || now == command.end())
            return before == of_command.end() && now == command.end();
        return before->second == now->second;
    };
    std::erase_if(set, [&](const auto& each) {
        return !is_as_before(each.first) || !check_limit(each.first, each.second);
    });
    of_command = std::move(command);
    return set;
}

std::string text_of(const run_limits& limits) {
    std::string text;
    for (const auto& [name, value] : limits)
        text += (text.empty() ? "" : ", ") + name + "=" + text_of(value);
    return text;
}

} // namespace heddle::cli
