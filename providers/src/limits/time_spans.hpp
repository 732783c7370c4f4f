// Seconds as numbers, for arithmetic with rates.
#pragma once

#include <heddle/coro/deadline.hpp>

#include <algorithm>
#include <chrono>

namespace heddle::providers::limits {

/// Of any unit: milliseconds that a service names may be more than nanoseconds can count.
template <class Rep, class Period>
[[nodiscard]] double seconds(std::chrono::duration<Rep, Period> span) noexcept {
    return std::chrono::duration<double>(span).count();
}

/// Rounded up, from 0 to 31 days: a wait that ends early would meet the limit again.
[[nodiscard]] inline coro::clock::duration span_of(double seconds) noexcept {
    constexpr double max_seconds = 3600.0 * 24 * 31;
    const auto span = std::chrono::duration<double>(std::clamp(seconds, 0.0, max_seconds));
    return std::chrono::ceil<coro::clock::duration>(span);
}

} // namespace heddle::providers::limits
