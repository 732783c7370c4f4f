// Lets concurrent calls with a common prompt use the prompt cache of the service.
#pragma once

#include <heddle/coro/event_loop.hpp>
#include <heddle/providers/common/call_gate.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace heddle::providers {

struct prefix_gate_options {
    /// Prompts that share at least this many tokens at their beginning wait for each other; 0:
    /// none.
    std::size_t min_tokens = 1'024;
    /// How long calls wait for the first byte of the leading one.
    std::chrono::milliseconds max_wait{10'000};
    /// How long a service keeps an unused prefix.
    std::chrono::milliseconds kept_for{240'000};
};

/// In front of the gate of an account whose service keeps prompts: of calls with the same prefix
/// one leads, and the others wait until the first byte of its response, because then the service
/// has read the prompt and need not read it again. If the leader fails or gives up, the next one
/// leads. Calls with short prompts, and those whose prefix was used recently, pass at once. A call
/// that waits here holds no place at the gate behind, so there is no deadlock; no call waits longer
/// than `max_wait`. Threads: the shard's only. Outlives every permit.
class prefix_gate final : public call_gate {
public:
    /// `loop` outlives it.
    prefix_gate(coro::event_loop& loop, std::shared_ptr<call_gate> behind,
                prefix_gate_options options = {});
    ~prefix_gate() override;
    prefix_gate(const prefix_gate&) = delete;
    prefix_gate& operator=(const prefix_gate&) = delete;

    /// Off for a service that keeps no prompts: all calls pass.
    void enable(bool on) noexcept { enabled_ = on; }

    [[nodiscard]] call_permit try_acquire(const call_demand& demand) override;
    /// Cancellation: at any point while it waits; the deadline bounds the wait as well.
    [[nodiscard]] coro::task<result<call_permit>> acquire(call_demand demand,
                                                          coro::call_context context) override;

    /// Number of calls that wait for a leader.
    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }

private:
    struct follower;
    struct leader;
    struct prefix;

    void sent(const call_ticket& ticket) noexcept override;
    void answering(const call_ticket& ticket) noexcept override;
    void end(const call_ticket& ticket, const call_outcome& outcome) noexcept override;

    [[nodiscard]] prefix* prefix_of(const call_demand& demand);
    [[nodiscard]] bool is_warm(const prefix& of) const noexcept;
    [[nodiscard]] call_permit led_by(prefix& of, call_permit behind);
    void warmed(leader& by) noexcept;
    void hand_on(prefix& of) noexcept;
    void forget_old();

    coro::event_loop& loop_;
    std::shared_ptr<call_gate> behind_;
    prefix_gate_options options_;
    bool enabled_ = true;
    std::unordered_map<std::uint64_t, std::unique_ptr<prefix>> prefixes_;
    std::size_t forget_at_; ///< number of prefixes at which old ones are looked for
    std::size_t waiting_ = 0;
};

} // namespace heddle::providers
