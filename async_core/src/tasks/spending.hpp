// What `with` allows to spend: budget-usd and max-calls.
#pragma once

#include <heddle/coro/wait_point.hpp>
#include <heddle/lang/counted_extent.hpp>

#include <deque>
#include <optional>

namespace heddle::tasks {

/// Counts the calls and the money of one extent. What a call may cost is set aside before it is sent,
/// so that branches side by side never spend more than there is. Threads: the session's only.
class spending_ledger final : public lang::extent_ledger {
public:
    explicit spending_ledger(const lang::counted_extent& bounds) : bounds_(bounds) {}

    /// Whether a call of at most `usd` fits now; `later`: it may fit once others have ended.
    [[nodiscard]] bool fits(double usd, bool& later) const noexcept;
    void take(double usd) noexcept;
    void settle(double taken, double spent) noexcept;
    [[nodiscard]] error refusal(double usd) const;

    void wait(coro::wait_point& point) { waiting_.push_back(&point); }
    void forget(coro::wait_point& point);

private:
    const lang::counted_extent& bounds_;
    double spent_ = 0;
    double reserved_ = 0;
    std::uint64_t calls_ = 0;
    std::uint64_t in_flight_ = 0;
    std::deque<coro::wait_point*> waiting_;
};

/// One call's part of all extents around it. Gives back what is left when it is destroyed.
class spending_share {
public:
    spending_share() = default;
    spending_share(const spending_share&) = delete;
    spending_share& operator=(const spending_share&) = delete;
    ~spending_share() { settle(0); }

    /// Sets aside one call and `usd` in the extent `innermost` and in all around it; waits while
    /// others hold what it needs. Errors: LimitError that leaves the extent, cancelled.
    [[nodiscard]] coro::task<result<void>> reserve(lang::host_ref<lang::counted_extent> innermost,
                                                   double usd, coro::call_context context);
    /// The call has ended.
    void settle(double spent) noexcept;

private:
    lang::host_ref<lang::counted_extent> extent_; ///< innermost; null: nothing is set aside
    double taken_ = 0;
};

} // namespace heddle::tasks
