// Decides when a request may be sent to a service, for one account and model.
#pragma once

#include <heddle/coro/deadline.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/providers/common/chat_codec.hpp>
#include <heddle/providers/limits/account_limits.hpp>
#include <heddle/providers/limits/flight_window.hpp>
#include <heddle/providers/limits/flow_queue.hpp>
#include <heddle/providers/limits/learned_pace.hpp>
#include <heddle/providers/limits/limiter_options.hpp>
#include <heddle/providers/limits/rate_bucket.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace heddle::providers::limits {

/// The estimated demand of a request.
struct call_size {
    std::int64_t input_tokens = 0;
    std::int64_t max_output_tokens = 0; ///< 0: unknown
    bool reports_sent = false; ///< sent() follows: the request is sent later than it is admitted
};

enum class call_end : std::uint8_t {
    answered, ///< also with an error unrelated to limits (a 400)
    limited,  ///< 429
    failed,   ///< a failure of the server, a broken connection, a cancellation in flight
    not_sent  ///< the whole reservation is returned
};

struct call_report {
    call_end end = call_end::not_sent;
    std::optional<std::chrono::milliseconds> retry_after; ///< limited only
    const ports::token_usage* usage = nullptr;            ///< null: unknown
    const rate_limit_headers* limits = nullptr;           ///< null: unknown
};

/// What delays the next call.
enum class limiter_hold : std::uint8_t {
    nothing,
    asked_pause, ///< the service asked for it in a 429
    backoff,     ///< a 429 without a time
    in_flight,   ///< the maximum number of calls is in flight
    requests,    ///< a limit of the account, as `measure`
    tokens,
    input_tokens,
    output_tokens,
    learned_pace ///< the pace learned from earlier 429s
};
inline constexpr std::size_t limiter_holds = 9;

/// Current counters.
struct limiter_counters {
    std::size_t waiting = 0;
    /// Why the first waiting call waits, and until when; max(): until another call has ended.
    limiter_hold hold = limiter_hold::nothing;
    coro::clock::time_point held_until{};
    std::size_t in_flight = 0;
    std::size_t window = 0;     ///< maximum number in flight
    std::uint64_t admitted = 0; ///< since the start, as all below
    std::uint64_t limited = 0;  ///< with status 429
    std::uint64_t refused = 0;  ///< could not be sent before their deadline
    std::array<std::optional<std::int64_t>, measures> left; ///< by measure; empty: no limit known
    std::array<std::optional<double>, measures> per_second; ///< the limits themselves
    std::optional<double> learned_per_second;               ///< empty: no 429 yet
    coro::clock::time_point cooldown_until;                 ///< in the past: none
};

/// Decides which calls go, and when. Takes events and a time; uses no clock and no coroutine.
///
/// A call is admitted when nothing delays it: no cooldown; a free place in flight (slow start, then
/// additive increase; a 429 reduces the number, once for calls that were in flight together); the
/// pace learned from earlier 429s; and each limit from headers or from the user, for this model or
/// for the whole account, of which the call reserves its estimated demand, which its response
/// corrects. All other calls wait in a flow_queue. A 429 that the headers explain (nothing remains)
/// corrects the copy of that limit and changes nothing else; only refusals that the headers do not
/// explain, or repeatedly explain wrongly, are learned from. Complexity: O(1) for a call that does
/// not wait. Threads: as any value.
class limiter_fsm {
public:
    using time_point = coro::clock::time_point;
    static constexpr std::uint32_t no_slot = std::numeric_limits<std::uint32_t>::max();

    /// A limit that the user has set, and a call whose prompt alone takes more.
    struct excess {
        measure of = measure::requests;
        std::int64_t needed = 0; ///< about
        std::int64_t limit = 0;  ///< per minute
    };

    /// A call that may have to wait. The caller owns it and keeps it until it has gone or left.
    class waiter : public queued_call {
    public:
        call_size size;
        std::uint64_t flow = 0;
        ports::call_priority priority = ports::call_priority::interactive;
        bool again = false; ///< a retry: before the others of its flow
        coro::deadline until;

        /// Set by release(): the call is admitted, or refused because it cannot be sent in time.
        std::uint32_t slot = no_slot;
        std::optional<time_point> refused_until; ///< when it might have gone
        bool refused_for_long = false;   ///< not its deadline, but limiter_options::max_wait
        std::optional<excess> too_large; ///< no wait lets it pass

    private:
        friend class limiter_fsm;
        waiter* next_refused_ = nullptr;
    };

    /// `account`: the limits of the user for all models of the account; outlives it. May be null.
    explicit limiter_fsm(limiter_options options, time_point now,
                         account_limits* account = nullptr);
    /// Applies bounds of the user where they are stricter than before.
    void tighten(const account_bounds& bounds, time_point now);

    /// A slot if the call may be sent now and no other waits before it, else no_slot.
    [[nodiscard]] std::uint32_t try_admit(const call_size& size, time_point now);

    enum class arrival : std::uint8_t { admitted, queued, refused };
    /// Admits, queues or refuses. Refused: it is certain that it cannot go before its deadline,
    /// that the service makes it wait for longer than limiter_options::max_wait, or that its prompt
    /// is larger than a limit that the user has set.
    /// `behind_others`: calls of other models wait for the limits of the account, and go first.
    [[nodiscard]] arrival arrive(waiter& call, time_point now, bool behind_others = false);
    /// A waiting call gives up.
    void leave(waiter& call) noexcept;
    /// The next waiting call that is admitted or refused now. Call it after each event and at
    /// wake_at(), until it returns null.
    [[nodiscard]] waiter* release(time_point now);
    /// As release(), only for refused calls.
    [[nodiscard]] waiter* release_refused() noexcept;
    /// Whether release() returned null only because of the limits of the account.
    [[nodiscard]] bool held_by_account() const noexcept { return held_by_account_; }
    /// Called in place of release() when a call of another model is next for the limits of the
    /// account.
    void wait_behind(limiter_hold why) noexcept;
    /// When to call release() if there is no event before; max(): only after an event.
    [[nodiscard]] time_point wake_at() const noexcept { return wake_at_; }

