#include "tasks/call/spending.hpp"

#include <heddle/base/number_text.hpp>

#include <algorithm>
#include <list>
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

[[nodiscard]] std::string dollars(double usd) { return "$" + rounded_text(usd, 4); }

} // namespace

double spending_ledger::reserved() const noexcept {
    double sum = 0;
    for (const auto& [kind, calls] : kinds_) {
        if (calls.count == 0) continue;
        const auto count = static_cast<double>(calls.count);
        const cost_estimate first{0, calls.first_ceilings / count};
        sum += count * expected_cost{calls.history, kind, first}.now().ceiling;
    }
    return sum;
}

std::uint64_t spending_ledger::in_flight_of(std::string_view kind) const noexcept {
    const auto found = kinds_.find(kind);
    return found == kinds_.end() ? 0 : found->second.count;
}

/// Few calls of the kind have ended, and more are in flight than these vouch for, or than the first
/// estimates let go.
bool spending_ledger::comes_too_soon(const expected_cost& wanted,
                                     const cost_estimate& cost) const noexcept {
    if (!cost.seen || cost.ended >= enough_ended) return false;
    const auto found = kinds_.find(wanted.kind);
    if (found == kinds_.end() || found->second.count < max_guessed * (cost.ended + 1)) return false;
    const kind_in_flight& like_it = found->second;
    const double others = reserved() - static_cast<double>(like_it.count) * cost.ceiling;
    const double all =
        spent_ + std::max(0.0, others) + like_it.first_ceilings + wanted.first.ceiling;
    return all > *bounds_.usd * rounding;
}

/// However many calls are in flight.
bool spending_ledger::is_spent_for(const cost_estimate& wanted) const noexcept {
    if (!bounds_.usd) return false;
    const double most = *bounds_.usd * rounding;
    return spent_ + wanted.usd > most || (spent_ >= most && wanted.ceiling > 0);
}

spending_ledger::verdict spending_ledger::ask_bounds(const expected_cost& wanted) const noexcept {
    if (bounds_.calls && calls_ >= *bounds_.calls) {
        // What is in flight may prove to need no request, and be given back.
        return in_flight_ != 0 && *bounds_.calls != 0 ? verdict::later : verdict::refused;
    }
    if (!bounds_.usd) return verdict::granted;
    const double most = *bounds_.usd * rounding;
    const cost_estimate cost = wanted.now();
    if (is_spent_for(cost)) return verdict::refused;
    const bool alone = in_flight_ == 0;
    if (!alone && spent_ + reserved() + cost.ceiling > most) return verdict::later;
    if (cost.guessed && in_flight_of(wanted.kind) >= max_guessed) return verdict::later;
    return comes_too_soon(wanted, cost) ? verdict::later : verdict::granted;
}

spending_ledger::verdict spending_ledger::ask(const expected_cost& wanted,
                                              bool has_turn) const noexcept {
    const verdict found = ask_bounds(wanted);
    if (found == verdict::refused && may_reuse_) return verdict::granted;
    if (found != verdict::granted) return found;
    const bool others_first = turn_ || !waiting_.empty();
    return others_first && !has_turn ? verdict::later : verdict::granted;
}

void spending_ledger::prepare(const expected_cost& wanted) {
    if (!bounds_.usd || kinds_.find(wanted.kind) != kinds_.end()) return;
    kinds_.emplace(wanted.kind, kind_in_flight{});
}

void spending_ledger::take(const expected_cost& wanted) noexcept {
    ++calls_;
    ++in_flight_;
    const auto found = kinds_.find(wanted.kind);
    if (found == kinds_.end()) return;
    found->second.history = wanted.history;
    ++found->second.count;
    found->second.first_ceilings += wanted.first.ceiling;
}

void spending_ledger::settle(const expected_cost& taken, double spent, bool sent) noexcept {
    --in_flight_;
    if (!sent) --calls_;
    spent_ += spent;
    if (sent && !taken.now().seen) estimated_ += spent;
    const auto found = kinds_.find(taken.kind);
    if (found != kinds_.end()) {
        kind_in_flight& calls = found->second;
        calls.first_ceilings = std::max(0.0, calls.first_ceilings - taken.first.ceiling);
        if (--calls.count == 0) kinds_.erase(found);
    }
    give_turn();
}

