// The tasks of a session.
#pragma once

#include <heddle/host/effect.hpp>
#include <heddle/host/engine.hpp>
#include <heddle/tasks/call/task_call.hpp>
#include <heddle/tasks/definition/task_source.hpp>
#include <heddle/tasks/run/session_parts.hpp>
#include <heddle/tasks/tools/tool_registry.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace heddle::tasks {

class task_runner;

/// The tasks and tools of one session: registries, calls by clause and position, execution. A task
/// hides a tool of its name.
///
/// Wiring: `engine_parts.operators = tasks::operators(parts);`. Threads: the session's only.
class session_tasks : public task_source {
public:
    /// In a session that begins with another one (host::session_image), whose operators are
    /// session_tasks: the tasks and tools are those that were registered there, whatever the
    /// parts name.
    session_tasks(host::session& session, task_system_parts parts);
    /// With parts that sessions share.
    session_tasks(host::session& session, std::shared_ptr<const task_system_parts> parts);
    /// `own`: in place of theirs.
    session_tasks(host::session& session, std::shared_ptr<const task_system_parts> parts,
                  const session_parts& own);
    ~session_tasks() override;
    session_tasks(const session_tasks&) = delete;
    session_tasks& operator=(const session_tasks&) = delete;

    [[nodiscard]] result<lang::value> add(task_template declared) override;
    [[nodiscard]] const task_registry& registry() const noexcept override { return registry_; }
    /// Registers a tool. Errors: as tool_registry::add.
    [[nodiscard]] result<void> add(tool declared);
    [[nodiscard]] const tool_registry& tools() const noexcept { return tools_; }
    /// The budget of the session is that of a whole durable run. `earlier`: what earlier processes
    /// have spent, and was not passed before. A recorded response costs nothing. `may_reuse`: the
    /// journal has some that calls may use, so only requests are refused.
    void follow_journal(const ports::step_spending& earlier, bool may_reuse);
    /// Calls of tasks fail with this error from now on; nullopt: they are performed.
    void refuse_calls(std::optional<error> why) { refusal_ = std::move(why); }

    [[nodiscard]] std::optional<lang::operator_info> find(lang::heap& memory,
                                                          std::string_view name) const override;
    [[nodiscard]] std::optional<lang::operator_info> describe(
        const lang::host_object& callable) const override;
    [[nodiscard]] std::optional<lang::operator_doc> document(std::string_view name) const override;
    [[nodiscard]] host::replay_class replays(const lang::host_object& callable) const override;
    [[nodiscard]] bool is_reserved_key(std::string_view name) const override;
    void collect_names(std::vector<std::string>& names) const override;
    /// Errors: TaskError input_validation_failure and configuration_error, SexpEvaluationError for
    /// a malformed call, both before any request; cancelled. A failure of the model is a FAILED
    /// TaskResult. Cancellation: as that of the model.
    [[nodiscard]] coro::task<result<lang::value>> call(host::effect_call call) override;
    void note_replayed(const lang::scope_ref& scope, const ports::step_spending& spent) override;
    [[nodiscard]] bool visit_shared(lang::host_object::value_visitor& visitor) const override;
    [[nodiscard]] coro::task<result<lang::value>> define_task(host::session& session,
                                                              lang::value form, source_span span,
                                                              coro::call_context context) override;
    /// A later tool replaces an earlier one of its name; this, and a task or builtin of that
    /// name, is logged. Errors: SexpEvaluationError naming the invalid part.
    [[nodiscard]] result<lang::value> define_tool(host::session& session, const lang::value& form,
                                                  lang::value body, source_span span) override;

protected:
    /// Runs a call whose inputs were checked. For hosts that perform tasks without a model (tests,
    /// replays).
    [[nodiscard]] virtual coro::task<result<lang::value>> execute(task_call call);
    [[nodiscard]] host::session& session() noexcept { return session_; }

private:
    void register_parts();
    [[nodiscard]] std::optional<lang::operator_doc> document_tool(std::string_view name) const;
    void announce_tool(const std::string& name);
    [[nodiscard]] result<void> fill_from_reference(task_template& declared) const;
    [[nodiscard]] lang::value add(std::shared_ptr<const compiled_task> task);
    [[nodiscard]] static lang::operator_info described(const compiled_task& task);

    host::session& session_;
    std::shared_ptr<const task_system_parts> parts_;
    task_registry registry_;
    tool_registry tools_;
    std::unique_ptr<task_runner> runner_;
    std::optional<error> refusal_; ///< of all calls of tasks
};

/// For engine_parts::operators: each session gets its own session_tasks.
[[nodiscard]] std::function<std::unique_ptr<host::operator_source>(host::session&)> operators(
    task_system_parts parts);

} // namespace heddle::tasks
