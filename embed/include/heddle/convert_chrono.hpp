// Conversion of times. Include heddle/convert.hpp.
#pragma once

#include <heddle/base/visibility.hpp>
#include <heddle/json_conversion.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <ratio>
#include <string>
#include <type_traits>

namespace HEDDLE_PUBLIC heddle {
namespace detail {

/// A time of the system clock with nanoseconds, for RFC 3339.
struct clock_reading {
    std::int64_t seconds = 0; ///< since 1970-01-01, in UTC
    std::int64_t nanoseconds = 0;
};

[[nodiscard]] json write_seconds(double seconds, const json_place& at);
/// Seconds whose number of periods is from `min` to `max`.
[[nodiscard]] std::optional<double> read_periods(const json& from, double per_second, double min,
                                                 double max, const json_place& at);
[[nodiscard]] json duration_schema();
/// RFC 3339 in UTC, for the years 0 to 9999; other years are errors.
[[nodiscard]] json write_time(const clock_reading& time, const json_place& at);
[[nodiscard]] std::optional<clock_reading> read_time(const json& from, const json_place& at);
[[nodiscard]] json time_schema();

/// Durations are numbers of seconds, as in the language.
template <class Rep, class Period>
struct converter<std::chrono::duration<Rep, Period>> {
    using type = std::chrono::duration<Rep, Period>;

    static json write(const type& value, const json_place& at) {
        if constexpr (std::is_integral_v<Rep>) {
            // Only what the seconds of the clock can hold: the largest hours exceed that.
            if (std::fabs(seconds_in(value)) < 9e18L) {
                const auto whole =
                    std::chrono::duration_cast<std::chrono::duration<std::int64_t>>(value);
                if (whole == value) return whole.count();
            }
        }
        return write_seconds(static_cast<double>(seconds_in(value)), at);
    }
    static std::optional<type> read(const json& from, const json_place& at) {
        constexpr double per_second =
            static_cast<double>(Period::den) / static_cast<double>(Period::num);
        const auto count = read_periods(from, per_second, lowest(), highest(), at);
        if (!count) return std::nullopt;
        if constexpr (!std::is_integral_v<Rep>) {
            return type(static_cast<Rep>(*count));
        } else {
            if (Period::num > Period::den && *count != std::round(*count)) {
                return at.expected(
                    "seconds that are a multiple of " + std::to_string(Period::num / Period::den),
                    from);
            }
            // The largest numbers are not doubles: they are written and read as the next one.
            if (*count >= static_cast<double>(std::numeric_limits<Rep>::max()))
                return type(std::numeric_limits<Rep>::max());
            return type(static_cast<Rep>(std::round(*count)));
        }
    }
    static json schema(schema_builder&) { return duration_schema(); }

private:
    static long double seconds_in(const type& value) {
        return static_cast<long double>(value.count()) * Period::num / Period::den;
    }
    static constexpr double highest() {
        return static_cast<double>(std::numeric_limits<Rep>::max());
    }
    static constexpr double lowest() {
        return static_cast<double>(std::numeric_limits<Rep>::lowest());
    }
};

/// Times of the system clock are strings such as "2026-11-23T14:23:03.5Z".
template <class Duration>
struct converter<std::chrono::time_point<std::chrono::system_clock, Duration>> {
    using type = std::chrono::time_point<std::chrono::system_clock, Duration>;

    static json write(const type& value, const json_place& at) {
        using period = typename Duration::period;
        const auto about =
            static_cast<long double>(value.time_since_epoch().count()) * period::num / period::den;
        constexpr long double years = 1e12L; // more than can be written
        if (!(std::fabs(about) < years))
            return write_time({std::numeric_limits<std::int64_t>::max(), 0}, at);
        const auto seconds = std::chrono::floor<std::chrono::duration<std::int64_t>>(value);
        const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(value - seconds);
        return write_time({seconds.time_since_epoch().count(), rest.count()}, at);
    }
    static std::optional<type> read(const json& from, const json_place& at) {
        const auto time = read_time(from, at);
        if (!time) return std::nullopt;
        // Periods shorter than a second may not cover all years that can be written.
        constexpr double per_second =
            static_cast<double>(Duration::period::den) / static_cast<double>(Duration::period::num);
        const double periods = static_cast<double>(time->seconds) * per_second;
        const auto max = static_cast<double>(std::numeric_limits<typename Duration::rep>::max());
        if (std::fabs(periods) > max - 2 * per_second) return at.fail("the time is out of range");
        if constexpr (!std::is_integral_v<typename Duration::rep>) {
            return type(Duration(
                std::chrono::duration<double>(static_cast<double>(time->seconds) +
                                              static_cast<double>(time->nanoseconds) * 1e-9)));
        } else {
            const auto whole = std::chrono::floor<Duration>(std::chrono::seconds(time->seconds));
            if constexpr (per_second <= 1) return type(whole);
            return type(whole +
                        std::chrono::floor<Duration>(std::chrono::nanoseconds(time->nanoseconds)));
        }
    }
    static json schema(schema_builder&) { return time_schema(); }
};

} // namespace detail
} // namespace heddle
