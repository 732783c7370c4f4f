#include "service_options.hpp"

#include "parking/parked_questions.hpp"

#include <heddle/tasks/session/session_tasks.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <sstream>
#include <vector>

namespace heddle::cli {

namespace {

constexpr const char* how_to_allow = "if you trust the workflow, start heddle with --allow-shell";

[[nodiscard]] std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in(line);
    return {std::istream_iterator<std::string>(in), {}};
}

setup::service_request request_of(const workflow_options& options, const parking_slot& parking) {
    setup::service_request request;
    request.model = options.model;
    request.base_url = options.base_url;
    request.cache = options.cache;
    request.cache_file = options.cache_file;
    request.record = options.record;
    request.replay = options.replay;
    request.replay_leniently = options.replay_leniently;
    request.seed = options.seed;
    request.watch = options.watch;
    request.without_keys = options.without_keys;
    request.from_records = options.from_journal;
    request.why_not_parked = options.why_not_parked;
    if (options.parks) {
        request.park = [&parking](ports::llm_port& inner, providers::batch_endpoint& batches) {
            return std::make_unique<parking_port>(inner, batches, parking);
        };
    }
    return request;
}

} // namespace

setup::service_set_options service_options(const std::string& program,
                                           const workflow_options& options,
                                           const setup::environment& variables,
                                           const parking_slot& parking) {
    setup::service_set_options asked;
    asked.variables = variables;
    asked.config_file = options.config;
    asked.services = request_of(options, parking);
    asked.workspace = options.workspace;
    asked.read_only = options.from_journal;
    asked.program = program;
    asked.index = options.index;
    asked.index_file = options.index_file;
    asked.match_with_model = options.match_with_model;
    asked.tasks = options.tasks;
    asked.default_tasks = options.default_tasks;
    asked.adds_default_tasks = options.adds_default_tasks;
    asked.programs_hint = how_to_allow;
    if (options.aider) asked.aider = words_of(*options.aider);
    asked.concurrency = options.concurrency;
    if (options.parks_all) asked.usual_concurrency = parked_branches;
    asked.memory_limit = options.memory_limit;
    asked.step_limit = options.step_limit;
    asked.budget_usd = options.budget_usd;
    asked.max_calls = options.max_calls;
    return asked;
}

bool wants_parking(const setup::service_set& services, host::session& session) {
    const auto& configured = services.settings().providers;
    bool wants = std::any_of(configured.begin(), configured.end(),
                             [](const auto& each) { return each.request.park.value_or(false); });
    if (const auto* known = dynamic_cast<const tasks::session_tasks*>(session.operators())) {
        known->registry().for_each([&](const tasks::registered_task& each) {
            wants = wants || each.task->declared.parameters.park.value_or(false);
        });
    }
    return wants;
}

void add_row_parts(const workflow_options& options, tasks::task_system_parts& parts) {
    if (options.many_rows) {
        parts.priority = ports::call_priority::batch;
        parts.costs = tasks::make_cost_history(); // the budget of the run counts what rows report
    }
    if (options.parks_questions) parts.ask_user = parked_questions();
}

} // namespace heddle::cli
