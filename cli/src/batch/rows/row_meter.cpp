#include "batch/rows/row_meter.hpp"

#include <heddle/tasks/output/task_failure_reason.hpp>

#include <algorithm>

namespace heddle::cli {

void row_meter::on_task_started(const tasks::task_started& event) noexcept {
    all_.on_task_started(event);
}

void row_meter::on_task_finished(const tasks::task_finished& event) noexcept {
    spent_.requests += event.requests;
    spent_.input_tokens += event.usage.input;
    spent_.output_tokens += event.usage.output;
    if (event.cost_usd) spent_.cost_usd += *event.cost_usd;
    else if (event.usage.input != 0 || event.usage.output != 0) ++spent_.unpriced;
    spent_.estimated = spent_.estimated || event.estimated;
    // What is replayed, or was answered from the cache, has asked nobody.
    const bool responded = event.requests != 0 && event.outcome != tasks::task_outcome::cancelled &&
                           event.reason != to_string(tasks::task_failure_reason::execution_timeout);
    if (event.service_down || responded) note_contact(event.provider, !event.service_down);
    all_.on_task_finished(event);
}

void row_meter::note_contact(std::string_view service, bool answered) {
    const auto found =
        std::find_if(contacts_.begin(), contacts_.end(),
                     [&](const service_contact& each) { return each.service == service; });
    if (found == contacts_.end()) {
        contacts_.push_back({std::string(service), answered});
        return;
    }
    found->answered_before = found->answered_before || found->answered;
    found->answered = answered;
}

} // namespace heddle::cli
