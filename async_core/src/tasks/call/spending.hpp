// Budgets: what calls of models may cost together, and how many there may be.
#pragma once

#include "tasks/call/cost_history.hpp"

#include <heddle/coro/wait_point.hpp>
#include <heddle/lang/counted_extent.hpp>
#include <heddle/tasks/call/task_observer.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::tasks {

struct spending_bounds {
    std::optional<double> usd;
    std::optional<std::uint64_t> calls;
};

/// A budget that is used up, or a limit of a task that is: no further request is sent.
struct spent_budget {
    std::string_view resource; ///< cost, calls; of a limit also tokens
    double used = 0;
    double limit = 0;
    std::string message;
};

/// Counts the calls and the money of one budget. What a call may cost is set aside before it is
/// sent, and set aside anew whenever a call of its kind has ended and more is known; a call that
/// does not fit beside those in flight waits for them, first come, first served. While the cost of
/// a kind is a guess, few of its calls are in flight, and more with each that has ended, as the
/// first ones may all have been cheap. Threads: the session's only.
class spending_ledger final : public lang::extent_ledger {
public:
    enum class verdict : std::uint8_t { granted, later, refused };

    explicit spending_ledger(spending_bounds bounds) : bounds_(bounds) {}

    /// Calls of one kind in flight while their cost is a guess, and as many more for each that has
    /// ended.
    static constexpr std::uint64_t max_guessed = 4;
    /// Number of calls of a kind whose costs show what the next one hardly exceeds.
    static constexpr std::uint64_t enough_ended = 20;

    /// `has_turn`: the queue has let this call go first.
    [[nodiscard]] verdict ask(const expected_cost& wanted, bool has_turn) const noexcept;
    /// Makes room for counting such a call, so that taking it cannot fail.
    void prepare(const expected_cost& wanted);
    void take(const expected_cost& wanted) noexcept;
    /// A call that was taken has ended. `sent`: false when it needed no request, or did not get
    /// that far.
    void settle(const expected_cost& taken, double spent, bool sent) noexcept;
    /// Counts what was paid for by an earlier execution of the same part of the run.
    void note_paid(double spent, std::uint64_t calls) noexcept {
        if (follows_journal_) return;
        spent_ += spent;
        calls_ += calls;
    }
    /// The budget is that of all executions of a durable run. `spent` and `calls` are what earlier
    /// ones have paid for and has not been passed before; the budget counts this one itself.
    /// `may_reuse`: the journal has responses that cost nothing now. Then a call is not refused by
    /// ask(), as it may have one of them, but by refuses_request().
    void follow_journal(double spent, std::uint64_t calls, bool may_reuse) noexcept {
        follows_journal_ = true;
        may_reuse_ = may_reuse;
        spent_ += spent;
        calls_ += calls;
    }
    /// Whether ask() would refuse such a call if it could not reuse a response.
    [[nodiscard]] bool is_lent(const expected_cost& wanted) const noexcept {
        return may_reuse_ && ask_bounds(wanted) == verdict::refused;
    }
    /// A call was taken although is_lent(), and there is nothing to reuse: the refusal, unless what
    /// others have given back makes room for its request.
    [[nodiscard]] std::optional<spent_budget> refuses_request(const expected_cost& taken) const;
    /// A call that was settled had a response that the journal has counted.
    void give_back(double spent, bool sent) noexcept;
    /// Whether the calls in flight still fit if one of them, `taken`, is sent again after it has
    /// cost `lost`.
    [[nodiscard]] bool holds_again(const expected_cost& taken, double lost) const noexcept;
    [[nodiscard]] spent_budget refusal(const cost_estimate& wanted) const {
        return refusal(wanted, calls_);
    }
    [[nodiscard]] spent_budget money_refusal(const cost_estimate& wanted) const;
    [[nodiscard]] const spending_bounds& bounds() const noexcept { return bounds_; }

    /// A place in the queue. Its point is notified when it has the turn: its owner then decides,
    /// and destroys it or calls wait_again(). Destroying it leaves the queue, or passes the turn to
    /// the next.
    class place {
    public:
        place(spending_ledger& in, const expected_cost& wanted);
        place(const place&) = delete;
        place& operator=(const place&) = delete;
        ~place();
        [[nodiscard]] bool is_in(const spending_ledger& ledger) const noexcept {
            return &in_ == &ledger;
        }
        [[nodiscard]] bool has_turn() const noexcept { return in_.turn_ == this; }
        /// It does not fit yet: the first to be asked when another call has ended.
        void wait_again();
        coro::wait_point point;

