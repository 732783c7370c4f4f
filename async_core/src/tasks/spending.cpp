#include "spending.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace heddle::tasks {

namespace {

/// Sums of figures that are not exact in binary do not miss a limit by their last digit.
constexpr double rounding = 1 + 1e-9;

[[nodiscard]] spending_ledger& ledger_of(lang::counted_extent& extent) {
    if (!extent.ledger) {
        extent.ledger =
            std::make_unique<spending_ledger>(spending_bounds{extent.usd(), extent.calls()});
    }
    return static_cast<spending_ledger&>(*extent.ledger);
}

[[nodiscard]] std::string dollars(double usd) {
    char text[40];
    std::snprintf(text, sizeof text, "$%.*g", 4, usd);
    return text;
}

} // namespace

spending_ledger::verdict spending_ledger::ask(const cost_estimate& wanted,
                                              bool has_turn) const noexcept {
    if (bounds_.calls && calls_ >= *bounds_.calls) {
        // What is in flight may prove to need no request, and be given back.
        return in_flight_ != 0 && *bounds_.calls != 0 ? verdict::later : verdict::refused;
    }
    if (bounds_.usd) {
        const double most = *bounds_.usd * rounding;
        if (spent_ + wanted.usd > most || (spent_ >= most && wanted.ceiling > 0)) {
            return verdict::refused;
        }
        const bool alone = in_flight_ == 0;
        if (!alone && spent_ + reserved_ + wanted.ceiling > most) return verdict::later;
    }
    const bool others_first = turn_ || !waiting_.empty();
    return others_first && !has_turn ? verdict::later : verdict::granted;
}

void spending_ledger::take(double set_aside) noexcept {
    ++calls_;
    ++in_flight_;
    reserved_ += set_aside;
}

void spending_ledger::settle(double set_aside, double spent, bool sent) noexcept {
    --in_flight_;
    if (!sent) --calls_;
    reserved_ = in_flight_ == 0 ? 0 : std::max(0.0, reserved_ - set_aside);
    spent_ += spent;
    give_turn();
}

spent_budget spending_ledger::refusal(const cost_estimate& wanted) const {
    if (bounds_.calls && calls_ >= *bounds_.calls) {
        const auto limit = static_cast<double>(*bounds_.calls);
        return {"calls", static_cast<double>(calls_), limit,
                "max-calls: all " + std::to_string(*bounds_.calls) + " calls are used"};
    }
    return {"cost", spent_, *bounds_.usd,
            "budget-usd: " + dollars(spent_) + " of " + dollars(*bounds_.usd) +
                " are spent, and this call costs about " + dollars(wanted.usd)};
}

spending_ledger::place::place(spending_ledger& in, const expected_cost& wanted, bool in_front)
    : in_(in), wanted_(wanted) {
    if (in_front) in_.waiting_.push_front(this);
    else in_.waiting_.push_back(this);
}

spending_ledger::place::~place() {
    auto& queue = in_.waiting_;
    if (in_.turn_ == this) in_.turn_ = nullptr;
    else queue.erase(std::remove(queue.begin(), queue.end(), this), queue.end());
    in_.give_turn();
}

/// Wakes the first in the queue once it need not wait any more. It keeps the turn until it has decided,
/// so that each call is woken once, and nobody overtakes it.
void spending_ledger::give_turn() noexcept {
    if (turn_ || waiting_.empty()) return;
    place* const first = waiting_.front();
    if (ask(first->wanted_.now(), true) == verdict::later) return;
    waiting_.pop_front();
    turn_ = first;
    first->point.notify();
}

template <class Visit>
void spending_share::each_ledger(const lang::host_ref<lang::counted_extent>& innermost,
                                 spending_ledger* session, Visit&& visit) {
    for (auto* each = innermost.get(); each; each = each->outer().get()) visit(ledger_of(*each));
    if (session) visit(*session);
}

coro::task<result<std::optional<spent_budget>>> spending_share::reserve(
    lang::host_ref<lang::counted_extent> innermost, spending_ledger* session, expected_cost wanted,
    coro::call_context context, task_observer* observer) {
    std::optional<spending_ledger::place> queued; // holds the turn after it was woken
    spending_ledger* queued_in = nullptr;
    cost_estimate cost;
    for (;;) {
        cost = wanted.now();
        spending_ledger* refusing = nullptr;
        spending_ledger* full = nullptr;
        each_ledger(innermost, session, [&](spending_ledger& each) {
            const auto verdict = each.ask(cost, &each == queued_in);
            // The outermost that is used up: its end is the end of all.
            if (verdict == spending_ledger::verdict::refused) refusing = &each;
            if (verdict == spending_ledger::verdict::later) full = &each;
        });
        if (refusing) co_return std::optional(refusing->refusal(cost));
        if (!full) break;
        const bool again = full == queued_in;
        queued.reset();
        queued_in = full;
        queued.emplace(*full, wanted, again);
        if (observer) observer->on_budget_wait(true);
        co_await queued->point.wait(context);
        if (observer) observer->on_budget_wait(false);
        if (auto stop = context.stop_error()) co_return *std::move(stop);
    }
    each_ledger(innermost, session, [&](spending_ledger& each) { each.take(cost.ceiling); });
    extent_ = std::move(innermost);
    session_ = session;
    held_ = true;
    usd_ = cost.usd;
    taken_ = cost.ceiling;
    co_return std::optional<spent_budget>();
}

void spending_share::settle(double spent, bool sent) noexcept {
    if (!std::exchange(held_, false)) return;
    const auto innermost = std::exchange(extent_, {});
    each_ledger(innermost, session_,
                [&](spending_ledger& each) { each.settle(taken_, spent, sent); });
}

} // namespace heddle::tasks
