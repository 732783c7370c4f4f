#include <heddle/providers/limits/limiter_fsm.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::providers::limits {

namespace {

constexpr std::size_t at(measure which) noexcept { return static_cast<std::size_t>(which); }
constexpr double learning = 0.05;    // of sizes: the weight of a new answer
constexpr double fixed_weight = 200; // of a call beside its tokens, where flows share
/// So many 429s that headers explain, though the copy of the limit had room, show that the headers
/// do not say all: from then on refusals teach a pace. A pause as long as that makes them
/// forgotten.
constexpr unsigned surprises_to_learn = 3;
constexpr auto surprises_last = std::chrono::minutes(10);

/// A figure of the service, which may be anything.
double tokens(std::int64_t said) noexcept {
    return static_cast<double>(std::clamp<std::int64_t>(said, 0, 1'000'000'000));
}

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
    result.input = wanted[at(measure::input_tokens)];
    result.output = wanted[at(measure::output_tokens)];
    if (std::exchange(after_cooldown_, false)) undisturbed_ = in_flight_ == 0;
    result.limits_known = false;
    for (std::size_t i = 0; i < measures; ++i) {
        result.marks[i] = buckets_[i].take(wanted[i]);
        result.limits_known = result.limits_known || buckets_[i].active();
    }
    result.unsent = size.tells_sent;
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
    if (!queue_.empty()) return no_slot;
    refill(now);
    const amounts wanted = amounts_for(size);
    if (fits_at(wanted, now) > now) return no_slot;
    return admit(size, wanted, now);
}

/// A lower bound. Tokens may come back, places in flight as well; requests and cooldowns do not.
coro::clock::time_point limiter_fsm::earliest(const waiter& call, time_point now) const noexcept {
    const rate_bucket& requests = buckets_[at(measure::requests)];
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

/// When a pause that the service makes is longer than anybody is to wait: its end.
std::optional<coro::clock::time_point> limiter_fsm::too_long(time_point now) const noexcept {
    time_point until = shown_cooldown();
    const rate_bucket& requests = buckets_[at(measure::requests)];
    if (requests.active() && in_flight_ == 0) until = std::max(until, requests.fits_at(1, now));
    if (until - now <= options_.max_wait) return std::nullopt;
    return until;
}

limiter_fsm::arrival limiter_fsm::arrive(waiter& call, time_point now, bool behind_others) {
    if (behind_others) refill(now);
    else call.slot = try_admit(call.size, now);
    if (call.slot != no_slot) return arrival::admitted;
    if (const auto until = too_long(now)) {
        call.refused_until = until;
        call.refused_for_long = true;
        ++refused_count_;
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
    const time_point fits = fits_at(wanted, now);
    if (fits > now) {
        wake_at_ = fits;
        return nullptr;
    }
    queue_.pop(*next);
    next->slot = admit(next->size, wanted, now);
    return next;
}

void limiter_fsm::sent(std::uint32_t slot, time_point now) noexcept {
    record& going = records_[slot];
    if (!going.used) return;
    refill(now);
    const auto before = going.unsent ? std::nullopt : std::optional(going.counted);
    const amounts taken{1, going.input + going.output, going.input, going.output};
    own_.sent(taken, before);
    if (account_) account_->sent(taken, before);
    going.unsent = false;
    going.counted = now;
}

void limiter_fsm::settle(std::uint32_t slot, const call_report& report, time_point now) {
    record& ended = records_[slot];
    if (!ended.used) return;
    if (ended.unsent) sent(slot, now); // some of it may have gone, or it goes back at once
    ended.used = false;
    refill(now);
    --in_flight_;
    reserved_input_ -= ended.input;
    reserved_output_ -= ended.output;
    settle_tokens(ended, report);
    if (report.end == call_end::not_sent) pace_.give_back(ended.number);
    if (report.limits) observe(ended, *report.limits, now);
    if (report.end == call_end::answered) {
        // What went before the last 429 says nothing about what gets through after it.
        if (ended.epoch == epoch_) epochs_without_success_ = 0;
        if (queue_.empty()) pace_.not_pressed();
        window_.answered(in_flight_, now);
    } else if (report.end == call_end::limited) {
        take_limited(ended, report, now);
    }
    ended.next_free = std::exchange(first_free_, slot);
}

/// Whether the headers of a 429 say themselves that nothing was left.
bool limiter_fsm::explained(const record& ended, const call_report& report) const noexcept {
    if (!report.limits) return false;
    const rate_limit_headers& seen = *report.limits;
    const auto short_of = [](const std::optional<std::int64_t>& remaining, double wanted) {
        return remaining && static_cast<double>(*remaining) < wanted;
    };
    return short_of(seen.requests_remaining, 1) ||
           short_of(seen.tokens_remaining, ended.input + ended.output) ||
           short_of(seen.input_tokens_remaining, ended.input) ||
           short_of(seen.output_tokens_remaining, std::max(ended.output, 1.0));
}

/// Whether a 429 has to teach the pace, because the limits that are known do not account for it.
bool limiter_fsm::teaches(const record& ended, bool explained, time_point now) noexcept {
    if (!explained) return true;
    if (now - surprised_at_ > surprises_last) surprises_ = 0;
    if (ended.limits_known) {
        ++surprises_;
        surprised_at_ = now;
    }
    return surprises_ >= surprises_to_learn;
}

/// Full jitter, or from the ceiling to half above it where `at_least` says that less is in vain. It
/// doubles while nothing gets through; from the third time on it is no less than if nothing had
/// been learned.
coro::clock::duration limiter_fsm::backoff(double first_seconds, bool at_least) {
    const auto in_seconds = [](std::chrono::milliseconds span) {
        return std::chrono::duration<double>(span).count();
    };
    const unsigned doublings = std::min(epochs_without_success_, 16U);
    double first = first_seconds;
    if (doublings >= 2) first = std::max(first, in_seconds(options_.first_cooldown) / 4);
    const double ceiling =
        std::min(first * static_cast<double>(1U << doublings), in_seconds(options_.max_cooldown));
    std::uniform_real_distribution<double> between(at_least ? ceiling : 0,
                                                   at_least ? 1.5 * ceiling : ceiling);
    return std::chrono::ceil<coro::clock::duration>(
        std::chrono::duration<double>(between(chance_)));
}

coro::clock::duration limiter_fsm::some_of(coro::clock::duration span) {
    std::uniform_int_distribution<coro::clock::duration::rep> between(0, span.count());
    return coro::clock::duration(between(chance_));
}

void limiter_fsm::begin_cooldown(time_point until, limiter_hold why) noexcept {
    if (until <= cooldown_until_) return;
    cooldown_until_ = until;
    cooldown_why_ = why;
}

void limiter_fsm::take_limited(const record& ended, const call_report& report, time_point now) {
    ++limited_count_;
    const double first_cooldown = std::chrono::duration<double>(options_.first_cooldown).count();
    const auto said = std::min(report.retry_after.value_or(std::chrono::milliseconds(0)),
                               options_.max_asked_cooldown);
    const bool asked = said.count() > 0; // at once is no time
    const time_point promised = now + said;
    const time_point cooled_before = cooldown_until_;
    if (asked) {
        promised_until_ = std::max(promised_until_, promised);
        begin_cooldown(promised, limiter_hold::asked_pause);
    }
    if (ended.epoch != epoch_) {
        pace_.refused_too(ended.number);
        if (cooldown_until_ > cooled_before) {
            pace_.resume(cooldown_until_);
            refuse_late(now);
        }
        return;
    }
    const double let_in = pace_.let_in(ended.number);
    if (pace_.active() && let_in >= 1) epochs_without_success_ = 0; // others got through
    const bool learns = teaches(ended, explained(ended, report), now);
    window_.refused(in_flight_, learns && (!pace_.active() || let_in >= 1));
    if (learns) {
        pace_.refused_first({ended.number, ended.sent,
                             asked ? std::optional(promised) : std::nullopt, undisturbed_});
        for (std::size_t i = 0; i < measures; ++i) {
            if (!report.limits) buckets_[i].drain();
        }
        own_.drain();
        if (account_) account_->drain();
    }
    if (asked) {
        // Others were promised the same time.
        begin_cooldown(promised + some_of(std::max(options_.first_cooldown / 4, said / 20)),
                       limiter_hold::asked_pause);
    } else if (learns) {
        begin_cooldown(now + backoff(pace_.worth_a_try(), pace_.is_sure()), limiter_hold::backoff);
    } else if (epochs_without_success_ > 0) {
        // What is left over there says when; that it said so in vain has to be bounded as well.
        begin_cooldown(now + backoff(first_cooldown, false), limiter_hold::backoff);
    }
    ++epochs_without_success_;
    ++epoch_;
    after_cooldown_ = true;
    pace_held_back_ = false;
    if (learns) pace_.resume(std::max(cooldown_until_, now));
    if (cooldown_until_ > cooled_before) refuse_late(now);
}

/// What was reserved and not used goes back. A request that was refused has been sent all the same:
/// services that count differ in that, and the limits that the user has set are to hold for any of
/// them.
void limiter_fsm::settle_tokens(record& ended, const call_report& report) noexcept {
    double input = ended.input; // what it really took
    double output = ended.output;
    const bool counted =
        report.end == call_end::answered || report.end == call_end::failed; // over there
    if (!counted) input = output = 0;
    if (report.end == call_end::failed) output = 0;
    if (report.end == call_end::answered && report.usage) {
        const bool all = report.usage->input_told && report.usage->output_told;
        if (report.usage->input_told) input = tokens(report.usage->input);
        if (report.usage->output_told) output = tokens(report.usage->output);
        if (all) learn_sizes(ended, input, output);
    }
    const double back_input = ended.input - input;
    const double back_output = ended.output - output;
    amounts back{0, back_input + back_output, back_input, back_output};
    for (std::size_t i = at(measure::tokens); counted && i < measures; ++i) {
        buckets_[i].give_back(back[i]);
    }
    for (std::size_t i = 0; !counted && i < measures; ++i) {
        buckets_[i].undo(i == at(measure::requests) ? 1 : back[i], ended.marks[i]);
    }
    back[at(measure::requests)] = report.end == call_end::not_sent ? 1 : 0;
    for (double& each : back) each = -each;
    own_.end(back, ended.counted);
    if (account_) account_->end(back, ended.counted);
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
                         std::optional<std::chrono::milliseconds> reset, double uncounted) {
        if (!limit || !remaining) return;
        buckets_[at(which)].observe({*limit, *remaining, reset, seen.reset_grain}, uncounted,
                                    ended.marks[at(which)], ended.sent, now);
    };
    one(measure::requests, seen.requests_limit, seen.requests_remaining, seen.requests_reset, 0);
    one(measure::tokens, seen.tokens_limit, seen.tokens_remaining, seen.tokens_reset,
        reserved_output_);
    one(measure::input_tokens, seen.input_tokens_limit, seen.input_tokens_remaining,
        seen.input_tokens_reset, 0);
    one(measure::output_tokens, seen.output_tokens_limit, seen.output_tokens_remaining,
        seen.output_tokens_reset, reserved_output_);
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