    private:
        friend class spending_ledger;
        spending_ledger& in_;
        expected_cost wanted_;
    };

private:
    /// The calls of one kind in flight.
    struct kind_in_flight {
        const cost_history* history = nullptr;
        std::uint64_t count = 0;
        double first_ceilings = 0; ///< set aside until one of the kind has ended
    };
    [[nodiscard]] verdict ask_bounds(const expected_cost& wanted) const noexcept;
    [[nodiscard]] bool is_spent_for(const cost_estimate& wanted) const noexcept;
    [[nodiscard]] spent_budget refusal(const cost_estimate& wanted, std::uint64_t calls) const;
    void give_turn() noexcept;
    [[nodiscard]] double reserved() const noexcept;
    [[nodiscard]] bool comes_too_soon(const expected_cost& wanted,
                                      const cost_estimate& cost) const noexcept;
    [[nodiscard]] std::uint64_t in_flight_of(std::string_view kind) const noexcept;

    spending_bounds bounds_;
    bool follows_journal_ = false;
    bool may_reuse_ = false;
    double spent_ = 0;
    double estimated_ = 0; ///< the part of it that no response has confirmed
    std::map<std::string, kind_in_flight, std::less<>> kinds_; ///< only of a budget in dollars
    std::uint64_t calls_ = 0;
    std::uint64_t in_flight_ = 0;
    std::deque<place*> waiting_;
    const place* turn_ = nullptr; ///< was woken, and has not decided yet
};

/// One call's part of all budgets around it. Destroyed before it is settled, it counts as sent, at
/// expected().
class spending_share {
public:
    spending_share() = default;
    spending_share(const spending_share&) = delete;
    spending_share& operator=(const spending_share&) = delete;
    ~spending_share() { settle(expected(), true); }

    /// Sets aside one call of `wanted` in the budget of `innermost`, of all forms around it, and of
    /// the session; waits while others hold what it needs. All but `wanted` may be null. What
    /// `wanted` names stays until the call is settled, and is looked at again after each wait. A
    /// value: the budget that is used up. Errors: cancelled.
    [[nodiscard]] coro::task<result<std::optional<spent_budget>>> reserve(
        lang::host_ref<lang::counted_extent> innermost, spending_ledger* session,
        expected_cost wanted, coro::call_context context, task_observer* observer);
    /// Reserves a second request of the call that `first` holds. False if it does not fit now.
    [[nodiscard]] bool take_beside(const spending_share& first);
    /// Whether such a call would wait now: nothing is used up, and others hold what it needs.
    [[nodiscard]] static bool would_wait(const lang::host_ref<lang::counted_extent>& innermost,
                                         spending_ledger* session, const expected_cost& wanted);
    /// Counts what was paid for by an earlier execution, in the same budgets.
    static void note_paid(const lang::host_ref<lang::counted_extent>& innermost,
                          spending_ledger* session, double spent, std::uint64_t calls);
    /// The budget that the call would exceed if it was sent again, after failed requests that cost
    /// `lost`.
    [[nodiscard]] std::optional<spent_budget> passed_by(double lost) const;
    /// The budget that does not allow the request of a call that was taken only because it might
    /// reuse a response.
    [[nodiscard]] std::optional<spent_budget> refuses_request();
    /// The call has ended. No effect when nothing is set aside.
    void settle(double spent, bool sent) noexcept;
    /// The call that was settled had a response that the journal of the run has counted.
    void note_paid_earlier() noexcept;
    [[nodiscard]] bool held() const noexcept { return held_; }
    /// Whether expected() is a guess, because no call of the kind has ended with a response.
    [[nodiscard]] bool guessed() const noexcept {
        return held_ ? !taken_.now().seen : settled_unseen_;
    }
    /// What the call counts if its cost stays unknown: by what is known now while it is held, and
    /// as it was when it was settled after that, so that all reports of it agree.
    [[nodiscard]] double expected() const noexcept {
        return held_ ? taken_.now().if_unreported() : settled_at_;
    }

private:
    class places;

    template <class Visit>
    static void each_ledger(const lang::host_ref<lang::counted_extent>& innermost,
                            spending_ledger* session, Visit&& visit);

    lang::host_ref<lang::counted_extent> extent_; ///< innermost
    spending_ledger* session_ = nullptr;
    bool held_ = false;
    bool lent_ = false; ///< the budget of the session has no room for its request
    double settled_at_ = 0;
    bool settled_unseen_ = false;
    double counted_ = 0; ///< when it was settled
    bool counted_call_ = false;
    expected_cost taken_;
};

} // namespace heddle::tasks
