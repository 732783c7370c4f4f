// Absolute deadlines.
#pragma once

#include <algorithm>
#include <chrono>

namespace heddle::coro {

using clock = std::chrono::steady_clock;

/// A point in time after which work is pointless. Handed down, never reset by a retry.
class deadline {
public:
    constexpr deadline() = default; ///< never
    constexpr explicit deadline(clock::time_point at) : at_(at) {}
    [[nodiscard]] static constexpr deadline never() { return {}; }

    [[nodiscard]] constexpr bool is_never() const noexcept {
        return at_ == clock::time_point::max();
    }
    [[nodiscard]] constexpr clock::time_point at() const noexcept { return at_; }
    [[nodiscard]] constexpr bool passed(clock::time_point now) const noexcept { return now >= at_; }
    /// Time left, never negative; clock::duration::max() when there is no deadline.
    [[nodiscard]] constexpr clock::duration left(clock::time_point now) const noexcept {
        if (is_never()) return clock::duration::max();
        return std::max(at_ - now, clock::duration::zero());
    }
    [[nodiscard]] constexpr deadline earlier(deadline other) const noexcept {
        return deadline(std::min(at_, other.at_));
    }
    friend constexpr auto operator<=>(deadline, deadline) = default;

private:
    clock::time_point at_ = clock::time_point::max();
};

} // namespace heddle::coro