    /// The request of an admitted call has been written, or written again. Until then it counts in
    /// the limits of the user, and from then on as sent at this time. Only with
    /// call_size::reports_sent.
    void sent(std::uint32_t slot, time_point now) noexcept;
    /// An admitted call has ended. Frees its slot.
    void settle(std::uint32_t slot, const call_report& report, time_point now);

    [[nodiscard]] limiter_counters counters(time_point now) const;
    /// False: release() would return null, and wake_at() would not change.
    [[nodiscard]] bool has_work() const noexcept { return refused_ != nullptr || !queue_.empty(); }
    /// What delayed the first waiting call at the last release().
    [[nodiscard]] limiter_hold hold() const noexcept { return hold_; }
    /// Whether it may go before wake_at(), because calls in flight hold tokens that may come back.
    [[nodiscard]] bool may_be_sooner() const noexcept;
    /// Without calls: whether a pause or a used-up limit delays the next one.
    [[nodiscard]] bool holds_back(time_point now) noexcept;
    /// Without calls, and unused for `idle`: whether it would decide otherwise than a new one. What
    /// was learned counts for ten minutes; a pause, a used-up limit and a pace, while they last.
    [[nodiscard]] bool remembers(time_point now, coro::clock::duration idle) noexcept;
    [[nodiscard]] std::size_t waiting() const noexcept { return queue_.size(); }
    [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }

private:
    struct record {
        std::uint64_t number = 0; // number among all admitted calls, from 1
        time_point sent{};
        std::uint32_t epoch = 0;
        std::uint32_t next_free = no_slot;
        std::int64_t guessed_input = 0; // as passed
        double input = 0;               // reserved
        double output = 0;
        std::array<rate_bucket::mark, measures> marks{};
        bool limits_known = false; // those of the service, when it was sent
        bool used = false;
        bool unsent = false;  // sent() is still to come
        time_point counted{}; // the time as of which it counts in the limits of the user
    };
    using amounts = account_limits::amounts;

    [[nodiscard]] amounts amounts_for(const call_size& size) const noexcept;
    void refill(time_point now) noexcept;
    /// When the amounts fit; now: at once; max(): when another call has ended.
    [[nodiscard]] time_point fits_at(const amounts& wanted, time_point now) noexcept;
    [[nodiscard]] time_point fits_here_at(const amounts& wanted, time_point now) noexcept;
    [[nodiscard]] std::uint32_t admit(const call_size& size, const amounts& wanted, time_point now);
    [[nodiscard]] time_point earliest(const waiter& call, time_point now) const noexcept;
    [[nodiscard]] time_point shown_cooldown() const noexcept;
    [[nodiscard]] std::optional<time_point> too_long(const amounts& wanted,
                                                     time_point now) const noexcept;
    void refuse_for_long(waiter& call, time_point until) noexcept;
    [[nodiscard]] std::optional<excess> excess_of(const call_size& size) const noexcept;
    [[nodiscard]] std::uint32_t free_slot();
    void refuse_late(time_point now);

    void take_limited(const record& ended, const call_report& report, time_point now);
    [[nodiscard]] bool explained(const record& ended, const call_report& report) const noexcept;
    [[nodiscard]] bool teaches(const record& ended, bool explained, time_point now) noexcept;
    [[nodiscard]] coro::clock::duration backoff(double first_seconds, bool at_least);
    [[nodiscard]] coro::clock::duration some_of(coro::clock::duration span);
    void begin_cooldown(time_point until, limiter_hold why) noexcept;
    void settle_tokens(record& ended, const call_report& report) noexcept;
    void learn_sizes(const record& ended, double input, double output) noexcept;
    void observe(const record& ended, const rate_limit_headers& seen, time_point now) noexcept;

    limiter_options options_;
    std::array<rate_bucket, measures> buckets_;
    account_limits own_; // the limits of the user for this model
    account_limits* account_;
    learned_pace pace_;
    flow_queue queue_;
    waiter* refused_ = nullptr;
    std::vector<record> records_;
    std::uint32_t first_free_ = no_slot;
    std::size_t in_flight_ = 0;
    double reserved_input_ = 0;
    double reserved_output_ = 0;

    flight_window window_;
    bool pace_held_back_ = false;
    bool held_by_account_ = false;
    limiter_hold hold_ = limiter_hold::nothing;
    limiter_hold cooldown_why_ = limiter_hold::nothing;
    std::uint32_t epoch_ = 0; // counts 429s that had consequences
    unsigned epochs_without_success_ = 0;
    bool after_cooldown_ = false; // the next call is the first since the last cooldown
    bool undisturbed_ = false;    // nothing else was in flight then
    unsigned surprises_ = 0;      // recent 429s although the copy of a limit had room
    time_point surprised_at_{};

    double input_scale_ = 1;      // actual tokens per estimated one
    double output_average_ = 512; // tokens
    time_point cooldown_until_{};
    time_point promised_until_{}; // the same as the service named it, without the random addition
    time_point wake_at_ = time_point::max();
    std::minstd_rand chance_;
    std::uint64_t admitted_count_ = 0;
    std::uint64_t limited_count_ = 0;
    std::uint64_t refused_count_ = 0;
};

} // namespace heddle::providers::limits
