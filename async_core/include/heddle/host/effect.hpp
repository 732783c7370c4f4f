// Requests of workflows to the host: effects, tasks and tools.
#pragma once

#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/host/step_log.hpp>
#include <heddle/lang/fiber.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::host {

class session;

/// One request of a running workflow. The coroutine that performs it owns the members; `session`
/// outlives it.
struct effect_call {
    host::session& session;
    lang::effect_request request; ///< row or callee, arguments, clause names, place in the source
    lang::scope_ref scope;        ///< what holds around the call: settings, limits, sandbox
    coro::call_context context;   ///< cancellation of the branch, deadline of run and scope, step
    const lang::fiber* fiber = nullptr; ///< that waits for the answer; null: the host itself asks
    /// Seeds what is drawn by chance, where the run has a seed (run_options::random_seed, or that
    /// of a durable row): the same in each execution; else nothing.
    std::optional<std::uint64_t> seed = {};
};

/// An effect builtin: its row in the table of builtins and the coroutine that performs it.
/// Errors of the result are raised in the workflow. Cancellation: ends at its next wait.
/// Threads: the session's only.
class effect_handler {
public:
    virtual ~effect_handler() = default;
    [[nodiscard]] virtual const lang::builtin& row() const noexcept = 0;
    /// What becomes of it when a durable row is executed again.
    [[nodiscard]] virtual replay_class replays() const noexcept { return replay_class::answer; }
    /// Whether it leaves the world as it is, so that it is performed also in a row that is only
    /// planned.
    [[nodiscard]] virtual bool only_reads() const noexcept { return false; }
    [[nodiscard]] virtual coro::task<result<lang::value>> run(effect_call call) = 0;
};

/// Tasks and tools: names that a workflow can call besides builtins. One per session.
class operator_source {
public:
    virtual ~operator_source() = default;
    /// By name, then by type:subtype.
    [[nodiscard]] virtual std::optional<lang::operator_info> find(lang::heap& memory,
                                                                  std::string_view name) const = 0;
    [[nodiscard]] virtual std::optional<lang::operator_info> describe(
        const lang::host_object& callable) const = 0;
    /// Documentation of a task or tool that find() finds.
    [[nodiscard]] virtual std::optional<lang::operator_doc> document(std::string_view) const {
        return std::nullopt;
    }
    /// What becomes of a call of the task or tool when a durable row is executed again.
    [[nodiscard]] virtual replay_class replays(const lang::host_object& /*callable*/) const {
        return replay_class::answer;
    }
    [[nodiscard]] virtual bool is_reserved_key(std::string_view name) const = 0;
    virtual void collect_names(std::vector<std::string>& names) const = 0;
    /// Passes each value that the sessions of an image (session_image) share of what is registered
    /// here. Result: whether they begin with that, in operators that are made for them later; where
    /// it is false, a program is loaded again for each session.
    [[nodiscard]] virtual bool visit_shared(lang::host_object::value_visitor&) const {
        return false;
    }
    /// Calls request.callee. With request.names the arguments are clauses, otherwise positional.
    [[nodiscard]] virtual coro::task<result<lang::value>> call(effect_call call) = 0;
    /// A call in `scope` was answered from the journal of a durable run: what it has cost counts in
    /// the budgets around it.
    virtual void note_replayed(const lang::scope_ref& /*scope*/,
                               const ports::step_spending& /*spent*/) {}
    /// (defatom …): `form` is the whole form as data; registers the template and returns its
    /// callable. A long schema is read in turns with the loop. Errors: also cancelled; then nothing
    /// is registered.
    [[nodiscard]] virtual coro::task<result<lang::value>> define_task(
        session& session, lang::value form, source_span span, coro::call_context context) = 0;
    /// (deftool …): `body` is a function of the declared parameters, in order; registers the tool.
    /// Result: its callable.
    [[nodiscard]] virtual result<lang::value> define_tool(session& session, const lang::value& form,
                                                          lang::value body, source_span span);
};

} // namespace heddle::host
