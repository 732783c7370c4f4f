// The limits that the user has set, of a model or of a whole account.
#pragma once

#include <heddle/providers/limits/limiter_options.hpp>
#include <heddle/providers/limits/minute_limit.hpp>

#include <array>
#include <cstddef>
#include <optional>

namespace heddle::providers::limits {

/// Several limiters may share one: requests of any of them count for all. Threads: as any value.
class account_limits {
public:
    using time_point = coro::clock::time_point;
    using amounts = std::array<double, measures>;

    /// When a request fits, and the measure that delays it; `places`: a place in flight.
    struct room {
        time_point at;
        std::size_t which = 0;
    };
    static constexpr std::size_t places = measures;

    account_limits(std::chrono::milliseconds burst) noexcept : burst_(burst) {}

    /// If there is a limit already, the stricter of the two applies.
    void tighten(const account_bounds& bounds, time_point now);
    [[nodiscard]] bool any() const noexcept { return any_; }

    void refill(time_point now) noexcept;
    /// `at` is max(): when a call has ended.
    [[nodiscard]] room fits_at(const amounts& wanted, time_point now) const noexcept;
    /// A lower bound for the call that comes after `before` others. Requests only: tokens may come
    /// back.
    [[nodiscard]] time_point earliest(std::size_t before, time_point now) const noexcept;

    /// The measure of which a call takes more than the limit is, so that no wait lets it pass.
    [[nodiscard]] std::optional<std::size_t> exceeded_by(const amounts& least) const noexcept;

    void take(const amounts& wanted, minute_limit::sending when) noexcept;
    /// See minute_limit::sent.
    void sent(const amounts& taken, std::optional<time_point> before) noexcept;
    /// A call has ended.
    void end(const amounts& change, time_point sent) noexcept;
    void drain() noexcept;

    [[nodiscard]] const std::optional<minute_limit>& of(std::size_t measure) const noexcept {
        return limits_[measure];
    }
    /// Calls of all models.
    [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }
    [[nodiscard]] std::optional<unsigned> max_in_flight() const noexcept { return max_in_flight_; }

private:
    std::chrono::milliseconds burst_;
    std::array<std::optional<minute_limit>, measures> limits_;
    std::optional<unsigned> max_in_flight_;
    std::size_t in_flight_ = 0;
    bool any_ = false;
};

} // namespace heddle::providers::limits
