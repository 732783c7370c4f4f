#include "shard_counters.hpp"

namespace heddle::embed {

call_stats shard_counters::read() const noexcept {
    call_stats now;
    now.running = running.load(std::memory_order_relaxed);
    now.queued = queued.load(std::memory_order_relaxed);
    now.waiting_for_limit = waiting_for_limit.get();
    now.waiting_for_budget = waiting_for_budget.get();
    now.requests_running = requests_running.get();
    now.done = done.get();
    now.failed = failed.get();
    now.cancelled = cancelled.get();
    now.requests = requests.get();
    now.input_tokens = input_tokens.get();
    now.output_tokens = output_tokens.get();
    now.cost_usd = cost_usd.get();
    now.unpriced = unpriced.get();
    now.loads = loads.get();
    return now;
}

void add(call_stats& all, const call_stats& one) noexcept {
    all.running += one.running;
    all.queued += one.queued;
    all.waiting_for_limit += one.waiting_for_limit;
    all.waiting_for_budget += one.waiting_for_budget;
    all.requests_running += one.requests_running;
    all.done += one.done;
    all.failed += one.failed;
    all.cancelled += one.cancelled;
    all.requests += one.requests;
    all.input_tokens += one.input_tokens;
    all.output_tokens += one.output_tokens;
    all.cost_usd += one.cost_usd;
    all.unpriced += one.unpriced;
    all.loads += one.loads;
}

} // namespace heddle::embed
