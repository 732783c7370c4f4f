#include "batch/execution/service_outages.hpp"

#include <algorithm>

namespace heddle::cli {

service_outages::change service_outages::row_ended(const std::vector<service_contact>& contacts,
                                                   bool failed, bool was_probe, time_point now) {
    const bool was_closed = is_closed();
    if (was_closed) in_vain_ = succeeded_ = 0;
    else if (!was_probe) ++(failed ? in_vain_ : succeeded_);
    for (const service_contact& each : contacts) {
        outage_breaker& breaker = services_[each.service];
        if (each.answered_before) breaker.note_worked();
        // A row that makes do without a service opens nothing, and is not a sign that it is back.
        if (each.answered || failed || !breaker.is_closed())
            breaker.row_ended(!each.answered, was_probe, now);
    }
    if (was_probe) probe_lost(now); // for the services that it has not asked
    if (was_closed == is_closed()) return change::none;
    return was_closed ? change::paused : change::back;
}

void service_outages::probe_lost(time_point now) noexcept {
    for (auto& [service, breaker] : services_) breaker.probe_lost(now);
}

bool service_outages::open(const std::vector<service_contact>& contacts, time_point now) {
    bool opened = false;
    for (const service_contact& each : contacts) {
        if (each.answered) continue;
        outage_breaker& breaker = services_[each.service];
        opened = opened || breaker.is_closed();
        breaker.open(now);
    }
    return opened;
}

bool service_outages::take_probe(time_point now) noexcept {
    if (is_probing()) return false;
    bool taken = false;
    for (auto& [service, breaker] : services_) taken = breaker.take_probe(now) || taken;
    return taken;
}

bool service_outages::lets_others_start(std::size_t most) const noexcept {
    constexpr std::uint64_t failures_for_one = 3;
    const bool others_answer = std::any_of(
        services_.begin(), services_.end(),
        [](const auto& each) { return each.second.is_closed() && each.second.has_worked(); });
    return others_answer && in_vain_ < most + failures_for_one * succeeded_;
}

bool service_outages::has_answered() const noexcept {
    return std::any_of(services_.begin(), services_.end(),
                       [](const auto& each) { return each.second.has_worked(); });
}

bool service_outages::is_closed() const noexcept {
    return std::all_of(services_.begin(), services_.end(),
                       [](const auto& each) { return each.second.is_closed(); });
}

bool service_outages::is_probing() const noexcept {
    return std::any_of(services_.begin(), services_.end(), [](const auto& each) {
        return each.second.now() == outage_breaker::state::probing;
    });
}

bool service_outages::is_open_for(const std::vector<service_contact>& contacts) const noexcept {
    return std::any_of(contacts.begin(), contacts.end(), [&](const service_contact& each) {
        const auto found = services_.find(each.service);
        return !each.answered && found != services_.end() && !found->second.is_closed();
    });
}

bool service_outages::have_answered_since(
    const std::vector<service_contact>& contacts) const noexcept {
    return std::all_of(contacts.begin(), contacts.end(), [&](const service_contact& each) {
        const auto found = services_.find(each.service);
        return each.answered || (found != services_.end() && found->second.has_answered_last());
    });
}

bool service_outages::is_fault_of_row(const std::vector<service_contact>& contacts,
                                      unsigned failed_probes, time_point now) const noexcept {
    return std::any_of(contacts.begin(), contacts.end(), [&](const service_contact& each) {
        const auto found = services_.find(each.service);
        return !each.answered && found != services_.end() &&
               found->second.is_fault_of_row(failed_probes, now);
    });
}

service_outages::time_point service_outages::next_probe() const noexcept {
    auto next = time_point::max();
    if (is_probing()) return next;
    for (const auto& [service, breaker] : services_) {
        if (!breaker.is_closed()) next = std::min(next, breaker.next_probe());
    }
    return next;
}

bool service_outages::last_longer_than(coro::clock::duration longest,
                                       coro::clock::duration at_first,
                                       time_point now) const noexcept {
    const auto most = has_answered() ? longest : at_first;
    return std::any_of(services_.begin(), services_.end(), [&](const auto& each) {
        return !each.second.is_closed() && now - each.second.since() > most;
    });
}

} // namespace heddle::cli
