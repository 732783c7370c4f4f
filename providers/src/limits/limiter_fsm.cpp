#include <heddle/providers/limits/limiter_fsm.hpp>

#include <algorithm>
#include <utility>

namespace heddle::providers::limits {

namespace {

constexpr auto remembered = std::chrono::minutes(10);

/// Added to the tokens of a call where flows share: what a call weighs whatever its size.
constexpr double fixed_weight = 200;

rate_bucket::settings bucket_settings(const limiter_options& options, measure which) noexcept {
    rate_bucket::settings result;
    result.reserve = options.reserve;
    // Requests in a window are counted alike on both sides; tokens are guessed.
    result.window_reserve = which == measure::requests ? 0 : options.reserve;
    return result;
}

constexpr limiter_hold hold_of(std::size_t which) noexcept {
    return static_cast<limiter_hold>(static_cast<std::size_t>(limiter_hold::requests) + which);
}

} // namespace

limiter_fsm::limiter_fsm(limiter_options options, time_point now, account_limits* account)
    : options_(options), buckets_{rate_bucket(bucket_settings(options, measure::requests)),
                                  rate_bucket(bucket_settings(options, measure::tokens)),
                                  rate_bucket(bucket_settings(options, measure::input_tokens)),
                                  rate_bucket(bucket_settings(options, measure::output_tokens))},
      own_(options.burst), account_(account), pace_(options.ramp), queue_(options.batch_share),
      window_(options), cooldown_until_(now),
      chance_(static_cast<std::minstd_rand::result_type>(options.seed ^ (options.seed >> 32))) {
    own_.tighten({options.per_minute, {}}, now);
}

void limiter_fsm::tighten(const account_bounds& bounds, time_point now) {
    own_.tighten({bounds.per_minute, {}}, now);
    if (bounds.max_in_flight) window_.tighten(*bounds.max_in_flight);
}

limiter_fsm::amounts limiter_fsm::amounts_for(const call_size& size) const noexcept {
    const double input = static_cast<double>(size.input_tokens) * input_scale_;
    double output = output_average_;
    if (size.max_output_tokens > 0) {
        output = std::min(output, static_cast<double>(size.max_output_tokens));
    }
    return {1, input + output, input, output};
}

void limiter_fsm::refill(time_point now) noexcept {
    pace_.refill(now);
    for (rate_bucket& each : buckets_) each.refill(now);
    if (own_.any()) own_.refill(now);
    if (account_ && account_->any()) account_->refill(now);
}

coro::clock::time_point limiter_fsm::fits_at(const amounts& wanted, time_point now) noexcept {
    const time_point here = fits_here_at(wanted, now);
    held_by_account_ = false;
    if (!account_ || !account_->any()) return here;
    const account_limits::room there = account_->fits_at(wanted, now);
    if (there.at <= here) return here;
    held_by_account_ = true;
    hold_ = there.which == account_limits::places ? limiter_hold::in_flight : hold_of(there.which);
    return there.at;
}

/// The same without the limits of the account.
coro::clock::time_point limiter_fsm::fits_here_at(const amounts& wanted, time_point now) noexcept {
    if (now < cooldown_until_) {
        hold_ = cooldown_why_;
        return cooldown_until_;
    }
    const time_point place = window_.place_free_at(in_flight_, now);
    if (place > now) {
        hold_ = limiter_hold::in_flight;
        return place;
    }
    time_point fits = now;
    for (std::size_t i = 0; i < measures; ++i) {
        if (!buckets_[i].active()) continue;
        const time_point possible = buckets_[i].fits_at(wanted[i], now);
        if (possible > fits) {
            hold_ = hold_of(i);
            fits = possible;
        }
    }
    if (own_.any()) {
        const account_limits::room own = own_.fits_at(wanted, now);
        if (own.at > fits) {
            hold_ = hold_of(own.which);
            fits = own.at;
        }
    }
    if (!pace_.fits()) {
        const time_point paced = pace_.fits_at(now);
        if (paced > fits) {
            pace_held_back_ = true;
            hold_ = limiter_hold::learned_pace;
            fits = paced;
        }
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
    record& result = records_[slot];
    result.used = true;
    result.number = ++admitted_count_;
    result.sent = now;
    result.epoch = epoch_;
    result.guessed_input = size.input_tokens;
    result.input = wanted[index_of(measure::input_tokens)];
    result.output = wanted[index_of(measure::output_tokens)];
    if (std::exchange(after_cooldown_, false)) undisturbed_ = in_flight_ == 0;
    result.limits_known = false;
    for (std::size_t i = 0; i < measures; ++i) {
        result.marks[i] = buckets_[i].take(wanted[i]);
        result.limits_known = result.limits_known || buckets_[i].active();
    }
    result.unsent = size.reports_sent;
    result.counted = now;
    const auto when = result.unsent ? minute_limit::sending::later : minute_limit::sending::now;
    own_.take(wanted, when);
    if (account_) account_->take(wanted, when);
    pace_.take(now, std::exchange(pace_held_back_, false));
    ++in_flight_;
    reserved_input_ += result.input;
    reserved_output_ += result.output;
    return slot;
}

std::uint32_t limiter_fsm::try_admit(const call_size& size, time_point now) {
    if (!queue_.empty() || excess_of(size)) return no_slot;
    refill(now);
    const amounts wanted = amounts_for(size);
    if (fits_at(wanted, now) > now) return no_slot;
    return admit(size, wanted, now);
}

/// A lower bound. Tokens may come back, places in flight as well; requests and cooldowns do not.
coro::clock::time_point limiter_fsm::earliest(const waiter& call, time_point now) const noexcept {
    const rate_bucket& requests = buckets_[index_of(measure::requests)];
    const std::size_t first = call.again ? 0 : queue_.before(call.flow, call.priority);
    time_point at_least = std::max(shown_cooldown(), own_.earliest(first, now));
    if (account_) at_least = std::max(at_least, account_->earliest(first, now));
    at_least = std::max(at_least, now);
    if (requests.active()) {
        const double missing = static_cast<double>(first) + 1 - std::max(requests.level(), 0.0) -
                               static_cast<double>(in_flight_); // what is not sent comes back
        if (missing > 0) at_least = std::max(at_least, requests.earliest(missing, now));
    }
    return at_least;
}

coro::clock::time_point limiter_fsm::shown_cooldown() const noexcept {
    return cooldown_why_ == limiter_hold::asked_pause ? promised_until_ : cooldown_until_;
}

/// The end of a pause of the service, or of an exhausted limit whose reset time is known, if that
/// is later than a call may wait. Calls in flight may return what they hold, so there is no result
/// before they have ended.
std::optional<coro::clock::time_point> limiter_fsm::too_long(const amounts& wanted,
                                                             time_point now) const noexcept {
    time_point until = shown_cooldown();
    for (std::size_t i = 0; i < measures && in_flight_ == 0; ++i) {
        if (!buckets_[i].active() || !buckets_[i].timed()) continue;
        until = std::max(until, buckets_[i].fits_at(wanted[i], now));
    }
    if (until - now <= options_.max_wait) return std::nullopt;
    return until;
}

void limiter_fsm::refuse_for_long(waiter& call, time_point until) noexcept {
    call.refused_until = until;
    call.refused_for_long = true;
    ++refused_count_;
}

/// The output is not known before it comes, so that it refuses nobody.
std::optional<limiter_fsm::excess> limiter_fsm::excess_of(const call_size& size) const noexcept {
    if (!own_.any() && !(account_ && account_->any())) return std::nullopt;
    const double input = static_cast<double>(size.input_tokens) * input_scale_;
    const amounts least{1, input, input, 0};
    for (const account_limits* each : {&own_, static_cast<const account_limits*>(account_)}) {
        if (!each) continue;
        const auto which = each->exceeded_by(least);
        if (!which) continue;
        return excess{static_cast<measure>(*which), static_cast<std::int64_t>(input),
                      static_cast<std::int64_t>(each->of(*which)->limit())};
    }
    return std::nullopt;
}

bool limiter_fsm::may_be_sooner() const noexcept {
    switch (hold_) {
    case limiter_hold::tokens:
    case limiter_hold::input_tokens:
    case limiter_hold::output_tokens:
        return in_flight_ != 0 || (account_ && account_->in_flight() != 0);
    default: return false;
    }
}

limiter_fsm::arrival limiter_fsm::arrive(waiter& call, time_point now, bool behind_others) {
    if (behind_others) refill(now);
    else call.slot = try_admit(call.size, now);
    if (call.slot != no_slot) return arrival::admitted;
    call.too_large = excess_of(call.size);
    if (call.too_large) {
        ++refused_count_;
        return arrival::refused;
    }
    const amounts wanted = amounts_for(call.size);
    if (const auto until = too_long(wanted, now)) {
        refuse_for_long(call, *until);
        return arrival::refused;
    }
    if (!call.until.is_never()) {
        const time_point possible = earliest(call, now);
        if (possible > call.until.at()) {
            call.refused_until = possible;
            ++refused_count_;
            return arrival::refused;
        }
    }
    queue_.push(call, call.flow, call.priority, fixed_weight + wanted[index_of(measure::tokens)],
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

/// Those whose deadline lies before the end of a cooldown that has just been prolonged, and all if
/// it is too long for anybody.
void limiter_fsm::refuse_late(time_point now) {
    const bool for_long = shown_cooldown() - now > options_.max_wait;
    queue_.for_each([&](queued_call& each) {
        auto& call = static_cast<waiter&>(each);
        const bool in_time = call.until.is_never() || call.until.at() >= cooldown_until_;
        if (in_time && !for_long) return;
        queue_.remove(call);
        call.refused_until = shown_cooldown();
        call.refused_for_long = for_long;
        call.next_refused_ = std::exchange(refused_, &call);
        ++refused_count_;
    });
}

limiter_fsm::waiter* limiter_fsm::release_refused() noexcept {
    if (!refused_) return nullptr;
    waiter* const first = refused_;
    refused_ = std::exchange(first->next_refused_, nullptr);
    return first;
}

void limiter_fsm::wait_behind(limiter_hold why) noexcept {
    wake_at_ = time_point::max();
    hold_ = queue_.empty() ? limiter_hold::nothing : why;
    held_by_account_ = false;
}

limiter_fsm::waiter* limiter_fsm::release(time_point now) {
    if (waiter* const refused = release_refused()) return refused;
    wait_behind(limiter_hold::nothing);
    if (queue_.empty()) return nullptr;
    refill(now);
    auto* const next = static_cast<waiter*>(queue_.front());
    const amounts wanted = amounts_for(next->size);
    next->too_large = excess_of(next->size); // a limit may have become stricter
    if (next->too_large) {
        queue_.remove(*next);
        ++refused_count_;
        return next;
    }
    const time_point fits = fits_at(wanted, now);
    if (fits > now) {
        if (const auto until = too_long(wanted, now)) {
            queue_.remove(*next);
            refuse_for_long(*next, *until);
            return next; // one that needs less may come after it
        }
        wake_at_ = fits;
        return nullptr;
    }
    queue_.pop(*next);
    next->slot = admit(next->size, wanted, now);
    return next;
}

bool limiter_fsm::holds_back(time_point now) noexcept {
    refill(now);
    if (now < cooldown_until_) return true;
    return std::any_of(buckets_.begin(), buckets_.end(),
                       [](const rate_bucket& each) { return !each.fits(1); });
}

bool limiter_fsm::remembers(time_point now, coro::clock::duration idle) noexcept {
    if (holds_back(now) || pace_.active()) return true;
    const auto is_active = [](const rate_bucket& each) { return each.active(); };
    if (idle > remembered) return false;
    return own_.any() || limited_count_ != 0 || window_.size() > options_.first_in_flight ||
           std::any_of(buckets_.begin(), buckets_.end(), is_active);
}

limiter_counters limiter_fsm::counters(time_point now) const {
    limiter_counters limiter;
    limiter.waiting = queue_.size();
    limiter.hold = queue_.empty() ? limiter_hold::nothing : hold_;
    limiter.held_until = wake_at_;
    limiter.in_flight = in_flight_;
    limiter.window = window_.size();
    const auto places = account_ ? account_->max_in_flight() : std::nullopt;
    if (places) limiter.window = std::min<std::size_t>(limiter.window, *places);
    limiter.admitted = admitted_count_;
    limiter.limited = limited_count_;
    limiter.refused = refused_count_;
    for (std::size_t i = 0; i < measures; ++i) {
        const auto add = [&](double left, double per_second) {
            const auto rest = static_cast<std::int64_t>(std::max(left, 0.0));
            limiter.left[i] = std::min(limiter.left[i].value_or(rest), rest);
            limiter.per_second[i] =
                std::min(limiter.per_second[i].value_or(per_second), per_second);
        };
        if (buckets_[i].active()) {
            rate_bucket copy = buckets_[i];
            copy.refill(now);
            add(copy.level(), copy.per_second());
        }
        for (const account_limits* each : {&own_, static_cast<const account_limits*>(account_)}) {
            if (!each || !each->of(i)) continue;
            minute_limit copy = *each->of(i);
            copy.refill(now);
            add(copy.level(), copy.per_second());
        }
    }
    if (pace_.active()) limiter.learned_per_second = pace_.per_second();
    limiter.cooldown_until = cooldown_until_;
    return limiter;
}

} // namespace heddle::providers::limits
