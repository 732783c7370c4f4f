// Which of the services of a batch are down.
#pragma once

#include "batch/execution/outage_breaker.hpp"
#include "batch/rows/service_contact.hpp"

#include <heddle/coro/deadline.hpp>

#include <map>
#include <string>
#include <vector>

namespace heddle::cli {

/// One outage_breaker for each service. Which services a row needs is not known before it runs:
/// while one of them is down, rows that it has failed start one after another as the probe, and
/// others only if rows get on without it. A service is back once it has answered a request of this
/// process; a row that has not asked it proves nothing. Pure.
class service_outages {
public:
    using time_point = coro::clock::time_point;
    enum class change : std::uint8_t { none, paused, back };

    /// A row ended. `failed`: because of a service that was down.
    [[nodiscard]] change row_ended(const std::vector<service_contact>& contacts, bool failed,
                                   bool was_probe, time_point now);
    /// The probe was cancelled.
    void probe_lost(time_point now) noexcept;
    /// The services that were down for a row, opened before the usual number of failures. Result:
    /// whether there was one that was not open.
    [[nodiscard]] bool open(const std::vector<service_contact>& contacts, time_point now);
    /// Whether a probe may start; it has then.
    [[nodiscard]] bool take_probe(time_point now) noexcept;

    [[nodiscard]] bool is_closed() const noexcept;
    /// Whether another row than the probe may start while a service is down, at most `most` of them
    /// beyond what others have shown: another service answers, and not too many rows since the
    /// outage began have asked the one that is down.
    [[nodiscard]] bool lets_others_start(std::size_t most) const noexcept;
    /// Whether one that was down for a row is known to be down for all.
    [[nodiscard]] bool is_open_for(const std::vector<service_contact>& contacts) const noexcept;
    /// Whether all that were down for a row have answered others since.
    [[nodiscard]] bool have_answered_since(
        const std::vector<service_contact>& contacts) const noexcept;
    /// As outage_breaker has it, of one that was down for the row.
    [[nodiscard]] bool is_fault_of_row(const std::vector<service_contact>& contacts,
                                       unsigned failed_probes, time_point now) const noexcept;
    /// When the next probe starts; time_point::max(): not before something else happens.
    [[nodiscard]] time_point next_probe() const noexcept;
    /// Whether one is down for longer than `longest`, or `at_first` if none has ever answered.
    [[nodiscard]] bool last_longer_than(coro::clock::duration longest,
                                        coro::clock::duration at_first,
                                        time_point now) const noexcept;

private:
    [[nodiscard]] bool is_probing() const noexcept;
    [[nodiscard]] bool has_answered() const noexcept;

    std::uint64_t in_vain_ = 0;   ///< rows besides the probe that a service failed in an outage
    std::uint64_t succeeded_ = 0; ///< such rows that it did not fail

    std::map<std::string, outage_breaker, std::less<>> services_;
};

} // namespace heddle::cli
