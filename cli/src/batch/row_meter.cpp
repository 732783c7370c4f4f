#include "batch/row_meter.hpp"

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
    outage_ = outage_ || event.service_down;
    all_.on_task_finished(event);
}

} // namespace heddle::cli
