// The tasks of a session: what a workflow calls, and how a host wires it.
#pragma once

#include <heddle/host/effect.hpp>
#include <heddle/host/engine.hpp>
#include <heddle/ports/memory_port.hpp>
#include <heddle/ports/price_port.hpp>
#include <heddle/ports/process_port.hpp>
#include <heddle/tasks/context_options.hpp>
#include <heddle/tasks/context_preparer.hpp>
#include <heddle/tasks/model_registry.hpp>
#include <heddle/tasks/task_call.hpp>
#include <heddle/tasks/task_executor.hpp>
#include <heddle/tasks/task_observer.hpp>
#include <heddle/tasks/task_registry.hpp>
#include <heddle/tasks/task_template.hpp>
#include <heddle/tasks/tool_registry.hpp>
#include <heddle/tasks/user_question.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace heddle::tasks {

class task_runner;

/// What the task system needs from its host. All of it outlives the sessions.
struct task_system_parts {
    const model_registry* models =
        nullptr;                       ///< null or empty: calling a task raises configuration_error
    task_observer* observer = nullptr; ///< null: nobody listens
    std::string base_system;           ///< goes before the system prompt of every task
    std::vector<task_template> templates; ///< registered in every session before it starts
    ports::memory_port* memory = nullptr; ///< null: (get_context …) raises PermissionError
    model_matching matching; ///< whether a model chooses among the files that get_context finds
    std::vector<tool> tools; ///< beside the built-in ones; the same name replaces one
    /// Makes the context of calls; null: tasks have none, and asking for one is a warning.
    context_preparer* context = nullptr;
    /// By subtype: who does such tasks in place of a model.
    std::map<std::string, task_executor*, std::less<>> executors;
    /// Whether a person waits for the session, or a batch runs over night.
    ports::call_priority priority = ports::call_priority::interactive;
    /// Prices of calls; null: costs are unknown, and a budget in dollars raises
    /// configuration_error.
    const ports::price_port* prices = nullptr;
    /// Text of tasks that a workflow calls, as it arrives; empty: their answers come whole. An error
    /// cancels the call and is raised.
    std::function<result<void>(const task_delta&)> on_delta;
    resource_limits limits; ///< of tasks that set none
    /// Maximum cost of all calls of a session in US dollars, and maximum number of their requests:
    /// as (with ((budget-usd x) (max-calls n)) ...) around everything. Empty: unlimited.
    std::optional<double> budget_usd;
    std::optional<std::uint64_t> max_calls;
    /// Tokens in the window of models that the built-in table does not know; empty: no limit.
    std::optional<std::int64_t> model_window;
    std::int64_t subtask_depth = 5; ///< subtasks below a task of the workflow
    std::size_t tool_result_limit =
        64 * 1024; ///< maximum bytes of a tool's result that a model receives
    ports::process_port* processes = nullptr; ///< null: what runs programs raises PermissionError
    std::string processes_hint; ///< how to allow programs, for that error; may be empty
    user_port ask_user;         ///< behind system:ask_user; empty: it raises PermissionError
};

/// The tasks and tools of one session: registries, calls by clause and position, execution. A task
/// hides a tool of its name.
///
/// Wiring: `engine_parts.operators = tasks::operators(parts);`. Threads: the session's only.
class session_tasks : public host::operator_source {
public:
    session_tasks(host::session& owner, task_system_parts parts);
    ~session_tasks() override;
    session_tasks(const session_tasks&) = delete;
    session_tasks& operator=(const session_tasks&) = delete;

    /// Registers a template made in C++ or read from a file; `ref` names one that is registered. One
    /// that takes the place of another is announced in the log. Errors: as compile_task; a `ref` to
    /// what is not there.
    [[nodiscard]] result<lang::value> add(task_template declared);
    [[nodiscard]] const task_registry& registry() const noexcept { return registry_; }
    /// Registers a tool. Errors: as tool_registry::add.
    [[nodiscard]] result<void> add(tool declared);
    [[nodiscard]] const tool_registry& tools() const noexcept { return tools_; }

    [[nodiscard]] std::optional<lang::operator_info> find(lang::heap& memory,
                                                          std::string_view name) const override;
    [[nodiscard]] std::optional<lang::operator_info> describe(
        const lang::host_object& callable) const override;
    [[nodiscard]] std::optional<lang::operator_doc> document(std::string_view name) const override;
    [[nodiscard]] bool is_reserved_key(std::string_view name) const override;
    void collect_names(std::vector<std::string>& names) const override;
    /// Errors: TaskError input_validation_failure and configuration_error, SexpEvaluationError for
    /// a malformed call, both before any request; cancelled. What goes wrong at the model is a
    /// FAILED TaskResult. Cancellation: as the model's.
    [[nodiscard]] coro::task<result<lang::value>> call(host::effect_call call) override;
    [[nodiscard]] result<lang::value> define_task(host::session& owner, const lang::value& form,
                                                  source_span span) override;
    /// A later tool takes the place of an earlier one of its name; that, and a task or primitive of
    /// that name, is said in the log. Errors: SexpEvaluationError naming the wrong part.
    [[nodiscard]] result<lang::value> define_tool(host::session& owner, const lang::value& form,
                                                  lang::value body, source_span span) override;

protected:
    /// Runs a call whose inputs were checked. For hosts that answer tasks by other means than a
    /// model (tests, replays).
    [[nodiscard]] virtual coro::task<result<lang::value>> execute(task_call call);
    [[nodiscard]] host::session& owner() noexcept { return owner_; }

private:
    [[nodiscard]] std::optional<lang::operator_doc> document_tool(std::string_view name) const;
    void announce_tool(const std::string& name);
    [[nodiscard]] static lang::operator_info described(const compiled_task& task);

    host::session& owner_;
    task_system_parts parts_;
    task_registry registry_;
    tool_registry tools_;
    std::unique_ptr<task_runner> runner_;
};

/// For engine_parts::operators: each session gets its own session_tasks.
[[nodiscard]] std::function<std::unique_ptr<host::operator_source>(host::session&)> operators(
    task_system_parts parts);

} // namespace heddle::tasks
