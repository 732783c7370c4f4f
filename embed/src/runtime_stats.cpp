#include <heddle/runtime_stats.hpp>

namespace heddle {

namespace {

json::object members_of(const call_stats& stats) {
    return {{"running", stats.running},
            {"queued", stats.queued},
            {"requests_running", stats.requests_running},
            {"waiting_for_limit", stats.waiting_for_limit},
            {"waiting_for_budget", stats.waiting_for_budget},
            {"done", stats.done},
            {"failed", stats.failed},
            {"cancelled", stats.cancelled},
            {"requests", stats.requests},
            {"input_tokens", stats.input_tokens},
            {"output_tokens", stats.output_tokens},
            {"cost_usd", stats.cost_usd},
            {"unpriced", stats.unpriced},
            {"loads", stats.loads}};
}

} // namespace

json to_json(const runtime_stats& stats) {
    json::object members = members_of(stats.all);
    members.set("refused", stats.refused);
    json::array threads;
    for (const call_stats& each : stats.threads) threads.emplace_back(members_of(each));
    members.set("threads", std::move(threads));
    return members;
}

} // namespace heddle
