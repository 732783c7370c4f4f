// Conversion of times. Include heddle/convert.hpp.
#pragma once

#include <heddle/json_conversion.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <ratio>
#include <type_traits>

namespace heddle::detail {

/// A time of the system clock in all the precision that RFC 3339 has for us.
struct clock_reading {
    std::int64_t seconds = 0; ///< since 1970-01-01, in UTC
    std::int64_t nanoseconds = 0;
};

[[nodiscard]] json write_seconds(double seconds, const json_place& at);
/// Seconds whose number of periods is from `min` to `max`.
[[nodiscard]] std::optional<double> read_periods(const json& from, double per_second, double min,
                                                 double max, const json_place& at);
[[nodiscard]] json duration_schema();
/// RFC 3339 in UTC; only for the years 0 to 9999, others are errors.
[[nodiscard]] json write_time(const clock_reading& time, const json_place& at);
[[nodiscard]] std::optional<clock_reading> read_time(const json& from, const json_place& at);
[[nodiscard]] json time_schema();

/// Durations are numbers of seconds, as in the language.
template <class Rep, class Period>
struct converter<std::chrono::duration<Rep, Period>> {
    using type = std::chrono::duration<Rep, Period>;

    static json write(const type& value, const json_place& at) {
        using whole = std::chrono::duration<std::int64_t>;
        if constexpr (std::is_integral_v<Rep>) {
            const auto seconds = std::chrono::duration_cast<whole>(value);
            if (seconds == value) return seconds.count();
        }
        return write_seconds(std::chrono::duration<double>(value).count(), at);
    }
    static std::optional<type> read(const json& from, const json_place& at) {
        constexpr double per_second =
            static_cast<double>(Period::den) / static_cast<double>(Period::num);
        const auto count = read_periods(from, per_second, lowest(), highest(), at);
        if (!count) return std::nullopt;
        if constexpr (std::is_integral_v<Rep>) return type(static_cast<Rep>(std::round(*count)));
        return type(static_cast<Rep>(*count));
    }
    static json schema(schema_builder&) { return duration_schema(); }

private:
    // 2^63-1 is not a double: the next below is taken.
    static constexpr double highest() {
        return sizeof(Rep) < 8 || !std::is_integral_v<Rep>
                   ? static_cast<double>(std::numeric_limits<Rep>::max())
                   : 9223372036854774784.0;
    }
    static constexpr double lowest() {
        return static_cast<double>(std::numeric_limits<Rep>::lowest());
    }
};

/// Times of the system clock are strings as "2026-11-23T14:23:03.5Z".
template <class Duration>
struct converter<std::chrono::time_point<std::chrono::system_clock, Duration>> {
    using type = std::chrono::time_point<std::chrono::system_clock, Duration>;

    static json write(const type& value, const json_place& at) {
        const auto seconds = std::chrono::floor<std::chrono::duration<std::int64_t>>(value);
        const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(value - seconds);
        return write_time({seconds.time_since_epoch().count(), rest.count()}, at);
    }
    static std::optional<type> read(const json& from, const json_place& at) {
        const auto time = read_time(from, at);
        if (!time) return std::nullopt;
        // Periods shorter than a second may not reach as far as the years that can be written.
        constexpr double per_second =
            static_cast<double>(Duration::period::den) / static_cast<double>(Duration::period::num);
        const double periods = static_cast<double>(time->seconds) * per_second;
        const auto max = static_cast<double>(std::numeric_limits<typename Duration::rep>::max());
        if (std::fabs(periods) > max - 2 * per_second) return at.fail("the time is out of range");
        const auto whole = std::chrono::floor<Duration>(std::chrono::seconds(time->seconds));
        if constexpr (per_second <= 1) return type(whole);
        return type(whole +
                    std::chrono::floor<Duration>(std::chrono::nanoseconds(time->nanoseconds)));
    }
    static json schema(schema_builder&) { return time_schema(); }
};

} // namespace heddle::detail
