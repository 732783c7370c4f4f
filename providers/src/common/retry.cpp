#include <heddle/providers/common/retry.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/parse_number.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/ports/llm_port.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace heddle::providers {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds max_advice = std::chrono::weeks(1);

/// A number that is not negative, in units of `unit`.
std::optional<milliseconds> read_wait(std::string_view text, milliseconds unit) {
    const auto number = parse_number<double>(ascii::trim(text), std::chars_format::fixed);
    if (!number || !std::isfinite(*number) || *number < 0) return std::nullopt;
    const double wait = std::ceil(*number * static_cast<double>(unit.count()));
    if (wait >= static_cast<double>(max_advice.count())) return max_advice;
    return milliseconds(static_cast<milliseconds::rep>(wait));
}

bool read_digits(std::string_view text, int& value) noexcept {
    const auto number = parse_number<int>(text);
    if (!number || text.starts_with('-')) return false;
    value = *number;
    return true;
}

std::optional<unsigned> read_month(std::string_view name) noexcept {
    static constexpr std::array<std::string_view, 12> names = {
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return static_cast<unsigned>(found - names.begin() + 1);
}

std::optional<std::chrono::sys_seconds> make_date(int year, std::string_view month_name,
                                                  std::string_view day_text,
                                                  std::string_view time) {
    int day = 0, hour = 0, minute = 0, second = 0;
    const auto month = read_month(month_name);
    if (!month || !read_digits(ascii::trim(day_text), day) || time.size() != 8) return std::nullopt;
    if (time[2] != ':' || time[5] != ':') return std::nullopt;
    if (!read_digits(time.substr(0, 2), hour) || !read_digits(time.substr(3, 2), minute) ||
        !read_digits(time.substr(6, 2), second)) {
        return std::nullopt;
    }
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(*month),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
    return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
           std::chrono::seconds(second);
}

bool is_rate_limit(const error& failure) noexcept {
    return failure.code() == ports::make_error_code(ports::llm_errc::rate_limit);
}

bool is_retryable_llm(ports::llm_errc code) noexcept {
    switch (code) {
    case ports::llm_errc::rate_limit:
    case ports::llm_errc::overloaded:
    case ports::llm_errc::server:
    case ports::llm_errc::request_timeout:
    case ports::llm_errc::conflict:
    case ports::llm_errc::connection: return true;
    default: return false;
    }
}

bool is_retryable_http(ports::http_errc code) noexcept {
    switch (code) {
    case ports::http_errc::resolve_failed:
    case ports::http_errc::connect_failed:
    case ports::http_errc::connect_timeout:
    case ports::http_errc::first_byte_timeout:
    case ports::http_errc::idle_timeout:
    case ports::http_errc::connection_closed:
    case ports::http_errc::connection_reset: return true;
    default: return false;
    }
}

} // namespace

bool is_retryable(const error& failure) noexcept {
    if (failure.is_cancelled()) return false;
    if (failure.info().retryable) return *failure.info().retryable;
    if (failure.code().category() == ports::llm_category()) {
        return is_retryable_llm(static_cast<ports::llm_errc>(failure.code().value()));
    }
    if (failure.code().category() == ports::http_category()) {
        return is_retryable_http(static_cast<ports::http_errc>(failure.code().value()));
    }
    return false;
}

std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text) {
    text = ascii::trim(text);
    int year = 0;
    // "Wed, 21 Oct 2026 07:28:00 GMT"
    if (text.size() == 29 && text[3] == ',' && text.ends_with(" GMT")) {
        if (!read_digits(text.substr(12, 4), year)) return std::nullopt;
        return make_date(year, text.substr(8, 3), text.substr(5, 2), text.substr(17, 8));
    }
    // "Wed Oct 21 07:28:00 2026", asctime
    if (text.size() == 24 && text[3] == ' ' && text[7] == ' ') {
        if (!read_digits(text.substr(20, 4), year)) return std::nullopt;
        return make_date(year, text.substr(4, 3), text.substr(8, 2), text.substr(11, 8));
    }
    // "Wednesday, 21-Oct-26 07:28:00 GMT", RFC 850
    const std::size_t comma = text.find(", ");
    if (comma != std::string_view::npos && text.ends_with(" GMT")) {
        const std::string_view date = text.substr(comma + 2);
        if (date.size() != 22 || date[2] != '-' || date[6] != '-') return std::nullopt;
        if (!read_digits(date.substr(7, 2), year)) return std::nullopt;
        return make_date(2000 + year, date.substr(3, 3), date.substr(0, 2), date.substr(10, 8));
    }
    return std::nullopt;
}

retry_advice read_retry_advice(std::optional<std::string_view> should_retry,
                               std::optional<std::string_view> retry_after_ms,
                               std::optional<std::string_view> retry_after,
                               std::chrono::system_clock::time_point wall_now) {
    retry_advice advice;
    if (should_retry) {
        if (ascii::trim(*should_retry) == "true") advice.should_retry = true;
        if (ascii::trim(*should_retry) == "false") advice.should_retry = false;
    }
    if (retry_after_ms) advice.wait = read_wait(*retry_after_ms, milliseconds(1));
    if (advice.wait || !retry_after) return advice;
    advice.wait = read_wait(*retry_after, std::chrono::seconds(1));
    if (advice.wait) return advice;
    if (const auto date = parse_http_date(*retry_after)) {
        const auto now = std::chrono::floor<milliseconds>(wall_now);
        const milliseconds wait = std::chrono::sys_time<milliseconds>(*date) - now;
        advice.wait = std::clamp(wait, milliseconds(0), max_advice);
    }
    return advice;
}

