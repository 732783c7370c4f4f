#include "call_meter.hpp"

#include <algorithm>

namespace heddle::embed {

namespace {

constexpr auto one_less = static_cast<std::uint64_t>(-1);

std::uint64_t count_of(std::int64_t tokens) noexcept {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(tokens, 0));
}

} // namespace

void call_meter::on_task_started(const tasks::task_started&) noexcept {
    shard_.requests_running.add(1);
}

void call_meter::on_task_finished(const tasks::task_finished& event) noexcept {
    shard_.requests_running.add(one_less);
    shard_.requests.add(event.requests);
    shard_.input_tokens.add(count_of(event.usage.input));
    shard_.output_tokens.add(count_of(event.usage.output));
    ++used_.calls;
    used_.requests += event.requests;
    used_.input_tokens += event.usage.input;
    used_.output_tokens += event.usage.output;
    used_.estimated = used_.estimated || event.estimated;
    if (event.cost_usd) {
        used_.known_cost_usd += *event.cost_usd;
        shard_.cost_usd.add(*event.cost_usd);
    } else if (event.usage.input != 0 || event.usage.output != 0) {
        ++used_.unpriced;
        shard_.unpriced.add(1);
    }
}

void call_meter::on_budget_wait(bool waits) noexcept {
    shard_.waiting_for_budget.add(waits ? 1 : one_less);
}

void call_meter::on_limit_wait(bool waits) noexcept {
    shard_.waiting_for_limit.add(waits ? 1 : one_less);
}

} // namespace heddle::embed
