#include <heddle/providers/limits/limiter_gate.hpp>

#include "common/base_url.hpp"

#include <heddle/base/time_text.hpp>
#include <heddle/base/url.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/providers/limits/wait_reporter.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <random>
#include <string>

namespace heddle::providers {

using limits::call_end;
using limits::limiter_fsm;

namespace {

constexpr int too_many_requests = 429;
/// Models without calls whose lanes are kept, whatever they have learned.
constexpr std::size_t max_idle_lanes = 512;
constexpr std::size_t few_lanes = 64; ///< not worth looking for idle ones

/// What the user allows a model.
limits::known_limits known_limits_for(const limiter_settings& settings, std::string_view model) {
    limits::known_limits known = settings.options.per_minute;
    std::size_t longest = 0;
    for (const model_limits& each : settings.models) {
        if (!model.starts_with(each.prefix) || each.prefix.size() < longest) continue;
        longest = each.prefix.size();
        known = each.per_minute;
    }
    return known;
}

limits::account_bounds bounds_for(const limiter_settings& settings, std::string_view model) {
    return {known_limits_for(settings, model), settings.options.max_in_flight};
}

/// Whether two services allow the same, model for model.
bool same_for_models(const limiter_settings& one, const limiter_settings& other) {
    return one.options.per_minute == other.options.per_minute &&
           one.options.max_in_flight == other.options.max_in_flight && one.models == other.models;
}

limits::limiter_options options_for(const limiter_settings& settings, std::string_view model) {
    limits::limiter_options chosen = settings.options;
    if (chosen.seed == 0) chosen.seed = std::random_device{}();
    chosen.per_minute = known_limits_for(settings, model);
    return chosen;
}

limits::call_report report_of(const call_outcome& outcome) {
    limits::call_report report;
    report.usage = outcome.usage;
    report.limits = outcome.limits;
    if (!outcome.failure) {
        report.end = outcome.status == 0 ? call_end::not_sent : call_end::answered;
        return report;
    }
    const bool limited =
        outcome.failure->code() == ports::llm_errc::rate_limit ||
        (outcome.status == too_many_requests && outcome.failure->code() != ports::llm_errc::quota);
    report.end = limited ? call_end::limited : call_end::failed;
    if (limited) report.retry_after = outcome.failure->info().retry_after;
    return report;
}

error no_room(std::string message, coro::clock::duration wait, const char* hint) {
    return error(ports::llm_errc::rate_limit, std::move(message))
        .with_retryable(false)
        .with_retry_after(std::chrono::ceil<std::chrono::milliseconds>(wait))
        .with_hint(hint);
}

/// The name in heddle.toml and, of limiter_settings::account, the place.
const char* setting_of(limits::measure which) noexcept {
    switch (which) {
    case limits::measure::requests: return "requests_per_minute";
    case limits::measure::tokens: return "tokens_per_minute";
    case limits::measure::input_tokens: return "input_tokens_per_minute";
    case limits::measure::output_tokens: break;
    }
    return "output_tokens_per_minute";
}

/// There is no time when it may go, because it never may.
error too_large(std::string_view model, const limiter_fsm::excess& by) {
    const std::string setting = setting_of(by.of);
    return error(ports::llm_errc::rate_limit, "the prompt of this call of " + std::string(model) +
                                                  " takes about " + std::to_string(by.needed) +
                                                  " tokens, and " + setting + " is " +
                                                  std::to_string(by.limit))
        .with_retryable(false)
        .with_hint("raise " + setting + " of the service in heddle.toml, or send a shorter prompt");
}

error refusal_of(std::string_view model, const limiter_fsm::waiter& refused,
                 coro::clock::time_point now, std::chrono::milliseconds max_wait) {
    if (refused.too_large) return too_large(model, *refused.too_large);
    const auto wait = *refused.refused_until - now;
    if (refused.refused_for_long) {
        return no_room("rate limited: the service takes no call of " + std::string(model) +
                           " for " + whole_seconds_text(wait) + ", and a call waits " +
                           whole_seconds_text(max_wait) + " at most",
                       wait, "try again later, or name another model as a fallback");
    }
    return no_room("the limits of " + std::string(model) +
                       " leave no room before the deadline: the call could go in " +
                       whole_seconds_text(wait) + " at the earliest",
                   wait, "allow more time, send less at once, or name another model as a fallback")
        .with_cause(
            error::cancelled(cancel_reason::deadline)); // of this call: others may have time
}

/// A call that waits, for those who watch it. Also when its coroutine is destroyed.
class shown_wait {
public:
    explicit shown_wait(ports::limit_wait_listener* listener) noexcept : listener_(listener) {
        if (listener_) listener_->on_limit_wait(true);
    }
    shown_wait(const shown_wait&) = delete;
    shown_wait& operator=(const shown_wait&) = delete;
    ~shown_wait() {
        if (listener_) listener_->on_limit_wait(false);
    }

private:
    ports::limit_wait_listener* listener_;
};

} // namespace

/// One model: its machine and its timer.
class limiter_gate::lane final : private coro::timer_node {
public:
    class parked : public limiter_fsm::waiter {
    public:
        coro::wait_point point;
    };
    enum class step : std::uint8_t { one_went, waits_here, waits_for_account };