std::optional<milliseconds> parse_duration(std::string_view text) {
    struct unit {
        std::string_view name;
        double in_ms;
    };
    // "ms" comes before "m", which it begins with.
    static constexpr std::array<unit, 7> units = {{{"ms", 1},
                                                   {"us", 1e-3},
                                                   {"µs", 1e-3},
                                                   {"ns", 1e-6},
                                                   {"h", 3'600'000},
                                                   {"m", 60'000},
                                                   {"s", 1'000}}};
    text = ascii::trim(text);
    if (text.empty()) return std::nullopt;
    double sum = 0;
    for (bool first = true; !text.empty(); first = false) {
        double number = 0;
        const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), number,
                                               std::chars_format::fixed);
        if (ec != std::errc{} || !std::isfinite(number) || number < 0) return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        const auto found = std::find_if(units.begin(), units.end(), [text](const unit& one) {
            return text.starts_with(one.name);
        });
        const bool alone = first && text.empty();
        if (found == units.end() && !alone) return std::nullopt;
        sum += number * (alone ? 1'000 : found->in_ms);
        if (!alone) text.remove_prefix(found->name.size());
    }
    if (sum >= static_cast<double>(max_advice.count())) return max_advice;
    return milliseconds(static_cast<milliseconds::rep>(std::ceil(sum)));
}

std::optional<milliseconds> read_retry_text(std::string_view text) {
    struct unit {
        std::string_view name;
        std::string_view short_name;
    };
    static constexpr std::array<unit, 4> units = {
        {{"millisecond", "ms"}, {"second", "s"}, {"minute", "m"}, {"hour", "h"}}};
    const std::string lower = ascii::to_lower(text);
    for (const std::string_view asks : {"try again in ", "retry in ", "retry after "}) {
        const std::size_t found = lower.find(asks);
        if (found == std::string::npos) continue;
        std::string_view rest = std::string_view(lower).substr(found + asks.size());
        std::string_view span = rest.substr(0, rest.find_first_of(" ,;\n"));
        rest.remove_prefix(std::min(span.size() + 1, rest.size()));
        while (span.ends_with('.')) span.remove_suffix(1);
        if (span.empty() || span.front() < '0' || span.front() > '9') continue;
        if (span.back() < '0' || span.back() > '9') {
            if (const auto wait = parse_duration(span)) return wait;
            continue;
        }
        for (const unit& each : units) { // a number alone may be anything
            if (rest.starts_with(each.name)) {
                return parse_duration(std::string(span).append(each.short_name));
            }
        }
    }
    return std::nullopt;
}

retry_decision retry_state::after(const error& failure, coro::clock::time_point now,
                                  coro::deadline until) noexcept {
    if (failure.is_cancelled()) return {false, {}, "cancelled"};
    if (!is_retryable(failure)) return {false, {}, "a retry would not help"};

    unsigned& spent = is_rate_limit(failure) ? rate_limits_ : failures_;
    const unsigned budget =
        is_rate_limit(failure) ? options_->max_rate_limit_retries : options_->max_retries;
    if (spent >= budget) return {false, {}, "no retries are left"};

    const milliseconds asked = failure.info().retry_after.value_or(milliseconds(0));
    if (asked > options_->max_asked_wait) {
        return {false, {}, "the service asks for a longer wait than is allowed"};
    }
    const bool paced = paced_ && is_rate_limit(failure);
    const milliseconds wait = paced ? asked : choose_wait(spent, asked);
    const coro::clock::time_point at = now + wait;
    if (!until.is_never() && at + options_->min_try > until.at()) {
        return {false, {}, "another attempt could not finish before the deadline"};
    }
    if (options_->total > milliseconds(0) && at > started_ + options_->total) {
        return {false, {}, "another attempt would begin after the time for all attempts"};
    }
    ++spent;
    ++attempts_;
    return {true, paced ? now : at, {}};
}

milliseconds retry_state::choose_wait(unsigned spent, milliseconds asked) noexcept {
    const auto up_to = [this](milliseconds most) {
        std::uniform_int_distribution<milliseconds::rep> jitter(
            0, std::max(most.count(), milliseconds::rep{0}));
        return milliseconds(jitter(*jitter_));
    };
    // Those with the same time must not all come back at once: a little on top.
    if (asked > milliseconds(0))
        return asked + up_to(std::max(options_->first_wait / 4, asked / 20));
    milliseconds ceiling = options_->first_wait;
    for (unsigned i = 0; i < spent && ceiling < options_->max_wait; ++i) ceiling *= 2;
    return up_to(std::min(ceiling, options_->max_wait));
}

retry_state::random make_jitter(const retry_options& options) {
    if (options.seed != 0) {
        return retry_state::random(
            static_cast<retry_state::random::result_type>(options.seed ^ (options.seed >> 32)));
    }
    return retry_state::random(std::random_device{}());
}

} // namespace heddle::providers
