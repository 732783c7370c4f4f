// The parts of the task system that a host provides.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/ports/memory_port.hpp>
#include <heddle/ports/price_port.hpp>
#include <heddle/ports/process_port.hpp>
#include <heddle/tasks/call/task_observer.hpp>
#include <heddle/tasks/context/context_options.hpp>
#include <heddle/tasks/context/context_preparer.hpp>
#include <heddle/tasks/definition/task_template.hpp>
#include <heddle/tasks/run/delta_receiver.hpp>
#include <heddle/tasks/run/model_registry.hpp>
#include <heddle/tasks/run/task_executor.hpp>
#include <heddle/tasks/tools/tool_registry.hpp>
#include <heddle/tasks/tools/user_question.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::tasks {

class cost_history;

/// For task_system_parts::costs.
[[nodiscard]] std::shared_ptr<cost_history> make_cost_history();

/// What the task system needs from its host. All of it outlives the sessions.
struct task_system_parts {
    const model_registry* models =
        nullptr;                       ///< null or empty: calling a task raises configuration_error
    task_observer* observer = nullptr; ///< null: none
    std::string base_system;           ///< precedes the system prompt of every task
    std::vector<task_template> templates; ///< registered in every session before it starts
    ports::memory_port* memory = nullptr; ///< null: (get_context …) raises PermissionError
    model_matching matching; ///< whether a model chooses among the files that get_context finds
    std::vector<tool> tools; ///< in addition to the built-in ones; the same name replaces one
    /// Prepares the context of calls; null: tasks have none, and a request for one causes a
    /// warning.
    context_preparer* context = nullptr;
    /// By subtype: the executor of such tasks in place of a model.
    std::map<std::string, task_executor*, std::less<>> executors;
    /// Whether a person waits for the session, or it is a batch.
    ports::call_priority priority = ports::call_priority::interactive;
    /// Prices of calls; null: costs are unknown, and a budget in dollars raises
    /// configuration_error.
    const ports::price_port* prices = nullptr;
    /// Receives the text of tasks that a workflow calls, as it arrives; null: responses are not
    /// streamed.
    delta_receiver* deltas = nullptr;
    resource_limits limits; ///< of tasks that set none
    /// Maximum cost of all calls of a session in US dollars, and maximum number of their requests:
    /// as (with ((budget-usd x) (max-calls n)) ...) around everything. Empty: unlimited.
    std::optional<double> budget_usd;
    std::optional<std::uint64_t> max_calls;
    /// A call whose cost is not reported counts as in a budget in dollars: with what such calls of
    /// all sessions have cost, or with an estimate. Null: only in a budget of its session, and by
    /// the calls of that one.
    std::shared_ptr<cost_history> costs;
    /// Tokens in the window of models that the built-in table does not know; empty: no limit.
    std::optional<std::int64_t> model_window;
    std::int64_t subtask_depth = 5; ///< subtasks below a task of the workflow
    std::size_t tool_result_limit =
        64 * 1024; ///< maximum bytes of a tool's result that a model receives
    ports::process_port* processes = nullptr; ///< null: running a program raises PermissionError
    std::string processes_hint; ///< how to allow programs, for that error; may be empty
    user_port ask_user;         ///< performs system:ask_user; empty: it raises PermissionError
    /// At which a task or tool that replaces an earlier one of its name is logged; at a prompt, a
    /// definition is often entered again.
    log_level replacement_level = log_level::warn;
};

} // namespace heddle::tasks