    lane(limiter_gate& of, std::string name, limits::limiter_options options)
        : model(std::move(name)), max_wait(options.max_wait),
          fsm(options, of.loop_.now(), &of.bounds_), gate_(of),
          reporter_(of.log_, of.account_.empty() ? model : model + " at " + of.account_) {}

    /// Wakes the next one, if it may go now.
    [[nodiscard]] step release_one() {
        if (limiter_fsm::waiter* const next = fsm.release(gate_.loop_.now())) {
            static_cast<parked*>(next)->point.notify();
            return step::one_went;
        }
        return fsm.held_by_account() ? step::waits_for_account : step::waits_here;
    }
    void release_refused() {
        while (limiter_fsm::waiter* const next = fsm.release_refused()) {
            static_cast<parked*>(next)->point.notify();
        }
    }
    /// Comes back when the next one may go.
    void rest() {
        if (fsm.waiting() != 0) reporter_.left_waiting(fsm, gate_.loop_.now());
        const auto wake = fsm.wake_at();
        if (wake == coro::clock::time_point::max()) {
            unschedule();
            armed_ = wake;
        } else if (!scheduled() || wake != armed_) {
            gate_.loop_.schedule(*this, wake);
            armed_ = wake;
        }
    }

    /// No call refers to it.
    [[nodiscard]] bool is_idle() const noexcept {
        return resuming == 0 && !has_turn && fsm.in_flight() == 0 && !fsm.has_work();
    }

    const std::string model;
    const std::chrono::milliseconds max_wait;
    limiter_fsm fsm;
    coro::clock::time_point used; ///< when a call has last begun or ended
    std::size_t resuming = 0;     ///< calls that wait, or have just been woken
    bool has_turn = false;        ///< it is in turns_

private:
    void on_timer() noexcept override { gate_.pump(*this); }

