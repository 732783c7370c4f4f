#include <heddle/providers/routing/prefix_gate.hpp>

#include <heddle/coro/wait_point.hpp>
#include <heddle/providers/routing/prefix_hash.hpp>

#include <algorithm>
#include <deque>
#include <utility>

namespace heddle::providers {

namespace {

constexpr std::size_t bytes_in_a_token = 4;
constexpr std::size_t few_prefixes = 1'024; ///< among which old ones are not looked for
constexpr int first_good = 200;
constexpr int first_bad = 300;

} // namespace

struct prefix_gate::prefix {
    bool led = false; ///< somebody is on the way
    bool warm = false;
    coro::clock::time_point used{};
    std::deque<follower*> followers;
    std::size_t users = 0; ///< leaders and followers that refer to it
};

/// Somebody who asks; queued while it waits.
struct prefix_gate::follower {
    enum class reported : std::uint8_t { nothing, go, lead };

    follower(prefix_gate& gate, prefix& line) : owner(gate), of(line) { ++of.users; }
    follower(const follower&) = delete;
    follower& operator=(const follower&) = delete;
    ~follower() {
        step_out();
        // Asked to lead, and gone before it did.
        if (std::exchange(what, reported::nothing) == reported::lead) owner.hand_on(of);
        --of.users;
    }
    void step_in() {
        of.followers.push_back(this);
        ++owner.waiting_;
        waits = true;
    }
    void step_out() noexcept {
        if (!std::exchange(waits, false)) return;
        --owner.waiting_;
        if (what == reported::nothing) std::erase(of.followers, this);
    }

    prefix_gate& owner;
    prefix& of;
    coro::wait_point point;
    reported what = reported::nothing;
    bool waits = false;
};

/// A leader on its way: what its permit refers to.
struct prefix_gate::leader {
    leader(prefix& line, call_permit passed) : of(line), behind(std::move(passed)) { ++of.users; }
    leader(const leader&) = delete;
    leader& operator=(const leader&) = delete;
    ~leader() { --of.users; }

    prefix& of;
    call_permit behind;
    bool answered = false;
};

prefix_gate::prefix_gate(coro::event_loop& loop, std::shared_ptr<call_gate> behind,
                         prefix_gate_options options)
    : loop_(loop), behind_(std::move(behind)), options_(options), forget_at_(few_prefixes) {}

prefix_gate::~prefix_gate() = default;

prefix_gate::prefix* prefix_gate::prefix_of(const call_demand& demand) {
    if (!enabled_ || options_.min_tokens == 0) return nullptr;
    const auto hash = prefix_hash(*demand.request, options_.min_tokens * bytes_in_a_token);
    if (!hash) return nullptr;
    if (prefixes_.size() >= forget_at_ && !prefixes_.contains(*hash)) forget_old();
    std::unique_ptr<prefix>& known = prefixes_[*hash];
    if (!known) known = std::make_unique<prefix>();
    return known.get();
}

bool prefix_gate::is_warm(const prefix& of) const noexcept {
    return of.warm && loop_.now() - of.used < options_.kept_for;
}

/// Rows of a batch have a prefix each. All may be warm, so the next look comes when there are twice
/// as many: a call costs the same whatever their number.
void prefix_gate::forget_old() {
    std::erase_if(prefixes_, [&](const auto& each) {
        const prefix& of = *each.second;
        return !of.led && of.users == 0 && !is_warm(of);
    });
    forget_at_ = std::max(few_prefixes, 2 * prefixes_.size());
}

call_permit prefix_gate::led_by(prefix& of, call_permit behind) {
    call_ticket ticket;
    ticket.lane = new leader(of, std::move(behind)); // end() deletes it
    of.led = true;
    of.warm = false;
    return {*this, ticket};
}

call_permit prefix_gate::try_acquire(const call_demand& demand) {
    prefix* const of = prefix_of(demand);
    if (!of) return behind_->try_acquire(demand);
    const bool warm = is_warm(*of);
    if (of->led && !warm) return {};
    call_permit passed = behind_->try_acquire(demand);
    if (!passed) return {};
    if (warm) {
        of->used = loop_.now();
        return passed;
    }
    return led_by(*of, std::move(passed));
}

coro::task<result<call_permit>> prefix_gate::acquire(call_demand demand,
                                                     coro::call_context context) {
    if (auto stop = context.stop_error()) co_return *std::move(stop);
    prefix* const of = prefix_of(demand);
    if (!of) {
        auto passed = co_await behind_->acquire(demand, context);
        co_return passed;
    }
    follower self(*this, *of);
    const bool warm = is_warm(*of);
    if (of->led && !warm) {
        self.step_in();
        const coro::deadline patience(loop_.now() + options_.max_wait);
        co_await self.point.wait(context.with_deadline(patience));
        self.step_out();
        if (auto stop = context.stop_error()) co_return *std::move(stop);
    } else if (!warm) {
        of->led = true;
        of->warm = false;
        self.what = follower::reported::lead;
    }
    auto passed = co_await behind_->acquire(demand, context);
    if (!passed) co_return passed; // a leader hands on
    if (self.what == follower::reported::lead) {
        call_permit leading = led_by(*of, *std::move(passed));
        self.what = follower::reported::nothing;
        co_return leading;
    }
    if (is_warm(*of)) of->used = loop_.now();
    co_return passed;
}

/// The service has read the prompt: everybody may go.
void prefix_gate::warmed(leader& by) noexcept {
    by.answered = true;
    prefix& of = by.of;
    of.led = false;
    of.warm = true;
    of.used = loop_.now();
    for (follower* const each : std::exchange(of.followers, {})) {
        each->what = follower::reported::go;
        each->point.notify();
    }
}

/// The leader has gone without a response: the next one leads.
void prefix_gate::hand_on(prefix& of) noexcept {
    of.led = !of.followers.empty();
    if (!of.led) return;
    follower* const next = of.followers.front();
    of.followers.pop_front();
    next->what = follower::reported::lead;
    next->point.notify();
}

void prefix_gate::sent(const call_ticket& ticket) noexcept {
    static_cast<leader*>(ticket.lane)->behind.sent();
}

void prefix_gate::answering(const call_ticket& ticket) noexcept {
    leader& by = *static_cast<leader*>(ticket.lane);
    by.behind.answering();
    warmed(by);
}

void prefix_gate::end(const call_ticket& ticket, const call_outcome& outcome) noexcept {
    const std::unique_ptr<leader> by(static_cast<leader*>(ticket.lane));
    by->behind.settle(outcome);
    if (by->answered) return;
    const bool answered = outcome.status >= first_good && outcome.status < first_bad;
    if (answered) warmed(*by);
    else hand_on(by->of);
}

} // namespace heddle::providers
