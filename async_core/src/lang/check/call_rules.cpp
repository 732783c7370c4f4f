#include "lang/check/known_values.hpp"
#include "lang/check/rules.hpp"

#include "lang/compile/analyzer.hpp"
#include "lang/print/described.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/keyed_hash.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/request_settings.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_set>

namespace heddle::lang {

using ast::node_kind;

namespace {

struct accepted_count {
    std::string name;
    std::size_t least = 0;
    std::size_t most = 0;
    std::string parameters; ///< as written; may be empty
};
constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

std::string kind_of(const task_signature& callee) { return callee.is_tool ? "tool" : "task"; }

std::string counted_arguments(std::size_t count) {
    return std::to_string(count) + (count == 1 ? " argument" : " arguments");
}

/// "1 to 2 arguments"
std::string accepted_text(const accepted_count& accepted) {
    std::string text = std::to_string(accepted.least);
    if (accepted.most == any_number) text = "at least " + text;
    else if (accepted.most != accepted.least) text += " to " + std::to_string(accepted.most);
    const bool one = accepted.least == 1 && (accepted.most == 1 || accepted.most == any_number);
    return text + (one ? " argument" : " arguments");
}

class call_rule {
public:
    explicit call_rule(const rule_context& context) : context_(context), values_(context) {}

    void run() {
        const auto& nodes = context_.facts.nodes();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const ast::node& n = *nodes[i];
            values_.look_from(i);
            guarded_ = context_.facts.is_guarded(i);
            if (n.kind == node_kind::call) {
                check_call(n);
                check_callbacks(n);
                check_apply(n);
            }
            if (n.kind == node_kind::with_settings) check_handler(n);
            if (n.kind != node_kind::clause_call) continue;
            check_clauses(n);
            if (!guarded_) check_task_name(*n.children[0]);
        }
    }

private:
    using name_views = std::unordered_set<std::string_view, name_hash>;

    /// Until many names were looked for: each is compared with all inputs.
    [[nodiscard]] std::string input_hint(std::string_view name, const task_signature& task) const {
        constexpr std::size_t max_hints = 1000;
        return ++hints_ < max_hints ? unknown_input_hint(name, task.inputs, task.reserved)
                                    : std::string();
    }

    [[nodiscard]] std::optional<accepted_count> count_of(const ast::node& called) const {
        if (called.kind == node_kind::constant && called.constant.is(kind::builtin)) {
            const builtin& row = called.constant.as_builtin();
            const bool open = row.max_arguments == builtin::any_number;
            return accepted_count{std::string(row.name), row.min_arguments,
                                  open ? any_number : row.max_arguments,
                                  std::string(row.parameters)};
        }
        if (const known_callee* known = context_.facts.callee_of(called); known && known->code) {
            const ast::lambda& code = *known->code;
            return accepted_count{known->name,
                                  code.required,
                                  code.has_rest ? any_number : code.required + code.optional,
                                  {}};
        }
        if (const library_function* known = context_.facts.library_function_of(called)) {
            return accepted_count{
                std::string(context_.realm.global_name(called.index)), known->required,
                known->has_rest ? any_number : known->required + known->optional,
                ascii::join(known->parameters, " ") + (known->has_rest ? "…" : "")};
        }
        return std::nullopt;
    }

    /// As count_of, for what is handed to a function that calls it.
    [[nodiscard]] std::optional<accepted_count> count_of_value(const ast::node& given) const {
        // A symbol may be what such a function makes of it: a key, for example.
        const bool symbol = given.kind == node_kind::constant && given.constant.is(kind::symbol);
        if (symbol) return std::nullopt;
        if (const known_callee* known = context_.facts.task_of(given)) {
            const task_signature& task = *known->task;
            return accepted_count{
                known->name, task.required.size(), task.open ? any_number : task.inputs.size(), {}};
        }
        return count_of(given);
    }

    /// What a function of a library calls must take as many arguments as it is given.
    void check_callbacks(const ast::node& n) {
        const library_function* called = context_.facts.library_function_of(*n.children[0]);
        if (!called) return;
        const std::size_t given = n.children.size() - 1;
        std::string who(context_.realm.global_name(n.children[0]->index));
        const bool spread = called->has_rest && given > called->parameters.size() - 1;
        if (spread && who != "map") return;
        if (who.starts_with('%')) who.erase(0, 1);
        for (const auto& [index, of_one] : called->callbacks) {
            if (index >= given) continue;
            // map takes an element of each list.
            const std::size_t count = spread ? given - 1 : of_one;
            check_callback(who, "'" + called->parameters[index] + "'", *n.children[index + 1],
                           count);
        }
    }