    limiter_gate& gate_;
    limits::wait_reporter reporter_;
    coro::clock::time_point armed_;
};

limiter_gate::limiter_gate(coro::event_loop& loop, limiter_settings settings, log_port& log,
                           std::string account)
    : loop_(loop), settings_(std::move(settings)), log_(log), account_(std::move(account)),
      bounds_(settings_.options.burst) {
    bounds_.tighten(settings_.account, loop_.now());
}

limiter_gate::~limiter_gate() = default;

void limiter_gate::tighten(const limiter_settings& settings) {
    bounds_.tighten(settings.account, loop_.now());
    for (const auto& [model, in] : lanes_) {
        if (in->fsm.has_work()) take_turns(*in);
    }
    const auto is_same = [&](const limiter_settings& each) {
        return same_for_models(each, settings);
    };
    if (is_same(settings_) || std::any_of(more_.begin(), more_.end(), is_same)) return;
    more_.push_back(settings);
    for (const auto& [model, in] : lanes_)
        in->fsm.tighten(bounds_for(settings, model), loop_.now());
}

/// Wakes whoever may go now.
void limiter_gate::pump(lane& of) {
    if (bounds_.any()) return pump_in_turn();
    while (of.release_one() == lane::step::one_went) {}
    of.rest();
}

/// The same where all models share limits: one call of each model after the other. The first that
/// the account holds back is the next to go, and nobody overtakes it. Models without waiting calls
/// take no part, however many there are.
void limiter_gate::pump_in_turn() {
    next_ = nullptr;
    for (lane* const each : turns_) each->release_refused();
    std::size_t in_vain = 0;
    while (in_vain < turns_.size()) {
        lane& at = *turns_.front();
        const lane::step outcome = at.release_one();
        if (outcome == lane::step::waits_for_account) {
            next_ = &at;
            break;
        }
        turns_.splice(turns_.end(), turns_, turns_.begin());
        in_vain = outcome == lane::step::one_went ? 0 : in_vain + 1;
    }
    for (auto each = turns_.begin(); each != turns_.end();) {
        lane& at = **each;
        if (next_ && &at != next_) at.fsm.wait_behind(next_->fsm.hold());
        at.rest();
        at.has_turn = at.fsm.has_work();
        each = at.has_turn ? std::next(each) : turns_.erase(each);
    }
}

/// A call of it waits: it comes after the models that wait already.
void limiter_gate::take_turns(lane& in) {
    if (in.has_turn || !bounds_.any()) return;
    turns_.push_back(&in);
    in.has_turn = true;
}

limiter_gate::lane& limiter_gate::lane_of(std::string_view model) {
    if (!last_ || last_->model != model) {
        auto found = lanes_.find(model);
        if (found == lanes_.end()) {
            if (lanes_.size() >= drop_at_) drop_idle_lanes();
            std::string name(model);
            auto object = std::make_unique<lane>(*this, name, options_for(settings_, model));
            for (const limiter_settings& each : more_) {
                object->fsm.tighten(bounds_for(each, model), loop_.now());
            }
            found = lanes_.emplace(std::move(name), std::move(object)).first;
        }
        last_ = found->second.get();
    }
    last_->used = loop_.now();
    return *last_;
}

/// Those that decide as new ones would, and where there are too many, the longest unused ones:
/// those first that would admit a call now.
void limiter_gate::drop_idle_lanes() {
    const auto now = loop_.now();
    last_ = nullptr;
    std::erase_if(lanes_, [&](const auto& each) {
        lane& in = *each.second;
        return in.is_idle() && !in.fsm.remembers(now, now - in.used);
    });
    std::vector<decltype(lanes_)::iterator> idle;
    for (auto each = lanes_.begin(); each != lanes_.end(); ++each) {
        if (each->second->is_idle()) idle.push_back(each);
    }
    if (idle.size() > max_idle_lanes) {
        const auto end = idle.end() - max_idle_lanes / 2;
        const auto worth = [now](const auto& each) {
            return std::pair(each->second->fsm.holds_back(now), each->second->used);
        };
        std::nth_element(idle.begin(), end, idle.end(), [&](const auto& one, const auto& other) {
            return worth(one) < worth(other);
        });
        for (auto each = idle.begin(); each != end; ++each) lanes_.erase(*each);
    }
    drop_at_ = std::max(few_lanes, 2 * lanes_.size()); // what this costs, new ones have paid
}

call_permit limiter_gate::permit_for(lane& in, std::uint32_t slot) noexcept {
    call_ticket ticket;
    ticket.lane = &in;
    ticket.number = slot;
    return {*this, ticket};
}

call_permit limiter_gate::try_acquire(const call_demand& demand) {
    lane& in = lane_of(demand.request->model);
    if (goes_behind_others(in)) return {};
    const std::uint32_t slot = in.fsm.try_admit(
        {demand.input_tokens, demand.output_tokens, demand.reports_sent}, loop_.now());
    if (slot == limiter_fsm::no_slot) return {};
    return permit_for(in, slot);
}

coro::task<result<call_permit>> limiter_gate::acquire(call_demand demand,
                                                      coro::call_context context) {
    if (auto stop = context.stop_error()) co_return *std::move(stop);
    lane& in = lane_of(demand.request->model);
    lane::parked self;
    self.size = {demand.input_tokens, demand.output_tokens, demand.reports_sent};
    self.flow = demand.request->scheduling.flow;
    self.priority = demand.request->scheduling.priority;
    self.again = demand.attempt > 1;
    self.until = context.until;
    const auto arrived = in.fsm.arrive(self, loop_.now(), goes_behind_others(in));
    if (arrived == limiter_fsm::arrival::admitted) co_return permit_for(in, self.slot);
    coro::wake outcome = coro::wake::notified;
    if (arrived == limiter_fsm::arrival::queued) {
        const shown_wait waiting(demand.request->waits);
        ++in.resuming;
        try {
            take_turns(in);
            pump(in); // finds out when its time comes
            coro::task<coro::wake> turn = self.point.wait(context);
            outcome = co_await std::move(turn);
        } catch (...) { // out of memory: the call does not wait any more
            --in.resuming;
            in.fsm.leave(self);
            if (self.slot != limiter_fsm::no_slot) permit_for(in, self.slot).settle({});
            throw;
        }
        --in.resuming;
    }
    if (self.slot != limiter_fsm::no_slot) {
        call_permit granted = permit_for(in, self.slot);
        if (outcome == coro::wake::notified) co_return granted;
        granted.settle({}); // granted and cancelled in the same turn
    }
    const bool refused = self.refused_until || self.too_large;
    if (refused && outcome == coro::wake::notified) {
        co_return refusal_of(in.model, self, loop_.now(), in.max_wait);
    }
    in.fsm.leave(self);
    pump(in); // whoever comes next may need less
    co_return error::cancelled(outcome == coro::wake::timed_out ? cancel_reason::deadline
                                                                : context.cancel->reason());
}

void limiter_gate::sent(const call_ticket& ticket) noexcept {
    lane& in = *static_cast<lane*>(ticket.lane);
    in.fsm.sent(static_cast<std::uint32_t>(ticket.number), loop_.now());
}

void limiter_gate::end(const call_ticket& ticket, const call_outcome& outcome) noexcept {
    lane& in = *static_cast<lane*>(ticket.lane);
    in.used = loop_.now();
    in.fsm.settle(static_cast<std::uint32_t>(ticket.number), report_of(outcome), in.used);
    if (bounds_.any() || in.fsm.has_work()) pump(in);
}

std::vector<std::pair<std::string, limits::limiter_counters>> limiter_gate::counters() const {
    std::vector<std::pair<std::string, limits::limiter_counters>> pairs;
    pairs.reserve(lanes_.size());
    for (const auto& [model, in] : lanes_) {
        pairs.emplace_back(model, in->fsm.counters(loop_.now()));
    }
    return pairs;
}

std::shared_ptr<limiter_gate> limiter_set::gate_for(std::string_view origin, const secret& key,
                                                    const limiter_settings& settings) {
    // Without the path: it names which format is spoken, not who pays.
    const auto url = parse_base_url(origin);
    const account whose{url ? url->origin : std::string(origin),
                        std::hash<std::string_view>{}(key.reveal())};
    std::shared_ptr<limiter_gate>& gate = gates_[whose];
    if (gate) gate->tighten(settings);
    else gate = std::make_shared<limiter_gate>(loop_, settings, log_, whose.origin);
    return gate;
}

void limiter_set::for_each(
    const std::function<void(std::string_view, const limiter_gate&)>& visit) const {
    for (const auto& [whose, gate] : gates_) visit(whose.origin, *gate);
}

limiter_settings limiter_settings_for(std::string_view origin) {
    limiter_settings settings;
    settings.options.doubles_every = std::chrono::seconds(1);
    const auto url = parse_base_url(origin);
    if (url && is_loopback_host(url->host)) {
        settings.options.first_in_flight = 64;
        settings.options.doubles_every = std::chrono::milliseconds(200);
    }
    return settings;
}

} // namespace heddle::providers
