// Budgets: what calls of models may cost together, and how many there may be.
#pragma once

#include "cost_history.hpp"

#include <heddle/coro/wait_point.hpp>
#include <heddle/lang/counted_extent.hpp>
#include <heddle/tasks/task_observer.hpp>

#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::tasks {

struct spending_bounds {
    std::optional<double> usd;
    std::optional<std::uint64_t> calls;
};

/// A budget that is used up: no further call is sent.
struct spent_budget {
    std::string_view resource; ///< cost, calls
    double used = 0;
    double limit = 0;
    std::string message;
};

/// Counts the calls and the money of one budget. What a call may cost is set aside before it is sent;
/// a call that does not fit beside those in flight waits for them, first come, first served. Threads:
/// the session's only.
class spending_ledger final : public lang::extent_ledger {
public:
    enum class verdict : std::uint8_t { granted, later, refused };

    explicit spending_ledger(spending_bounds bounds) : bounds_(bounds) {}

    /// `has_turn`: the queue has let this call go first.
    [[nodiscard]] verdict ask(const cost_estimate& wanted, bool has_turn) const noexcept;
    void take(double set_aside) noexcept;
    /// A call has ended. `sent`: false when it needed no request, or did not get that far.
    void settle(double set_aside, double spent, bool sent) noexcept;
    [[nodiscard]] spent_budget refusal(const cost_estimate& wanted) const;
    [[nodiscard]] const spending_bounds& bounds() const noexcept { return bounds_; }

    /// A place in the queue. Destroying it leaves the queue, or gives the turn to the next.
    class place {
    public:
        place(spending_ledger& in, const expected_cost& wanted, bool in_front);
        place(const place&) = delete;
        place& operator=(const place&) = delete;
        ~place();
        coro::wait_point point;

    private:
        friend class spending_ledger;
        spending_ledger& in_;
        expected_cost wanted_;
    };

private:
    void give_turn() noexcept;

    spending_bounds bounds_;
    double spent_ = 0;
    double reserved_ = 0;
    std::uint64_t calls_ = 0;
    std::uint64_t in_flight_ = 0;
    std::deque<place*> waiting_;
    const place* turn_ = nullptr; ///< was woken, and has not decided yet
};

/// One call's part of all budgets around it. Destroyed before it is settled, it counts as sent, at
/// what was set aside.
class spending_share {
public:
    spending_share() = default;
    spending_share(const spending_share&) = delete;
    spending_share& operator=(const spending_share&) = delete;
    ~spending_share() { settle(usd_, true); }

    /// Sets aside one call of `wanted` in the budget of `innermost`, of all forms around it, and of
    /// the session; waits while others hold what it needs. All but `wanted` may be null.
    /// `wanted` is looked at again after each wait. A value: the budget that is used up. Errors:
    /// cancelled.
    [[nodiscard]] coro::task<result<std::optional<spent_budget>>> reserve(
        lang::host_ref<lang::counted_extent> innermost, spending_ledger* session,
        expected_cost wanted, coro::call_context context, task_observer* observer);
    /// The call has ended. No effect when nothing is set aside.
    void settle(double spent, bool sent) noexcept;
    [[nodiscard]] bool held() const noexcept { return held_; }
    /// What such a call was expected to cost.
    [[nodiscard]] double expected() const noexcept { return usd_; }

private:
    template <class Visit>
    static void each_ledger(const lang::host_ref<lang::counted_extent>& innermost,
                            spending_ledger* session, Visit&& visit);

    lang::host_ref<lang::counted_extent> extent_; ///< innermost
    spending_ledger* session_ = nullptr;
    bool held_ = false;
    double usd_ = 0;
    double taken_ = 0;
};

} // namespace heddle::tasks
