// What the end of a call changes: the copies of the limits, cooldowns and the learned pace.
#include <heddle/providers/limits/limiter_fsm.hpp>

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

namespace heddle::providers::limits {

namespace {

constexpr double learning = 0.05; // of sizes: the weight of a new response
/// So many 429s that headers explain, though the copy of the limit had room, show that the headers
/// do not say all: from then on refusals teach a pace. A pause as long as that makes them
/// forgotten.
constexpr unsigned surprises_to_learn = 3;
constexpr auto surprises_last = std::chrono::minutes(10);

/// A figure of the service, which may be anything.
double tokens(std::int64_t said) noexcept {
    return static_cast<double>(std::clamp<std::int64_t>(said, 0, 1'000'000'000));
}

} // namespace

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
        // What went before the last 429 does not show what gets through after it.
        if (ended.epoch == epoch_) epochs_without_success_ = 0;
        if (queue_.empty()) pace_.not_pressed();
        window_.answered(in_flight_, now);
    } else if (report.end == call_end::limited) {
        take_limited(ended, report, now);
    }
    ended.next_free = std::exchange(first_free_, slot);
}

/// Whether the headers of a 429 say themselves that nothing was left. What remains of a limit that
/// they do not name explains nothing: there is no copy of it that would hold the next calls back.
bool limiter_fsm::explained(const record& ended, const call_report& report) const noexcept {
    if (!report.limits) return false;
    const rate_limit_headers& seen = *report.limits;
    const auto short_of = [&](measure which, const std::optional<std::int64_t>& remaining,
                              double wanted) {
        if (!buckets_[index_of(which)].active()) return false;
        return remaining && static_cast<double>(*remaining) < wanted;
    };
    return short_of(measure::requests, seen.requests_remaining, 1) ||
           short_of(measure::tokens, seen.tokens_remaining, ended.input + ended.output) ||
           short_of(measure::input_tokens, seen.input_tokens_remaining, ended.input) ||
           short_of(measure::output_tokens, seen.output_tokens_remaining,
                    std::max(ended.output, 1.0));
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

/// Full jitter, or from the ceiling to half above it where `at_least` means that less is in vain.
/// It doubles while nothing gets through; from the third time on it is no less than if nothing had
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
        // What is left over there has the time; that it was wrong has to be bounded as well.
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
        const bool all = report.usage->input_reported && report.usage->output_reported;
        if (report.usage->input_reported) input = tokens(report.usage->input);
        if (report.usage->output_reported) output = tokens(report.usage->output);
        if (all) learn_sizes(ended, input, output);
    }
    const double back_input = ended.input - input;
    const double back_output = ended.output - output;
    amounts back{0, back_input + back_output, back_input, back_output};
    for (std::size_t i = index_of(measure::tokens); counted && i < measures; ++i) {
        buckets_[i].give_back(back[i]);
    }
    for (std::size_t i = 0; !counted && i < measures; ++i) {
        buckets_[i].undo(i == index_of(measure::requests) ? 1 : back[i], ended.marks[i]);
    }
    back[index_of(measure::requests)] = report.end == call_end::not_sent ? 1 : 0;
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
        buckets_[index_of(which)].observe({*limit, *remaining, reset, seen.reset_grain}, uncounted,
                                          ended.marks[index_of(which)], ended.sent, now);
    };
    one(measure::requests, seen.requests_limit, seen.requests_remaining, seen.requests_reset, 0);
    one(measure::tokens, seen.tokens_limit, seen.tokens_remaining, seen.tokens_reset,
        reserved_output_);
    one(measure::input_tokens, seen.input_tokens_limit, seen.input_tokens_remaining,
        seen.input_tokens_reset, 0);
    one(measure::output_tokens, seen.output_tokens_limit, seen.output_tokens_remaining,
        seen.output_tokens_reset, reserved_output_);
}

} // namespace heddle::providers::limits
