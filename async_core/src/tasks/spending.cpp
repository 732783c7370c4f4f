#include "spending.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/printer.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

[[nodiscard]] spending_ledger& ledger_of(lang::counted_extent& extent) {
    if (!extent.ledger) extent.ledger = std::make_unique<spending_ledger>(extent);
    return static_cast<spending_ledger&>(*extent.ledger);
}

[[nodiscard]] std::string dollars(double usd) { return lang::print_value(lang::value::real(usd)); }

} // namespace

bool spending_ledger::fits(double usd, bool& later) const noexcept {
    if (bounds_.calls() && calls_ >= *bounds_.calls()) {
        later = false;
        return false;
    }
    if (!bounds_.usd() || spent_ + reserved_ + usd <= *bounds_.usd()) return true;
    later = in_flight_ != 0 && spent_ + usd <= *bounds_.usd();
    return false;
}

void spending_ledger::take(double usd) noexcept {
    ++calls_;
    ++in_flight_;
    reserved_ += usd;
}

void spending_ledger::settle(double taken, double spent) noexcept {
    --in_flight_;
    reserved_ = in_flight_ == 0 ? 0 : std::max(0.0, reserved_ - taken);
    spent_ += spent;
    // All look again: the first in the queue may need more than the next.
    for (coro::wait_point* each : waiting_) each->notify();
    waiting_.clear();
}

error spending_ledger::refusal(double usd) const {
    if (bounds_.calls() && calls_ >= *bounds_.calls()) {
        return error(lang::errc::limit, "with: max-calls: the " + std::to_string(*bounds_.calls()) +
                                            " calls are used up");
    }
    return error(lang::errc::limit, "with: budget-usd: of " + dollars(*bounds_.usd()) + " USD " +
                                        dollars(spent_) +
                                        " are spent, and the next call may cost " + dollars(usd))
        .with_hint("a smaller max-tokens makes a call cheaper at most");
}

void spending_ledger::forget(coro::wait_point& point) {
    waiting_.erase(std::remove(waiting_.begin(), waiting_.end(), &point), waiting_.end());
}

coro::task<result<void>> spending_share::reserve(lang::host_ref<lang::counted_extent> innermost,
                                                 double usd, coro::call_context context) {
    for (;;) {
        spending_ledger* full = nullptr;
        bool later = false;
        lang::host_ref<lang::counted_extent> mark;
        for (auto each = innermost; each; each = lang::host_ref(each->outer())) {
            bool may_fit_later = false;
            if (ledger_of(*each).fits(usd, may_fit_later)) continue;
            // The outermost one that is full for good: its end is the end of all.
            if (!full || !may_fit_later) {
                full = &ledger_of(*each);
                later = may_fit_later;
                mark = each;
            }
        }
        if (!full) break;
        if (!later) co_return lang::with_extent(full->refusal(usd), mark.as_value());
        coro::wait_point point;
        full->wait(point);
        const coro::wake woken = co_await point.wait(context);
        full->forget(point);
        if (woken != coro::wake::notified) {
            if (auto stop = context.stop_error()) co_return *std::move(stop);
        }
    }
    for (auto* each = innermost.get(); each; each = each->outer().get()) ledger_of(*each).take(usd);
    extent_ = std::move(innermost);
    taken_ = usd;
    co_return result<void>();
}

void spending_share::settle(double spent) noexcept {
    const auto innermost = std::exchange(extent_, {});
    for (auto* each = innermost.get(); each; each = each->outer().get())
        ledger_of(*each).settle(taken_, spent);
}

} // namespace heddle::tasks