    /// (stream call function)
    void check_handler(const ast::node& n) {
        if (static_cast<scope_kind>(n.flag) == scope_kind::receiver)
            check_callback("stream", "the second argument", *n.children[0], 1);
    }

    /// (apply f argument… list), where the list is written out.
    void check_apply(const ast::node& n) {
        const ast::node& called = *n.children[0];
        const bool applies = called.kind == node_kind::constant &&
                             called.constant.is(kind::builtin) &&
                             called.constant.as_builtin().name == "apply";
        if (!applies || n.children.size() < 3) return;
        const known_value last = values_.of(*n.children.back());
        if (!last.constant || !last.constant->is(kind::list)) return;
        check_count("apply", *n.children[1], n.children.size() - 3 + last.constant->length());
    }

    /// What calls `argument`, named `part` in messages, with `count` arguments.
    void check_callback(const std::string& who, const std::string& part, const ast::node& argument,
                        std::size_t count) {
        const ast::node& callback = context_.facts.source_of(argument);
        if (!guarded_ && callback.kind == node_kind::constant &&
            !callback.constant.is(kind::builtin) && !callback.constant.is(kind::symbol) &&
            !callback.constant.is(kind::host) && !callback.constant.is_nil()) {
            context_.add(
                severity::error, "wrong-type", argument.span,
                who + ": " + part + " must be a function, not " + described(callback.constant));
            return;
        }
        // What is computed there and then; a variable may hold something else meanwhile.
        const known_value held = &callback == &argument ? values_.of(argument) : known_value();
        if (!guarded_ && !held.constant && held.known() && !held.may_be(kind::closure) &&
            !held.may_be(kind::host)) {
            context_.add(severity::error, "wrong-type", argument.span,
                         who + ": " + part + " must be a function, not " + held.noun);
            return;
        }
        check_count(who, argument, count);
    }

    void check_count(const std::string& who, const ast::node& argument, std::size_t count) const {
        const auto accepted = count_of_value(context_.facts.source_of(argument));
        if (!accepted || (count >= accepted->least && count <= accepted->most)) return;
        const std::string name =
            accepted->name.empty() ? "this function" : "'" + accepted->name + "'";
        context_.add(severity::error, "arity", argument.span,
                     who + " calls " + name + " with " + counted_arguments(count) +
                         ", but it takes " + accepted_text(*accepted));
    }

    void check_call(const ast::node& n) const {
        const ast::node& called = *n.children[0];
        const std::size_t given = n.children.size() - 1;
        if (const known_callee* known = context_.facts.task_of(called))
            return check_positions(n, *known, given);
        const auto accepted = count_of(called);
        if (!accepted || accepted->name.starts_with('%')) return;
        if (given >= accepted->least && given <= accepted->most) return;
        const std::string who =
            accepted->name.empty() ? "this function" : "'" + accepted->name + "'";
        std::string hint;
        if (!accepted->parameters.empty())
            hint = "write (" + accepted->name + " " + accepted->parameters + ")";
        context_.add(severity::error, "arity", n.span,
                     who + " takes " + accepted_text(*accepted) + ", not " + std::to_string(given),
                     std::move(hint));
    }

    void check_positions(const ast::node& n, const known_callee& callee, std::size_t given) const {
        const task_signature& task = *callee.task;
        if (task.open) {
            if (given == 0) return check_missing(n, callee, {});
            context_.add(severity::error, "task-inputs", n.span,
                         "the task '" + callee.name +
                             "' declares no inputs, so each argument must be (name expression)");
            return;
        }
        if (given > task.inputs.size()) {
            context_.add(severity::error, "task-inputs", n.span,
                         "the " + kind_of(task) + " '" + callee.name + "' has " +
                             std::to_string(task.inputs.size()) +
                             (task.inputs.size() == 1 ? " input" : " inputs") + ", not " +
                             std::to_string(given),
                         task.inputs.empty() ? "" : "its inputs are " + quoted_names(task.inputs));
            return;
        }
        const name_views named(task.inputs.begin(),
                               task.inputs.begin() + static_cast<std::ptrdiff_t>(given));
        check_missing(n, callee, named);
    }

