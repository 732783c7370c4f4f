#include "service_options.hpp"

#include "journal/parked_questions.hpp"

#include <iterator>
#include <memory>
#include <sstream>
#include <vector>

namespace heddle::cli {

namespace {

/// Branches of a row at once whose requests wait for the same batch.
constexpr std::size_t parked_branches = 4096;
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
    asked.programs_hint = how_to_allow;
    if (options.aider) asked.aider = words_of(*options.aider);
    asked.concurrency = options.concurrency;
    if (options.parks) asked.usual_concurrency = parked_branches;
    asked.memory_limit = options.memory_limit;
    asked.step_limit = options.step_limit;
    asked.budget_usd = options.budget_usd;
    asked.max_calls = options.max_calls;
    return asked;
}

void add_row_parts(const workflow_options& options, tasks::task_system_parts& parts) {
    if (options.many_rows) parts.priority = ports::call_priority::batch;
    if (options.parks_questions) parts.ask_user = parked_questions();
}

} // namespace heddle::cli
