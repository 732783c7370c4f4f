// When a limit is back, as the headers of services write it.
#pragma once

#include <heddle/providers/common/chat_codec.hpp>

#include <chrono>
#include <optional>
#include <string_view>

namespace heddle::providers {

/// How long after `wall_now` a limit is back. Reads a duration ("6m0s", or a number of seconds), or
/// a point in time: Unix time in seconds or milliseconds, RFC 3339 with a fraction and an offset if
/// need be, or an HTTP-date. One that has just passed means now. What is more than a minute ago, or
/// more than 31 days ahead, is not meant so: nothing. Raises the reset_grain of `of` to what the
/// form can express. Pure.
[[nodiscard]] std::optional<std::chrono::milliseconds> read_reset(
    std::string_view text, std::chrono::system_clock::time_point wall_now, rate_limit_headers& of);

} // namespace heddle::providers
