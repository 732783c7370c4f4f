// Tools: what a workflow can call besides builtins and tasks.
#pragma once

#include <heddle/host/effect.hpp>
#include <heddle/lang/builtin.hpp>
#include <heddle/lang/value.hpp>
#include <heddle/tasks/output/output_schema.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// One call of a tool: its clauses as a map, in the order in which they were written.
struct tool_call {
    host::session& session; ///< outlives the call
    lang::value inputs;
    lang::scope_ref scope; ///< the scope of the call
    coro::call_context context;
    source_span span;
};

/// A tool: a coroutine with a name. Called as `(name (clause expression)…)`.
struct tool {
    std::string name;
    std::vector<std::string> aliases;
    std::string description;  ///< for models
    std::string input_schema; ///< JSON Schema of an object; its properties are the clauses
    /// Whether workflows may also write `(name expression…)`, with the inputs in the order of the
    /// properties.
    bool by_position = false;
    /// Performs a call. Errors are raised in the workflow. The function is kept and may be called
    /// while an earlier call runs; what it captures outlives the session.
    std::function<coro::task<result<lang::value>>(tool_call)> run;
    /// The checks that `run` itself makes of the values of its inputs, if it accepts more than the
    /// schema (symbols) or has better messages: then the schema is not used. `heddle check` calls
    /// it without a run. Null: the schema is used. Names are checked in any case.
    std::function<result<void>(const lang::value& inputs)> check_values{};
    /// The function of a tool that is written in the language, which `run` shares; null for others.
    /// It belongs to one registration only.
    std::shared_ptr<const lang::value> body{};
    /// What becomes of its calls when a durable row is executed again; `derived` with `compute`.
    host::replay_class replays = host::replay_class::answer;
    /// For a tool that depends on nothing but its inputs: computes what `run` would. Workflows call
    /// it as a builtin, without an effect; models by `run`. May be null.
    std::function<result<lang::value>(lang::heap&, const lang::value& inputs)> compute{};
    /// Whether `run` finds in `call_context::step` what it was answered before, and asks nothing
    /// where ports::step_memory::may_ask() is false. Without that it is not called in a row that is
    /// only planned.
    bool heeds_memory = false;
};

/// A tool that was checked when it was registered. Immutable.
struct registered_tool {
    tool declared;
    std::vector<std::string> clauses; ///< names of its properties; empty and open: any
    std::vector<std::string> required;
    bool open = false; ///< takes clauses that the schema does not name
    output_schema schema;
    std::optional<lang::immediate_call> at_once; ///< with declared.compute
};

/// Approximate size of a tool in bytes: its definition and its compiled schema.
[[nodiscard]] std::size_t footprint(const registered_tool& one) noexcept;

/// A tool as a value of the language. Counts towards the memory of its heap.
class tool_callable final : public lang::host_object {
public:
    tool_callable(lang::heap& memory, std::shared_ptr<const registered_tool> tool)
        : tool_(std::move(tool)) {
        charge_.set(memory, footprint(*tool_));
    }

    [[nodiscard]] std::string_view type_name() const noexcept override { return "tool"; }
    [[nodiscard]] std::string describe() const override { return "tool " + tool_->declared.name; }
    [[nodiscard]] bool callable() const noexcept override { return true; }
    [[nodiscard]] const lang::immediate_call* at_once() const noexcept override {
        return tool_->at_once ? &*tool_->at_once : nullptr;
    }
    /// Unless a function is hidden from visit_values().
    [[nodiscard]] bool is_immutable() const noexcept override {
        return !tool_->declared.body || tool_.use_count() == 1;
    }
    /// A tool may be reachable from its own body. While others hold it, such as a call or an offer
    /// to a model, it is kept alive from outside.
    void visit_values(value_visitor& visitor) const override {
        if (tool_->declared.body && tool_.use_count() == 1) visitor.visit(*tool_->declared.body);
    }
    [[nodiscard]] const std::shared_ptr<const registered_tool>& get() const noexcept {
        return tool_;
    }

private:
    std::shared_ptr<const registered_tool> tool_;
    lang::heap_charge charge_;
};

/// The tools of one session. Threads: the session's only.
class tool_registry {
public:
    /// Begins with the tools of `base` in place of its own. Constant time; the first add()
    /// afterwards is linear in their number.
    void begin_with(const tool_registry& base) { by_name_ = base.by_name_; }
    /// A later tool takes over the names of an earlier one. Errors: invalid_argument: no name, no
    /// coroutine, an input schema that is invalid or does not describe an object.
    [[nodiscard]] result<void> add(lang::heap& memory, tool declared);
    /// By name or alias; nothing if there is none.
    [[nodiscard]] std::optional<lang::operator_info> find(std::string_view name) const;
    void collect_names(std::vector<std::string>& names) const;
    [[nodiscard]] std::size_t size() const noexcept { return by_name_->size(); }
    /// Calls visit(callable) for each name.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const auto& [name, callable] : *by_name_) visit(callable);
    }

    /// How the tool is called; without its callable.
    [[nodiscard]] static lang::operator_info describe(const registered_tool& one);

private:
    using name_map = std::map<std::string, lang::value, std::less<>>;
    /// Aliases too; shared with the registries that begin with them.
    std::shared_ptr<name_map> by_name_ = std::make_shared<name_map>();
};

/// Checks the clauses of a call and performs it. Errors: SexpEvaluationError naming the tool:
/// positions instead of clauses; a clause that is repeated, unknown (with similar names) or
/// missing; a value that the schema refuses. Also those of the tool. Cancellation: as that of the
/// tool.
[[nodiscard]] coro::task<result<lang::value>> call_tool(std::shared_ptr<const registered_tool> one,
                                                        host::effect_call call);

} // namespace heddle::tasks
