#include <heddle/providers/limits/flight_window.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::providers::limits {

namespace {

constexpr double nearly_full = 0.8;

} // namespace

flight_window::flight_window(const limiter_options& options) noexcept
    : size_(std::clamp(options.first_in_flight, 1U, std::max(options.max_in_flight, 1U))),
      most_(std::max(options.max_in_flight, 1U)), decrease_(options.decrease),
      doubles_every_(options.doubles_every), doubling_from_(size_) {}

void flight_window::tighten(unsigned most) noexcept {
    most_ = std::min(most_, static_cast<double>(std::max(most, 1U)));
    size_ = std::min(size_, most_);
}

void flight_window::begin_doubling(time_point now) noexcept {
    doubling_from_ = size_;
    doubles_at_ = now + doubles_every_;
}

coro::clock::time_point flight_window::place_free_at(std::size_t in_flight,
                                                     time_point now) noexcept {
    const double needed = static_cast<double>(in_flight) + 1;
    if (needed <= size_) return now;
    holds_back_ = true;
    if (doubles_every_.count() <= 0 || refused_ || size_ >= most_) return time_point::max();
    // Nobody was held back for a while: the time begins now.
    if (doubles_at_ + doubles_every_ < now) begin_doubling(now);
    if (now >= doubles_at_) {
        size_ = std::min(std::max(size_, 2 * doubling_from_), most_);
        begin_doubling(now);
    }
    return needed <= size_ ? now : doubles_at_;
}

/// Slow start up to what was in flight at the last 429 (doubling before there was one), then in
/// steps that begin with one more.
void flight_window::answered(std::size_t in_flight, time_point now) noexcept {
    if (!holds_back_) return;
    holds_back_ = static_cast<double>(in_flight) + 2 > size_;
    if (std::isinf(plateau_)) size_ += 1;
    else if (size_ + 0.5 < plateau_) size_ += 0.5;
    else size_ += growth_.after_call(0, size_);
    size_ = std::min(size_, most_);
    if (size_ >= 2 * doubling_from_) begin_doubling(now);
}

/// What was in flight is only then suspected when there was hardly room for more; else the window
/// comes back to where it was as soon as it is needed.
void flight_window::refused(std::size_t in_flight, bool shrinks) noexcept {
    refused_ = true;
    holds_back_ = false;
    if (!shrinks) return;
    const double were = static_cast<double>(in_flight) + 1; // the refused one was as well
    if (were >= nearly_full * size_) {
        const double before = std::exchange(plateau_, std::max(1.0, were - 1));
        const bool sure = std::abs(before - plateau_) <= 0.25 * plateau_;
        growth_.restart(sure ? calls_in_step : std::max(20.0, plateau_),
                        sure ? 1.0 : std::max(1.0, 0.1 * plateau_));
    }
    size_ = std::max(1.0, size_ * decrease_);
}

} // namespace heddle::providers::limits