void spending_ledger::give_back(double spent, bool sent) noexcept {
    if (!follows_journal_) return;
    spent_ = std::max(0.0, spent_ - spent);
    if (sent && calls_ != 0) --calls_;
    give_turn();
}

bool spending_ledger::holds_again(const expected_cost& taken, double lost) const noexcept {
    if (!bounds_.usd) return true;
    const double others = in_flight_ > 1 ? reserved() - taken.now().ceiling : 0;
    return spent_ + lost + std::max(0.0, others) + taken.now().usd <= *bounds_.usd * rounding;
}

std::optional<spent_budget> spending_ledger::refuses_request(const expected_cost& taken) const {
    const std::uint64_t others = calls_ - 1;
    const cost_estimate cost = taken.now();
    const bool has_calls = !bounds_.calls || others < *bounds_.calls;
    if (has_calls && !is_spent_for(cost)) return std::nullopt;
    return refusal(cost, others);
}

spent_budget spending_ledger::refusal(const cost_estimate& wanted, std::uint64_t calls) const {
    if (bounds_.calls && calls >= *bounds_.calls) {
        const auto limit = static_cast<double>(*bounds_.calls);
        return {"calls", static_cast<double>(calls), limit,
                "max-calls: all " + std::to_string(*bounds_.calls) + " calls " +
                    (follows_journal_ ? "of the run " : "") + "are used"};
    }
    return money_refusal(wanted);
}

spent_budget spending_ledger::money_refusal(const cost_estimate& wanted) const {
    std::string message =
        "budget-usd: " + dollars(spent_) + " of " + dollars(*bounds_.usd) + " are spent";
    if (estimated_ > 0)
        message += " (" + dollars(estimated_) + " by estimate, for calls without a whole response)";
    message +=
        wanted.seen ? ", and this call costs about " : ", and the input of this call costs about ";
    return {"cost", spent_, *bounds_.usd, message + dollars(wanted.usd)};
}

spending_ledger::place::place(spending_ledger& in, const expected_cost& wanted)
    : in_(in), wanted_(wanted) {
    in_.waiting_.push_back(this);
}

spending_ledger::place::~place() {
    auto& queue = in_.waiting_;
    if (in_.turn_ == this) in_.turn_ = nullptr;
    else queue.erase(std::remove(queue.begin(), queue.end(), this), queue.end());
    in_.give_turn();
}

void spending_ledger::place::wait_again() {
    if (!has_turn()) return; // still in the queue
    in_.waiting_.push_front(this);
    in_.turn_ = nullptr;
}

