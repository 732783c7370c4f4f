#include "common/reset_time.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/parse_number.hpp>
#include <heddle/providers/common/retry.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::providers {

namespace {

using std::chrono::milliseconds;
// The years that can be written reach beyond what system_clock counts in nanoseconds.
using instant = std::chrono::sys_time<milliseconds>;

constexpr milliseconds longest = std::chrono::hours(24 * 31);
constexpr milliseconds just_passed = std::chrono::minutes(1); // clocks differ
constexpr milliseconds second = std::chrono::seconds(1);
/// No duration is 31 years long: from here on a number is Unix time.
constexpr double first_unix_time = 1e9;
constexpr double first_unix_milliseconds = 1e12;
constexpr double no_time = 1e15;

struct point {
    instant at;
    milliseconds grain;
};

bool take_digits(std::string_view& text, std::size_t count, int& value) {
    if (text.size() < count) return false;
    value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (text[i] < '0' || text[i] > '9') return false;
        value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(count);
    return true;
}

bool take_one_of(std::string_view& text, std::string_view characters) {
    if (text.empty() || characters.find(text.front()) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
}

/// The digits after a point, rounded up.
milliseconds take_fraction(std::string_view& text) {
    int sum = 0;
    int unit = 100;
    bool more = false;
    for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1)) {
        sum += unit * (text.front() - '0');
        more = more || (unit == 0 && text.front() != '0');
        unit /= 10;
    }
    return milliseconds(sum + (more ? 1 : 0));
}

/// RFC 3339: 2026-11-21T05:00:12Z, with a fraction and an offset if need be.
std::optional<point> parse_rfc3339(std::string_view text) {
    using namespace std::chrono;
    int year_number = 0;
    int month_number = 0;
    int day_number = 0;
    int hour = 0;
    int minute = 0;
    int whole_second = 0;
    const bool whole = take_digits(text, 4, year_number) && take_one_of(text, "-") &&
                       take_digits(text, 2, month_number) && take_one_of(text, "-") &&
                       take_digits(text, 2, day_number) && take_one_of(text, "Tt ") &&
                       take_digits(text, 2, hour) && take_one_of(text, ":") &&
                       take_digits(text, 2, minute) && take_one_of(text, ":") &&
                       take_digits(text, 2, whole_second);
    if (!whole || hour > 23 || minute > 59 || whole_second > 60) return std::nullopt;
    const auto date =
        year(year_number) / static_cast<unsigned>(month_number) / static_cast<unsigned>(day_number);
    if (!date.ok()) return std::nullopt;
    const bool has_fraction = take_one_of(text, ".");
    const milliseconds fraction = has_fraction ? take_fraction(text) : milliseconds(0);
    minutes offset(0);
    if (!take_one_of(text, "Zz")) {
        const bool behind = text.starts_with('-');
        int hours_off = 0;
        int minutes_off = 0;
        if (!take_one_of(text, "+-") || !take_digits(text, 2, hours_off) ||
            !take_one_of(text, ":") || !take_digits(text, 2, minutes_off)) {
            return std::nullopt;
        }
        offset = hours(hours_off) + minutes(minutes_off);
        if (behind) offset = -offset;
    }
    if (!text.empty()) return std::nullopt;
    const instant at =
        sys_days(date) + hours(hour) + minutes(minute) + seconds(whole_second) + fraction - offset;
    return point{at, has_fraction ? milliseconds(1) : second};
}

point unix_time(double number) {
    const bool in_milliseconds = number >= first_unix_milliseconds;
    const double value = in_milliseconds ? number : number * 1000;
    const bool whole = !in_milliseconds && std::floor(number) == number;
    return {instant(milliseconds(static_cast<milliseconds::rep>(std::ceil(value)))),
            whole ? second : milliseconds(1)};
}

std::optional<point> parse_date(std::string_view text) {
    if (const auto date = parse_rfc3339(text)) return date;
    if (const auto date = parse_http_date(text)) return point{instant(*date), second};
    return std::nullopt;
}

} // namespace

std::optional<milliseconds> read_reset(std::string_view text,
                                       std::chrono::system_clock::time_point wall_now,
                                       rate_limit_headers& of) {
    text = ascii::trim(text);
    const auto number = parse_number<double>(text, std::chars_format::fixed);
    if (number && !(*number >= 0 && *number < no_time)) return std::nullopt;
    std::optional<point> point_in_time;
    if (!number) {
        if (const auto span = parse_duration(text)) return span;
        point_in_time = parse_date(text);
    } else if (*number >= first_unix_time) {
        point_in_time = unix_time(*number);
    } else {
        if (*number * 1000 > static_cast<double>(longest.count())) return std::nullopt;
        return parse_duration(text);
    }
    if (!point_in_time) return std::nullopt;
    const milliseconds wait = point_in_time->at - std::chrono::floor<milliseconds>(wall_now);
    if (wait < -just_passed || wait > longest) return std::nullopt;
    of.reset_grain = std::max(of.reset_grain, point_in_time->grain);
    return std::max(wait, milliseconds(0));
}

} // namespace heddle::providers