    /// (call-atomic-task 'name …)
    void check_task_name(const ast::node& called) const {
        if (!context_.options.tasks || called.kind != node_kind::constant) return;
        const value& given = called.constant;
        if (!given.is(kind::symbol) && !given.is(kind::string)) return;
        const std::string name(given.is(kind::symbol) ? symbol_name(given) : string_bytes(given));
        const auto& externs = context_.options.externs;
        realm& realm = context_.realm;
        if (context_.facts.defines_task(name) ||
            std::find(externs.begin(), externs.end(), name) != externs.end() ||
            (context_.lost_names && context_.lost_names->contains(name)) ||
            realm.host().find_operator(realm.memory(), name))
            return;
        const bool open = context_.facts.has_open_names();
        std::string hint = context_.suggest(name, context_.tasks_and_tools());
        if (hint.empty()) {
            hint = context_.hint_to_define(name);
        }
        context_.add(open ? severity::warning : severity::error, "unknown-name", called.span,
                     "there is no task or tool '" + name + "'" +
                         (open ? " (it may come from an import or from eval)" : ""),
                     std::move(hint));
    }

    void check_clauses(const ast::node& n) const {
        const known_callee* callee = context_.facts.task_of(*n.children[0]);
        if (!callee) return;
        const task_signature& task = *callee->task;
        const auto names = list_items(n.constant);
        // With few clauses the inputs, which may be many, are not put into a set for each call.
        constexpr std::size_t few = 8;
        const bool many = names.size() > few;
        const name_views inputs(task.inputs.begin(),
                                many ? task.inputs.end() : task.inputs.begin());
        name_views named;
        for (std::size_t i = 0; i < names.size(); ++i) {
            const std::string name(symbol_name(names[i]));
            const bool declared = task.open || inputs.contains(name) ||
                                  (!many && std::find(task.inputs.begin(), task.inputs.end(),
                                                      name) != task.inputs.end());
            const bool reserved = !task.is_tool && context_.realm.host().is_reserved_key(name);
            if (!declared && !reserved) {
                context_.add(
                    severity::error, "task-inputs", form{n.constant, n.span}[i].span,
                    "the " + kind_of(task) + " '" + callee->name + "' has no input '" + name + "'",
                    input_hint(name, task));
            } else if (named.contains(symbol_name(names[i]))) {
                context_.add(severity::error, "task-inputs", form{n.constant, n.span}[i].span,
                             "'" + name + "' is given twice to the " + kind_of(task) + " '" +
                                 callee->name + "'");
            }
            named.insert(symbol_name(names[i]));
        }
        check_missing(n, *callee, named);
    }

    void check_missing(const ast::node& n, const known_callee& callee,
                       const name_views& named) const {
        std::vector<std::string> missing;
        for (const std::string& input : callee.task->required) {
            if (!named.contains(input)) missing.push_back(input);
        }
        if (missing.empty()) return;
        context_.add(severity::error, "task-inputs", n.span,
                     "the " + kind_of(*callee.task) + " '" + callee.name + "' needs " +
                         quoted_names(missing));
    }

    const rule_context& context_;
    known_values values_;
    mutable std::size_t hints_ = 0;
    bool guarded_ = false; ///< the program may want to see errors of types
};

} // namespace

std::string quoted_names(const std::vector<std::string>& names) {
    constexpr std::size_t max_names = 50;
    if (names.size() <= max_names) return "'" + ascii::join(names, "', '") + "'";
    const std::vector<std::string> first(names.begin(), names.begin() + max_names);
    return "'" + ascii::join(first, "', '") + "' and " + std::to_string(names.size() - max_names) +
           " more";
}

std::string unknown_input_hint(std::string_view name, const std::vector<std::string>& inputs,
                               const std::vector<std::string>& reserved) {
    if (const request_setting* setting = reserved.empty() ? nullptr : find_request_setting(name)) {
        const std::string written(setting->name);
        return "a call does not set '" + written + "'; write (with ((" + written +
               " …)) …) around it, or (" + written + " …) in the definition of the task";
    }
    std::vector<std::string> known = inputs;
    known.insert(known.end(), reserved.begin(), reserved.end());
    std::string hint = suggest_names(name, known);
    if (!hint.empty() || inputs.empty()) return hint;
    return (inputs.size() == 1 ? "its input is " : "its inputs are ") + quoted_names(inputs);
}

void check_calls(const rule_context& context) { call_rule(context).run(); }

} // namespace heddle::lang
