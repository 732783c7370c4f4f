#include <heddle/providers/limits/account_limits.hpp>

#include <algorithm>

namespace heddle::providers::limits {

void account_limits::tighten(const account_bounds& bounds, time_point now) {
    for (std::size_t i = 0; i < measures; ++i) {
        const auto& limit = bounds.per_minute[i];
        if (!limit || *limit <= 0) continue;
        any_ = true;
        if (limits_[i]) limits_[i]->tighten(*limit);
        else limits_[i].emplace(*limit, burst_, now);
    }
    if (!bounds.max_in_flight) return;
    any_ = true;
    const unsigned most = std::max(*bounds.max_in_flight, 1U);
    max_in_flight_ = std::min(max_in_flight_.value_or(most), most);
}

void account_limits::refill(time_point now) noexcept {
    for (auto& each : limits_) {
        if (each) each->refill(now);
    }
}

account_limits::room account_limits::fits_at(const amounts& wanted, time_point now) const noexcept {
    if (max_in_flight_ && in_flight_ >= *max_in_flight_) return {time_point::max(), places};
    room found{now, 0};
    for (std::size_t i = 0; i < measures; ++i) {
        if (!limits_[i]) continue;
        const time_point fits = limits_[i]->fits_at(wanted[i], now);
        if (fits > found.at) found = {fits, i};
    }
    return found;
}

coro::clock::time_point account_limits::earliest(std::size_t before,
                                                 time_point now) const noexcept {
    const auto& requests = limits_[index_of(measure::requests)];
    if (!requests) return now;
    const double missing = static_cast<double>(before) + 1 - std::max(requests->level(), 0.0) -
                           static_cast<double>(in_flight_); // what is not sent comes back
    return missing > 0 ? requests->earliest(missing, now) : now;
}

std::optional<std::size_t> account_limits::exceeded_by(const amounts& least) const noexcept {
    for (std::size_t i = 0; i < measures; ++i) {
        if (limits_[i] && least[i] > limits_[i]->limit()) return i;
    }
    return std::nullopt;
}

void account_limits::take(const amounts& wanted, minute_limit::sending when) noexcept {
    ++in_flight_;
    for (std::size_t i = 0; i < measures; ++i) {
        if (limits_[i]) limits_[i]->take(wanted[i], when);
    }
}

void account_limits::sent(const amounts& taken, std::optional<time_point> before) noexcept {
    for (std::size_t i = 0; i < measures; ++i) {
        if (limits_[i]) limits_[i]->sent(taken[i], before);
    }
}

void account_limits::end(const amounts& change, time_point sent) noexcept {
    --in_flight_;
    for (std::size_t i = 0; i < measures; ++i) {
        if (limits_[i] && change[i] != 0) limits_[i]->correct(change[i], sent);
    }
}

void account_limits::drain() noexcept {
    for (auto& each : limits_) {
        if (each) each->drain();
    }
}

} // namespace heddle::providers::limits
