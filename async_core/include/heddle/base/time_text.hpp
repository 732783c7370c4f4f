// Points in time and durations for people, headers and files.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle {

/// `seconds` since 1970 as RFC 3339 in UTC: "2026-11-29T10:43:28Z". The beginning of 1970 for a
/// year that the system cannot represent. Any thread.
[[nodiscard]] std::string utc_text(std::int64_t seconds);
/// The same of a point in time, without the part of a second.
[[nodiscard]] std::string utc_text(std::chrono::system_clock::time_point when);

/// The seconds since 1970 of a string that utc_text returned; nothing for any other string. Any
/// thread.
[[nodiscard]] std::optional<std::int64_t> seconds_of_utc(std::string_view text);

/// Whole seconds, rounded up, so that no retry comes too early: "41 s". Any thread.
[[nodiscard]] std::string whole_seconds_text(std::chrono::nanoseconds span);

} // namespace heddle
