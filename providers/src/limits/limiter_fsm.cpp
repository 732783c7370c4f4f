#include <heddle/providers/limits/limiter_fsm.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::providers::limits {

namespace {

constexpr std::size_t at(measure which) noexcept { return static_cast<std::size_t>(which); }
constexpr double learning = 0.05;    // of sizes: the weight of a new answer
constexpr double nearly_full = 0.8;  // of the window
constexpr double fixed_weight = 200; // of a call beside its tokens, where flows share

/// A figure of the service, which may be anything.
double tokens(std::int64_t said) noexcept {
    return static_cast<double>(std::clamp<std::int64_t>(said, 0, 1'000'000'000));
}

} // namespace

limiter_fsm::limiter_fsm(limiter_options options, time_point now)
    : options_(options), buckets_{rate_bucket(options.burst, options.reserve),
                                  rate_bucket(options.burst, options.reserve),
                                  rate_bucket(options.burst, options.reserve),
                                  rate_bucket(options.burst, options.reserve)},
      pace_(options.ramp), queue_(options.batch_share),
      window_(std::clamp(options.first_in_flight, 1U, std::max(options.most_in_flight, 1U))),
      plateau_(std::numeric_limits<double>::infinity()), cooldown_until_(now) {
    for (std::size_t i = 0; i < measures; ++i) {
        if (options.per_minute[i]) buckets_[i].set_limit(*options.per_minute[i], now);
    }
}

limiter_fsm::amounts limiter_fsm::amounts_for(const call_size& size) const noexcept {
    const double input = static_cast<double>(size.input_tokens) * input_scale_;
    double output = output_average_;
    if (size.most_output_tokens > 0) {
        output = std::min(output, static_cast<double>(size.most_output_tokens));
    }
    return {1, input + output, input, output};
}

void limiter_fsm::refill(time_point now) noexcept {
    pace_.refill(now);
    for (rate_bucket& each : buckets_) each.refill(now);
}

coro::clock::time_point limiter_fsm::fits_at(const amounts& wanted, time_point now) noexcept {
    if (now < cooldown_until_) return cooldown_until_;
    if (static_cast<double>(in_flight_) + 1 > window_) {
        window_held_back_ = true;
        return time_point::max();
    }
    time_point fits = now;
    for (std::size_t i = 0; i < measures; ++i) {
        fits = std::max(fits, buckets_[i].fits_at(wanted[i], now));
    }
    if (!pace_.fits()) {
        const time_point paced = pace_.fits_at(now);
        if (paced > fits) pace_held_back_ = true;
        fits = std::max(fits, paced);
    }
    return fits;
}

std::uint32_t limiter_fsm::free_slot() {
    if (first_free_ == no_slot) {
        records_.emplace_back();
        return static_cast<std::uint32_t>(records_.size() - 1);
    }
    const std::uint32_t slot = first_free_;
    first_free_ = records_[slot].next_free;
    return slot;
}

std::uint32_t limiter_fsm::admit(const call_size& size, const amounts& wanted, time_point now) {
    const std::uint32_t slot = free_slot();
    record& made = records_[slot];
    made.used = true;
    made.number = ++admitted_count_;
    made.sent = now;
    made.epoch = epoch_;
    made.guessed_input = size.input_tokens;
    made.input = wanted[at(measure::input_tokens)];
    made.output = wanted[at(measure::output_tokens)];
    made.marked = 0;
    for (std::size_t i = 0; i < measures; ++i) {
        if (!buckets_[i].active()) continue;
        made.marks[i] = buckets_[i].take(wanted[i]);
        made.marked |= static_cast<std::uint8_t>(1U << i);
    }
    pace_.take(now, std::exchange(pace_held_back_, false));
    ++in_flight_;
    reserved_input_ += made.input;
    reserved_output_ += made.output;
    return slot;
}

std::uint32_t limiter_fsm::try_admit(const call_size& size, time_point now) {
    if (!queue_.empty()) return no_slot;
    refill(now);
    const amounts wanted = amounts_for(size);
    if (fits_at(wanted, now) > now) return no_slot;
    return admit(size, wanted, now);
}

/// A lower bound. Tokens may come back, places in flight as well; requests and cooldowns do not.
coro::clock::time_point limiter_fsm::earliest(const waiter& call, time_point now) const noexcept {
    const rate_bucket& requests = buckets_[at(measure::requests)];
    time_point at_least = std::max(now, cooldown_until_);
    if (requests.active()) {
        const std::size_t first = call.again ? 0 : queue_.before(call.flow, call.priority);
        const double missing = static_cast<double>(first) + 1 - std::max(requests.level(), 0.0) -
                               static_cast<double>(in_flight_); // what is not sent comes back
        if (missing > 0) {
            const auto wait = std::chrono::duration<double>(missing / requests.per_second());
            at_least = std::max(at_least, now + std::chrono::floor<coro::clock::duration>(wait));
        }
    }
    return at_least;
}

limiter_fsm::arrival limiter_fsm::arrive(waiter& call, time_point now) {
    call.slot = try_admit(call.size, now);
    if (call.slot != no_slot) return arrival::admitted;
    if (!call.until.is_never()) {
        const time_point possible = earliest(call, now);
        if (possible > call.until.at()) {
            call.refused_until = possible;
            ++refused_count_;
            return arrival::refused;
        }
    }
    const amounts wanted = amounts_for(call.size);
    queue_.push(call, call.flow, call.priority, fixed_weight + wanted[at(measure::tokens)],
                call.again);
    // Where nothing else would: the caller asks release() next, which finds the time.
    return arrival::queued;
}

void limiter_fsm::leave(waiter& call) noexcept {
    if (call.queued()) queue_.remove(call);
    // It may stand in the list of those that were refused a moment ago.
    for (waiter** link = &refused_; *link; link = &(*link)->next_refused_) {
        if (*link != &call) continue;
        *link = call.next_refused_;
        break;
    }
}

/// Those whose deadline lies before the end of a cooldown that has just been prolonged.
void limiter_fsm::refuse_late() {
    queue_.for_each([&](queued_call& each) {
        auto& call = static_cast<waiter&>(each);
        if (call.until.is_never() || call.until.at() >= cooldown_until_) return;
        queue_.remove(call);
        call.refused_until = cooldown_until_;
        call.next_refused_ = std::exchange(refused_, &call);
        ++refused_count_;
    });
}

limiter_fsm::waiter* limiter_fsm::release(time_point now) {
    if (refused_) {
        waiter* const first = refused_;
        refused_ = std::exchange(first->next_refused_, nullptr);
        return first;
    }
    wake_at_ = time_point::max();
    if (queue_.empty()) return nullptr;
    refill(now);
    auto* const next = static_cast<waiter*>(queue_.front());
    const amounts wanted = amounts_for(next->size);
    const time_point fits = fits_at(wanted, now);
    if (fits > now) {
        wake_at_ = fits;
        return nullptr;
    }
    queue_.pop(*next);
    next->slot = admit(next->size, wanted, now);
    return next;
}

void limiter_fsm::settle(std::uint32_t slot, const call_report& report, time_point now) {
    record& ended = records_[slot];
    if (!ended.used) return;
    ended.used = false;
    refill(now);
    --in_flight_;
    reserved_input_ -= ended.input;
    reserved_output_ -= ended.output;
    settle_tokens(ended, report);
    if (report.end == call_end::not_sent) {
        buckets_[at(measure::requests)].give_back(1);
        pace_.give_back(ended.number);
    }
    if (report.limits) observe(ended, *report.limits, now);
    if (report.end == call_end::answered) {
        epochs_without_success_ = 0;
        if (queue_.empty()) pace_.not_pressed();
        grow_window();
    } else if (report.end == call_end::limited) {
        take_limited(ended, report, now);
    }
    ended.next_free = std::exchange(first_free_, slot);
}

/// Slow start up to what was in flight at the last 429 (doubling before there was one), then in steps
/// that begin with one more. Only when it is the window that holds calls back.
void limiter_fsm::grow_window() noexcept {
    if (!window_held_back_) return;
    window_held_back_ = static_cast<double>(in_flight_) + 2 > window_;
    if (std::isinf(plateau_)) window_ += 1;
    else if (window_ + 0.5 < plateau_) window_ += 0.5;
    else window_ += window_growth_.after_call(0, window_);
    window_ = std::min(window_, static_cast<double>(options_.most_in_flight));
}

/// What was in flight is only then suspected when there was hardly room for more; else the window
/// comes back to where it was as soon as it is needed.
void limiter_fsm::shrink_window() noexcept {
    const double in_flight = static_cast<double>(in_flight_) + 1; // the refused one was as well
    if (in_flight >= nearly_full * window_) {
        const double before = std::exchange(plateau_, std::max(1.0, in_flight - 1));
        const bool sure = std::abs(before - plateau_) <= 0.25 * plateau_;
        window_growth_.restart(sure ? calls_in_step : std::max(20.0, plateau_),
                               sure ? 1.0 : std::max(1.0, 0.1 * plateau_));
    }
    window_ = std::max(1.0, window_ * options_.decrease);
}

void limiter_fsm::take_limited(const record& ended, const call_report& report, time_point now) {
    ++limited_count_;
    auto wait = report.retry_after.value_or(std::chrono::milliseconds(0));
    wait = std::clamp(wait, std::chrono::milliseconds(0), options_.longest_asked_cooldown);
    const bool first = ended.epoch == epoch_;
    if (first) {
        // Without a time of the service: one of our own, longer each time that nothing gets through.
        const unsigned doublings = std::min(epochs_without_success_, 16U);
        const auto own =
            std::min(options_.first_cooldown * (1U << doublings), options_.longest_cooldown);
        wait = report.retry_after ? wait : own;
        ++epochs_without_success_;
    }
    const time_point until = now + wait;
    const bool prolonged = until > cooldown_until_;
    cooldown_until_ = std::max(cooldown_until_, until);
    if (!first) {
        pace_.refused_too(ended.number);
        if (prolonged) refuse_late();
        return;
    }
    ++epoch_;
    shrink_window();
    window_held_back_ = pace_held_back_ = false;
    pace_.refused_first(ended.number, ended.sent, cooldown_until_);
    for (std::size_t i = 0; i < measures; ++i) {
        if (!report.limits || options_.per_minute[i]) buckets_[i].drain();
    }
    if (prolonged) refuse_late();
}

void limiter_fsm::settle_tokens(const record& ended, const call_report& report) noexcept {
    double input = ended.input; // what it really took
    double output = ended.output;
    switch (report.end) {
    case call_end::answered:
        if (report.usage) {
            input = tokens(report.usage->input);
            output = tokens(report.usage->output);
            learn_sizes(ended, input, output);
        }
        break;
    case call_end::limited:
    case call_end::not_sent: input = output = 0; break;
    case call_end::failed: output = 0; break;
    }
    const double back_input = ended.input - input;
    const double back_output = ended.output - output;
    buckets_[at(measure::input_tokens)].give_back(back_input);
    buckets_[at(measure::output_tokens)].give_back(back_output);
    buckets_[at(measure::tokens)].give_back(back_input + back_output);
}

void limiter_fsm::learn_sizes(const record& ended, double input, double output) noexcept {
    if (ended.guessed_input > 0 && input > 0) {
        const double ratio = input / static_cast<double>(ended.guessed_input);
        input_scale_ += learning * (std::clamp(ratio, 0.1, 10.0) - input_scale_);
    }
    output_average_ += learning * (output - output_average_);
}

void limiter_fsm::observe(const record& ended, const rate_limit_headers& seen,
                          time_point now) noexcept {
    const auto one = [&](measure which, const std::optional<std::int64_t>& limit,
                         const std::optional<std::int64_t>& remaining,
                         std::optional<std::chrono::milliseconds> reset, double others,
                         double uncounted) {
        if (!limit || !remaining) return;
        const bool marked = (ended.marked >> at(which) & 1U) != 0;
        buckets_[at(which)].observe({*limit, *remaining, reset}, others, uncounted,
                                    marked ? std::optional(ended.marks[at(which)]) : std::nullopt,
                                    now);
    };
    one(measure::requests, seen.requests_limit, seen.requests_remaining, seen.requests_reset,
        static_cast<double>(in_flight_), 0);
    one(measure::tokens, seen.tokens_limit, seen.tokens_remaining, seen.tokens_reset,
        reserved_input_ + reserved_output_, reserved_output_);
    one(measure::input_tokens, seen.input_tokens_limit, seen.input_tokens_remaining,
        seen.input_tokens_reset, reserved_input_, 0);
    one(measure::output_tokens, seen.output_tokens_limit, seen.output_tokens_remaining,
        seen.output_tokens_reset, reserved_output_, reserved_output_);
}

limiter_counters limiter_fsm::counters(time_point now) const {
    limiter_counters made;
    made.waiting = queue_.size();
    made.in_flight = in_flight_;
    made.window = static_cast<std::size_t>(window_);
    made.admitted = admitted_count_;
    made.limited = limited_count_;
    made.refused = refused_count_;
    for (std::size_t i = 0; i < measures; ++i) {
        if (!buckets_[i].active()) continue;
        rate_bucket copy = buckets_[i];
        copy.refill(now);
        made.left[i] = static_cast<std::int64_t>(std::max(copy.level(), 0.0));
    }
    if (pace_.active()) made.learned_per_second = pace_.per_second();
    made.cooldown_until = cooldown_until_;
    return made;
}

} // namespace heddle::providers::limits
