#include <heddle/convert_chrono.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/number_text.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

namespace heddle::detail {

namespace {

constexpr std::int64_t day_seconds = 86'400;

/// Reads the parts of a time one after the other.
class time_text {
public:
    explicit time_text(std::string_view text) : rest_(text) {}

    /// Exactly `count` digits, as a number from `min` to `max`.
    int number(std::size_t count, int min, int max) {
        int value = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (i >= rest_.size() || !ascii::is_digit(rest_[i])) return bad();
            value = value * 10 + (rest_[i] - '0');
        }
        rest_.remove_prefix(count);
        return value < min || value > max ? bad() : value;
    }
    /// One of the characters.
    char one_of(std::string_view characters) {
        if (rest_.empty() || characters.find(rest_.front()) == std::string_view::npos) {
            bad();
            return '\0';
        }
        const char found = rest_.front();
        rest_.remove_prefix(1);
        return found;
    }
    /// The digits behind a point, if there is one. Beyond nanoseconds they are dropped.
    std::int64_t fraction() {
        if (!rest_.starts_with('.')) return 0;
        rest_.remove_prefix(1);
        std::int64_t value = 0;
        std::size_t count = 0;
        for (; count < rest_.size() && ascii::is_digit(rest_[count]); ++count) {
            if (count < 9) value = value * 10 + (rest_[count] - '0');
        }
        if (count == 0) return bad();
        rest_.remove_prefix(count);
        for (; count < 9; ++count) value *= 10;
        return value;
    }
    [[nodiscard]] bool good() const noexcept { return good_ && rest_.empty(); }

private:
    int bad() {
        good_ = false;
        rest_ = {};
        return 0;
    }

    std::string_view rest_;
    bool good_ = true;
};

[[nodiscard]] std::optional<clock_reading> time_of(std::string_view text) {
    time_text in(text);
    const std::chrono::year year(in.number(4, 0, 9999));
    in.one_of("-");
    const std::chrono::month month(static_cast<unsigned>(in.number(2, 1, 12)));
    in.one_of("-");
    const std::chrono::day day(static_cast<unsigned>(in.number(2, 1, 31)));
    in.one_of("Tt ");
    const int hour = in.number(2, 0, 23);
    in.one_of(":");
    const int minute = in.number(2, 0, 59);
    in.one_of(":");
    const int second = in.number(2, 0, 60); // a leap second counts as the next one
    const std::int64_t nanoseconds = in.fraction();
    const char zone = in.one_of("Zz+-");
    std::int64_t offset = 0;
    if (zone == '+' || zone == '-') {
        offset = in.number(2, 0, 23) * 3600;
        in.one_of(":");
        offset += in.number(2, 0, 59) * 60;
        if (zone == '-') offset = -offset;
    }
    const std::chrono::year_month_day date(year, month, day);
    if (!in.good() || !date.ok()) return std::nullopt;
    const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
    return clock_reading{days * day_seconds + hour * 3600 + minute * 60 + second - offset,
                         nanoseconds};
}

} // namespace

json write_seconds(double seconds, const json_place& at) {
    if (!std::isfinite(seconds)) at.fail("JSON cannot express a duration that is not finite");
    return seconds;
}

std::optional<double> read_periods(const json& from, double per_second, double min, double max,
                                   const json_place& at) {
    if (!from.is_number() || !std::isfinite(from.as_double()))
        return at.expected("a number of seconds", from);
    const double count = from.as_double() * per_second;
    if (count < min || count > max) {
        return at.expected("seconds from " + number_text(min / per_second) + " to " +
                               number_text(max / per_second),
                           from);
    }
    return count;
}

json duration_schema() {
    return json::object{{"type", "number"}, {"description", "A duration in seconds"}};
}

json write_time(const clock_reading& time, const json_place& at) {
    const std::int64_t days =
        (time.seconds >= 0 ? time.seconds : time.seconds - day_seconds + 1) / day_seconds;
    constexpr std::int64_t first = -719'528; // 0000-01-01
    constexpr std::int64_t last = 2'932'896; // 9999-12-31
    if (days < first || days > last) {
        at.fail("the time is not in the years 0 to 9999");
        return {};
    }
    const std::chrono::year_month_day date{
        std::chrono::sys_days(std::chrono::days(static_cast<int>(days)))};
    const auto rest = static_cast<int>(time.seconds - days * day_seconds);
    std::array<char, 40> buffer;
    std::snprintf(buffer.data(), buffer.size(), "%04d-%02u-%02uT%02d:%02d:%02d",
                  static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()), rest / 3600, rest / 60 % 60, rest % 60);
    std::string text = buffer.data();
    if (time.nanoseconds != 0) {
        std::snprintf(buffer.data(), buffer.size(), ".%09d", static_cast<int>(time.nanoseconds));
        std::string_view fraction = buffer.data();
        text += fraction.substr(0, fraction.find_last_not_of('0') + 1);
    }
    return text + "Z";
}

std::optional<clock_reading> read_time(const json& from, const json_place& at) {
    if (const auto* text = from.get_if<std::string>()) {
        if (const auto time = time_of(*text)) return time;
    }
    return at.expected("a time such as \"2026-11-23T14:23:03Z\"", from);
}

json time_schema() { return json::object{{"type", "string"}, {"format", "date-time"}}; }

} // namespace heddle::detail
