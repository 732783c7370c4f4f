// The number of calls that may be in flight.
#pragma once

#include <heddle/coro/deadline.hpp>
#include <heddle/providers/limits/learned_pace.hpp>
#include <heddle/providers/limits/limiter_options.hpp>

#include <cstddef>
#include <limits>

namespace heddle::providers::limits {

/// Slow start, then additive increase: the window doubles with each round of responses until the
/// first 429, which reduces it; then it quickly returns to where that 429 came, and grows slowly
/// beyond. It only grows while it is what delays calls.
///
/// If responses take long, so do rounds: until the first 429, the window therefore also doubles by
/// time, at most once per `doubles_every`. Because a 429 comes sooner than that, a service receives
/// at most twice what it accepts before the limiter reacts. Threads: as any value.
class flight_window {
public:
    using time_point = coro::clock::time_point;

    explicit flight_window(const limiter_options& options) noexcept;

    void tighten(unsigned most) noexcept;
    /// When there is room for one more than `in_flight`; max(): when a call has ended.
    [[nodiscard]] time_point place_free_at(std::size_t in_flight, time_point now) noexcept;
    /// A response has arrived; `in_flight` calls are left.
    void answered(std::size_t in_flight, time_point now) noexcept;
    /// A 429 has arrived, with `in_flight` other calls in progress. `shrinks`: their number may be
    /// the cause.
    void refused(std::size_t in_flight, bool shrinks) noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }

private:
    void begin_doubling(time_point now) noexcept;

    double size_;
    double most_;
    double decrease_;
    coro::clock::duration doubles_every_;
    double doubling_from_; // the size when doubles_at_ was set
    time_point doubles_at_{};
    double plateau_ =
        std::numeric_limits<double>::infinity(); // in flight when a full window met a 429
    bool refused_ = false;
    bool holds_back_ = false;
    careful_growth growth_; // beyond the plateau
};

} // namespace heddle::providers::limits
