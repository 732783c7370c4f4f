// The limiter of an account, in front of its providers.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/base/secret.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/providers/common/call_gate.hpp>
#include <heddle/providers/limits/limiter_fsm.hpp>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::providers {

/// Limits of some models that the user knows.
struct model_limits {
    std::string prefix; ///< of the model's name; the longest match applies
    limits::known_limits per_minute;
    friend bool operator==(const model_limits&, const model_limits&) = default;
};

struct limiter_settings {
    limits::limiter_options options; ///< of models without a matching prefix
    std::vector<model_limits> models;
    limits::account_bounds account; ///< of all models together
};

/// A call_gate with one limiter_fsm for each model of an account, and the limits of the account in
/// front of all of them. Waiting calls park in a coro::wait_point; one timer for each model wakes
/// those that are due. Models take turns in using the limits of the account. Errors of acquire():
/// llm_errc::rate_limit, not retryable, with the time in retry_after, as soon as it is certain that
/// the call cannot be sent before its deadline, or that the service would delay it for longer than
/// limiter_options::max_wait. Threads: the shard's only.
class limiter_gate final : public call_gate {
public:
    /// `loop` and `log` outlive it. `account`: its name in the log; may be empty.
    explicit limiter_gate(coro::event_loop& loop, limiter_settings settings = {},
                          log_port& log = null_log(), std::string account = {});
    ~limiter_gate() override;
    limiter_gate(const limiter_gate&) = delete;
    limiter_gate& operator=(const limiter_gate&) = delete;

    [[nodiscard]] call_permit try_acquire(const call_demand& demand) override;
    [[nodiscard]] coro::task<result<call_permit>> acquire(call_demand demand,
                                                          coro::call_context context) override;

    /// From now on the stricter of both applies for each limit, for calls of all models.
    void tighten(const limiter_settings& settings);

    /// Current counters by model, sorted by name. Those of a model without calls begin anew after
    /// ten minutes, or when calls of many other models have come since.
    [[nodiscard]] std::vector<std::pair<std::string, limits::limiter_counters>> counters() const;

private:
    class lane;

    void sent(const call_ticket& ticket) noexcept override;
    void answering(const call_ticket&) noexcept override {}
    void end(const call_ticket& ticket, const call_outcome& outcome) noexcept override;
    [[nodiscard]] lane& lane_of(std::string_view model);
    [[nodiscard]] call_permit permit_for(lane& in, std::uint32_t slot) noexcept;
    [[nodiscard]] bool goes_behind_others(const lane& in) const noexcept {
        return next_ != nullptr && next_ != &in;
    }
    void pump(lane& of);
    void pump_in_turn();
    void take_turns(lane& in);
    void drop_idle_lanes();

    coro::event_loop& loop_;
    limiter_settings settings_;
    std::vector<limiter_settings> more_; // of other services with this account
    log_port& log_;
    std::string account_;
    limits::account_limits bounds_;
    std::map<std::string, std::unique_ptr<lane>, std::less<>> lanes_;
    std::size_t drop_at_ = 64; // lanes
    std::list<lane*> turns_;   // with waiting calls; the first is the next
    lane* next_ = nullptr;     // whose turn it is to use the account; null: none waits
    lane* last_ = nullptr;     // most programs use one model
};

/// The limiters of a shard: one for each account, which is an origin and a key, so that providers
/// that share an account share its limits. Keys are kept as hashes only. Threads: the shard's only.
class limiter_set {
public:
    /// `loop` and `log`, which receives long waits, outlive it.
    explicit limiter_set(coro::event_loop& loop, log_port& log = null_log())
        : loop_(loop), log_(log) {}

    /// The gate of an account. If there is one already, the stricter of both applies for each
    /// limit. A path after the origin is ignored.
    [[nodiscard]] std::shared_ptr<limiter_gate> gate_for(std::string_view origin, const secret& key,
                                                         const limiter_settings& settings);
    /// Visits all gates with their origins.
    void for_each(
        const std::function<void(std::string_view origin, const limiter_gate& gate)>& visit) const;

private:
    struct account {
        std::string origin;
        std::size_t key = 0;
        // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a 0 in what is generated
        friend auto operator<=>(const account&, const account&) = default;
    };

    coro::event_loop& loop_;
    log_port& log_;
    std::map<account, std::shared_ptr<limiter_gate>> gates_;
};

/// Settings for an origin ("http://127.0.0.1:8080"): a 429 of a server on this machine arrives
/// sooner than one from far away, so the number of calls may grow faster until then.
[[nodiscard]] limiter_settings limiter_settings_for(std::string_view origin);

} // namespace heddle::providers
