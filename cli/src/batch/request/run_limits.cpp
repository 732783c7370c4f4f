#include "batch/request/run_limits.hpp"

#include <heddle/base/parse_number.hpp>
#include <heddle/setup/display_text.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <string_view>

namespace heddle::cli {

namespace {

struct limit_row {
    std::string_view name;
    double least;
    double most;
    bool is_count;
    bool may_be_lifted;
};

constexpr double year = 365.0 * 24 * 3600; ///< in seconds
constexpr std::array<limit_row, 7> rows{{{"concurrency", 1, 1e6, true, false},
                                         {"budget-usd", 0, 1e12, false, true},
                                         {"max-calls", 0, 1e15, true, true},
                                         {"stop-after", 1, 1e15, true, true},
                                         {"retry-rows", 0, 1000, true, false},
                                         {"timeout", 0.001, year, false, true},
                                         {deadline_limit, 0, year, false, true}}};

std::string text_of(double number) {
    if (number == no_limit) return "none";
    char text[32];
    // As an option takes it: 1000000, not 1e+06.
    const bool is_whole = std::trunc(number) == number && std::abs(number) < 1e18;
    const auto end =
        is_whole ? std::to_chars(text, text + sizeof text, static_cast<std::int64_t>(number)).ptr
                 : std::to_chars(text, text + sizeof text, number).ptr;
    return {text, end};
}

/// For people: 1,000,000.
std::string bound_text(double number) {
    return number < 1000 ? text_of(number) : setup::grouped(static_cast<std::uint64_t>(number));
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
    if (value == no_limit && row->may_be_lifted) return {};
    const bool fits =
        value >= row->least && value <= row->most && (!row->is_count || std::trunc(value) == value);
    if (fits) return {};
    return error(errc::invalid_argument,
                 name + " must be a " + (row->is_count ? "whole number" : "number") + " from " +
                     bound_text(row->least) + " to " + bound_text(row->most) +
                     (row->may_be_lifted ? ", or none" : ""));
}

result<std::pair<std::string, double>> parse_limit(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) return no_such_limit(text);
    std::pair<std::string, double> limit(text.substr(0, equals), 0);
    const std::string number = text.substr(equals + 1);
    const auto amount = parse_number<double>(number);
    if (number == "none") limit.second = no_limit;
    else if (!amount || !std::isfinite(*amount)) return no_such_limit(text);
    else limit.second = *amount == 0 ? 0 : *amount; // not -0
    if (auto fits = check_limit(limit.first, limit.second); !fits)
        return error(errc::invalid_argument, fits.error().message() + ", not '" + text + "'");
    return limit;
}

std::optional<double> amount_of(double value) noexcept {
    return value == no_limit ? std::nullopt : std::optional(value);
}

std::optional<std::uint64_t> count_of(double value) noexcept {
    if (value == no_limit) return std::nullopt;
    return static_cast<std::uint64_t>(value);
}

run_limits limits_of(const batch_request& asked) {
    run_limits limits{{"concurrency", static_cast<double>(asked.concurrency)}};
    if (asked.budget_usd) limits["budget-usd"] = *asked.budget_usd;
    if (asked.max_calls) limits["max-calls"] = static_cast<double>(*asked.max_calls);
    if (asked.max_failed) limits["stop-after"] = static_cast<double>(*asked.max_failed);
    else if (asked.skips_all_failures) limits["stop-after"] = 0; // --on-error skip: never
    if (asked.retry_rows != 0) limits["retry-rows"] = static_cast<double>(asked.retry_rows);
    if (asked.row_timeout)
        limits["timeout"] = std::chrono::duration<double>(*asked.row_timeout).count();
    return limits;
}

void adopt_limits(batch_request& asked, const run_limits& limits) {
    for (const auto& [name, value] : limits) {
        if (name == "budget-usd") {
            asked.budget_usd = amount_of(value);
        } else if (name == "concurrency") {
            asked.concurrency = static_cast<std::uint64_t>(value);
        } else if (name == "max-calls") {
            asked.max_calls = count_of(value);
        } else if (name == "stop-after") {
            asked.max_failed = count_of(value);
            asked.skips_all_failures = !asked.max_failed; // --on-error skip
        } else if (name == "retry-rows") {
            asked.retry_rows = static_cast<std::uint64_t>(value);
        } else if (name == "timeout") {
            asked.row_timeout.reset();
            if (value != no_limit)
                asked.row_timeout = std::chrono::ceil<std::chrono::milliseconds>(
                    std::chrono::duration<double>(value));
        }
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