/// Wakes the first in the queue once it need not wait any more. It keeps the turn until it has
/// decided, so that each call is woken once, and nobody overtakes it.
void spending_ledger::give_turn() noexcept {
    if (turn_ || waiting_.empty()) return;
    place* const first = waiting_.front();
    if (ask(first->wanted_, true) == verdict::later) return;
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

/// The places of one call, from the inside outwards. It waits in the last one, and keeps the turn
/// in those within: if it gave that up, calls that wait in two budgets could send each other back
/// and forth for ever, as each would find the other budget taken by the next.
class spending_share::places {
public:
    [[nodiscard]] bool has_turn(const spending_ledger& in) const noexcept {
        const auto found = std::find_if(all_.begin(), all_.end(),
                                        [&](const auto& each) { return each.is_in(in); });
        return found != all_.end() && found->has_turn();
    }
    /// `within`: number of the places in budgets within `full`. Those in budgets around it are
    /// left.
    [[nodiscard]] coro::wait_point& wait_in(spending_ledger& full, const expected_cost& wanted,
                                            std::size_t within) {
        while (all_.size() > within + 1) all_.pop_back();
        if (all_.size() > within && !all_.back().is_in(full)) all_.pop_back();
        if (all_.size() > within) all_.back().wait_again();
        else all_.emplace_back(full, wanted);
        return all_.back().point;
    }

private:
    std::list<spending_ledger::place> all_;
};

coro::task<result<std::optional<spent_budget>>> spending_share::reserve(
    lang::host_ref<lang::counted_extent> innermost, spending_ledger* session, expected_cost wanted,
    coro::call_context context, task_observer* observer) {
    places queued;
    cost_estimate cost;
    for (;;) {
        cost = wanted.now();
        spending_ledger* refusing = nullptr;
        spending_ledger* full = nullptr; // the innermost
        std::size_t within = 0;
        each_ledger(innermost, session, [&](spending_ledger& each) {
            const bool has_turn = queued.has_turn(each);
            const auto verdict = each.ask(wanted, has_turn);
            // The outermost that is used up: its end is the end of all.
            if (verdict == spending_ledger::verdict::refused) refusing = &each;
            if (verdict == spending_ledger::verdict::later && !full) full = &each;
            if (has_turn && !full) ++within;
        });
        if (refusing) co_return std::optional(refusing->refusal(cost));
        if (!full) break;
        coro::wait_point& turn = queued.wait_in(*full, wanted, within);
        if (observer) observer->on_budget_wait(true);
        co_await turn.wait(context);
        if (observer) observer->on_budget_wait(false);
        if (auto stop = context.stop_error()) co_return *std::move(stop);
    }
    each_ledger(innermost, session, [&](spending_ledger& each) { each.prepare(wanted); });
    lent_ = session && session->is_lent(wanted);
    each_ledger(innermost, session, [&](spending_ledger& each) { each.take(wanted); });
    extent_ = std::move(innermost);
    session_ = session;
    held_ = true;
    taken_ = wanted;
    co_return std::optional<spent_budget>();
}

bool spending_share::take_beside(const spending_share& first) {
    bool fits = true;
    each_ledger(first.extent_, first.session_, [&](const spending_ledger& each) {
        fits = fits && each.ask(first.taken_, false) == spending_ledger::verdict::granted;
    });
    if (!fits) return false;
    each_ledger(first.extent_, first.session_,
                [&](spending_ledger& each) { each.prepare(first.taken_); });
    each_ledger(first.extent_, first.session_,
                [&](spending_ledger& each) { each.take(first.taken_); });
    extent_ = first.extent_;
    session_ = first.session_;
    held_ = true;
    taken_ = first.taken_;
    return true;
}

bool spending_share::would_wait(const lang::host_ref<lang::counted_extent>& innermost,
                                spending_ledger* session, const expected_cost& wanted) {
    bool refused = false;
    bool waits = false;
    each_ledger(innermost, session, [&](const spending_ledger& each) {
        const auto verdict = each.ask(wanted, false);
        refused = refused || verdict == spending_ledger::verdict::refused;
        waits = waits || verdict == spending_ledger::verdict::later;
    });
    return waits && !refused;
}

std::optional<spent_budget> spending_share::passed_by(double lost) const {
    if (!held_) return std::nullopt;
    const spending_ledger* passed = nullptr;
    each_ledger(extent_, session_, [&](const spending_ledger& each) {
        if (!each.holds_again(taken_, lost)) passed = &each;
    });
    if (!passed) return std::nullopt;
    return passed->money_refusal(taken_.now());
}

std::optional<spent_budget> spending_share::refuses_request() {
    if (!held_ || !lent_) return std::nullopt;
    auto over = session_->refuses_request(taken_);
    lent_ = over.has_value();
    return over;
}

void spending_share::note_paid(const lang::host_ref<lang::counted_extent>& innermost,
                               spending_ledger* session, double spent, std::uint64_t calls) {
    each_ledger(innermost, session, [&](spending_ledger& each) { each.note_paid(spent, calls); });
}

void spending_share::settle(double spent, bool sent) noexcept {
    settled_at_ = expected();
    settled_unseen_ = guessed();
    if (!std::exchange(held_, false)) return;
    counted_ = spent;
    counted_call_ = sent;
    const auto innermost = std::exchange(extent_, {});
    each_ledger(innermost, session_,
                [&](spending_ledger& each) { each.settle(taken_, spent, sent); });
}

void spending_share::note_paid_earlier() noexcept {
    const double spent = std::exchange(counted_, 0.0);
    const bool sent = std::exchange(counted_call_, false);
    if (session_ && !held_) session_->give_back(spent, sent);
}

} // namespace heddle::tasks
