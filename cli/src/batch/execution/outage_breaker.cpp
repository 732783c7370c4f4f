#include "batch/execution/outage_breaker.hpp"

#include <algorithm>

namespace heddle::cli {

namespace {

[[nodiscard]] std::chrono::seconds pause_before(unsigned probe) noexcept {
    constexpr long first = 5;
    constexpr long longest = 60;
    return std::chrono::seconds(std::min(first << std::min(probe, 5U), longest));
}

} // namespace

void outage_breaker::row_ended(bool outage, bool was_probe, coro::clock::time_point now) noexcept {
    if (!outage) { // also one that was started before: the service is there again
        state_ = state::closed;
        in_a_row_ = 0;
        probes_ = 0;
        has_worked_ = true;
        return;
    }
    if (in_a_row_++ == 0) since_ = now;
    if (state_ == state::closed && in_a_row_ < failures_to_open) return;
    if (state_ == state::closed || (state_ == state::probing && was_probe)) {
        state_ = state::open;
        next_ = now + pause_before(probes_++);
    }
}

void outage_breaker::probe_lost(coro::clock::time_point now) noexcept {
    if (state_ != state::probing) return;
    state_ = state::open;
    next_ = now;
}

void outage_breaker::open(coro::clock::time_point now) noexcept {
    if (state_ != state::closed) return;
    state_ = state::open;
    next_ = now + pause_before(probes_++);
}

bool outage_breaker::is_fault_of_row(unsigned failed_probes,
                                     coro::clock::time_point now) const noexcept {
    constexpr unsigned probes = 3;
    constexpr std::chrono::minutes outage(10);
    return has_worked_ && failed_probes >= probes && !is_closed() && now - since_ >= outage;
}

bool outage_breaker::take_probe(coro::clock::time_point now) noexcept {
    if (state_ != state::open || now < next_) return false;
    state_ = state::probing;
    return true;
}

} // namespace heddle::cli
