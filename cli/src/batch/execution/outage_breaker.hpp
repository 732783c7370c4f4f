// Whether one service is down for all rows.
#pragma once

#include <heddle/coro/deadline.hpp>

#include <chrono>
#include <cstdint>

namespace heddle::cli {

/// Opens after several rows in a row have failed because the service was down: then no row starts
/// but one now and again, after 5, 10, 20, 40, 60, 60 … seconds, until the service answers one of
/// them. Pure. Rows that were started before it opened do not count as probes.
class outage_breaker {
public:
    static constexpr std::uint64_t failures_to_open = 5;

    enum class state : std::uint8_t { closed, open, probing };

    /// A row ended that has asked the service; `outage`: in vain.
    void row_ended(bool outage, bool was_probe, coro::clock::time_point now) noexcept;
    /// It has answered a request of a row, whatever it does now.
    void note_worked() noexcept { has_worked_ = true; }
    /// The probe has not asked the service: the next one may start at once.
    void probe_lost(coro::clock::time_point now) noexcept;
    /// All that may run has been failed by the service: opens before the usual number.
    void open(coro::clock::time_point now) noexcept;
    /// Whether it is rather a row that a service cannot answer than a service that is down: the row
    /// has failed as the probe several times, long after others have been answered.
    [[nodiscard]] bool is_fault_of_row(unsigned failed_probes,
                                       coro::clock::time_point now) const noexcept;
    /// Whether a probe may start; it has then.
    [[nodiscard]] bool take_probe(coro::clock::time_point now) noexcept;

    [[nodiscard]] state now() const noexcept { return state_; }
    [[nodiscard]] bool is_closed() const noexcept { return state_ == state::closed; }
    /// When the next probe starts.
    [[nodiscard]] coro::clock::time_point next_probe() const noexcept { return next_; }
    /// Since when no row was answered; only while it is not closed.
    [[nodiscard]] coro::clock::time_point since() const noexcept { return since_; }
    /// Whether it has answered a row of this process.
    [[nodiscard]] bool has_worked() const noexcept { return has_worked_; }
    /// Whether it has answered the row that asked it last.
    [[nodiscard]] bool has_answered_last() const noexcept { return in_a_row_ == 0; }

private:
    state state_ = state::closed;
    std::uint64_t in_a_row_ = 0;
    unsigned probes_ = 0;
    bool has_worked_ = false;
    coro::clock::time_point since_;
    coro::clock::time_point next_;
};

} // namespace heddle::cli
