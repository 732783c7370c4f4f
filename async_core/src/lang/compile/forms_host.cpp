// Forms that reach the host: settings, tasks, branches.
#include "analyzer.hpp"
#include "lang/machine/join.hpp"
#include "lang/machine/with_settings.hpp"
#include "lang/print/form_text.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace heddle::lang {

using ast::node_kind;

static_assert(analyzer::first_policy == static_cast<std::uint8_t>(join_policy::first));

/// A form that opens a scope: its body comes next. `operand` is what op::settings_push takes.
ast::node* analyzer::scope_node(scope_kind opens, node* operand) {
    node* made = make(node_kind::with_settings, operand->span);
    made->flag = static_cast<std::uint8_t>(opens);
    made->children.push_back(operand);
    return made;
}

ast::node* analyzer::form_with(const form& f, position) {
    if (f.size() < 3 || !f[1].is_list())
        return fail(f.span, "with: expects ((setting value)…) and a body");
    std::vector<node*> parts;
    const form settings = f[1];
    for (std::size_t i = 0; i < settings.size() && !failed(); ++i) {
        const form one = settings[i];
        if (!one.is_list() || one.size() != 2 || !one[0].is_symbol()) {
            return fail(one.span,
                        "with: a setting must be (name value), not " + shown(one.content));
        }
        const std::string name(one[0].name());
        const with_setting* row = find_with_setting(name);
        if (!row || is_internal(name)) {
            return fail(one.span, "with: unknown setting '" + name + "'",
                        "known settings: " + with_setting_names());
        }
        if (!row->refusal.empty() && (request_.limits.closed || sandboxes_ != 0)) {
            return fail(one.span, std::string(row->refusal),
                        "set it outside: (with ((" + name + " …)) (sandbox …))", errc::permission);
        }
        parts.push_back(constant(make_string(world_.memory(), name), one[0].span));
        parts.push_back(expression(one[1], inner()));
    }
    node* made =
        scope_node(scope_kind::settings, builtin_node("dict", f[1].span, std::move(parts)));
    made->children.push_back(body(f, 2, inner()));
    return made;
}

/// (stream call function)
ast::node* analyzer::form_stream(const form& f, position) {
    if (f.size() != 3) {
        return fail(f.span, "stream: expects a call of a task and a function of one piece of text",
                    "write (stream (task (input value)…) (lambda (piece) …))");
    }
    node* callback = expression(f[2], inner());
    node* call = expression(f[1], inner());
    if (failed()) return call;
    if (call->kind != node_kind::clause_call && call->kind != node_kind::either_call &&
        call->kind != node_kind::call) {
        return fail(f[1].span, "stream: expects a call of a task, not " + shown(f[1].content),
                    "write (stream (task (input value)…) (lambda (piece) …))");
    }
    read_quietly(*call);
    node* made = scope_node(scope_kind::receiver, callback);
    made->children.push_back(call);
    return made;
}

/// Tasks in the arguments of a streamed call are not streamed.
void analyzer::read_quietly(node& call) {
    if (call.kind == node_kind::either_call) {
        for (node* each : call.children) read_quietly(*each);
        return;
    }
    for (std::size_t i = 1; i < call.children.size(); ++i) {
        node* argument = call.children[i];
        if (argument->kind == node_kind::constant || argument->kind == node_kind::local ||
            argument->kind == node_kind::global || argument->kind == node_kind::make_lambda) {
            continue;
        }
        node* quiet = scope_node(scope_kind::receiver, constant({}, argument->span));
        quiet->children.push_back(argument);
        call.children[i] = quiet;
    }
}

/// Names of the parameters in the (params …) clauses of a defatom or deftool.
std::vector<std::string> analyzer::inputs_of(const form& f) {
    std::vector<std::string> inputs;
    for (std::size_t i = 2; i < f.size(); ++i) {
        const form clause = f[i];
        if (!clause.is_list() || clause.size() == 0 || !clause[0].is_symbol() ||
            clause[0].name() != "params")
            continue;
        for (std::size_t k = 1; k < clause.size(); ++k) {
            const form parameter = clause[k];
            if (parameter.is_symbol()) inputs.emplace_back(parameter.name());
            else if (parameter.is_list() && parameter.size() != 0 && parameter[0].is_symbol())
                inputs.emplace_back(parameter[0].name());
        }
    }
    return inputs;
}

/// The host parses the clauses (it knows templates); the language knows the name and, for calls by
/// clause, the parameters.
ast::node* analyzer::form_defatom(const form& f, position) {
    if (f.size() < 2)
        return fail(f.span, "defatom: expects a name, (params …) and (instructions \"…\")");
    if (!check_function_name(f[1], "defatom", "the name")) return constant({}, f.span);
    const std::string name(f[1].name());
    std::vector<std::string> inputs = inputs_of(f);
    if (request_.limits.closed || sandboxes_ != 0) {
        return fail(
            f.span, "defatom: a sandbox cannot define tasks, which outlive it",
            "define '" + name + "' outside and allow it: (sandbox ((allow (" + name + "))) …)",
            errc::permission);
    }
    const builtin* row = world_.host().find_effect("%defatom");
    if (!row) return fail(f.span, "defatom: this host has no task system");
    node* registered = make(node_kind::effect_call, f.span);
    registered->row = row;
    registered->children.push_back(constant(f.content, f.span));
    return bind_operator(f, registered, std::move(inputs), false);
}

/// Binds the name of a task or tool to what registering it gives; the value is the name.
ast::node* analyzer::bind_operator(const form& f, node* registered, std::vector<std::string> inputs,
                                   bool is_tool) {
    const std::string name(f[1].name());
    node* bound = nullptr;
    if (ast::variable* var = bind_here(name)) {
        bound = make(node_kind::bind_local, f.span);
        bound->var = var;
        var->is_task = true;
        var->is_tool = is_tool;
        var->task_inputs = std::move(inputs);
        bound->children.push_back(registered);
        note_bound(*var);
    } else {
        bound = define_here(name, f.span, registered);
        defined_.emplace(name);
        defined_tasks_[name] = {std::move(inputs), is_tool};
    }
    node* all = make(node_kind::sequence, f.span);
    all->children = {bound, constant(f[1].content, f.span)};
    return all;
}

/// (deftool name (params p…) (description "…") body…): the host reads the clauses; the body is a
/// function of the parameters.
ast::node* analyzer::form_deftool(const form& f, position) {
    constexpr std::string_view usage =
        "write (deftool name (params (p type \"what\")…) (description \"…\") body…)";
    if (f.size() < 2) return fail(f.span, "deftool: expects a name", std::string(usage));
    if (!check_function_name(f[1], "deftool", "the name")) return constant({}, f.span);
    const std::string name(f[1].name());
    std::optional<form> params;
    bool described = false;
    std::size_t body_from = 2;
    for (; body_from < f.size(); ++body_from) {
        const form clause = f[body_from];
        if (!clause.is_list() || clause.size() == 0 || !clause[0].is_symbol()) break;
        if (clause[0].name() == "params" && !params) params = clause;
        else if (clause[0].name() == "description" && !described) described = true;
        else break;
    }
    if (!params || !described) {
        return fail(f.span,
                    "deftool " + name + ": (params …) and (description \"…\") come before the body",
                    std::string(usage));
    }
    if (body_from == f.size())
        return fail(f.span, "deftool " + name + ": has no body", std::string(usage));
    if (request_.limits.closed || sandboxes_ != 0) {
        return fail(
            f.span, "deftool: a sandbox cannot define tools, which outlive it",
            "define '" + name + "' outside and allow it: (sandbox ((allow (" + name + "))) …)",
            errc::permission);
    }
    const builtin* row = world_.host().find_effect("%deftool");
    if (!row) return fail(f.span, "deftool: this host has no tools");
    std::vector<std::string> inputs;
    std::vector<value> names;
    for (std::size_t i = 1; i < params->size(); ++i) {
        const form whole = (*params)[i];
        const form parameter = whole.is_list() && whole.size() != 0 ? whole[0] : whole;
        if (!parameter.is_symbol() || parameter.name() == "." ||
            parameter.name().starts_with('&')) {
            return fail(whole.span, "deftool " + name +
                                        ": a parameter is a name or (name type \"what\"), not " +
                                        shown(whole.content));
        }
        inputs.emplace_back(parameter.name());
        names.push_back(parameter.content);
    }
    node* function = make(node_kind::make_lambda, f.span);
    function->code =
        lambda_of(f, {make_list(world_.memory(), names), params->span}, body_from, name);
    node* registered = make(node_kind::effect_call, f.span);
    registered->row = row;
    registered->children = {constant(f.content, f.span), function};
    return bind_operator(f, registered, std::move(inputs), true);
}

ast::node* analyzer::form_call_atomic_task(const form& f, position) {
    if (f.size() < 2)
        return fail(f.span, "call-atomic-task: expects a task and clauses (name expression)");
    return clause_call(f, expression(f[1], inner()), 2);
}

ast::node* analyzer::form_parallel(const form& f, position) {
    if (f.size() == 1) return constant(value::empty_list(), f.span);
    return branches_of(f, 0);
}

/// (form e…): each expression is a branch of a join.
ast::node* analyzer::branches_of(const form& f, std::uint8_t policy) {
    node* made = make(node_kind::join_scope, f.span);
    made->flag = policy;
    scope own;
    scope_guard guard(*this, own);
    ast::variable* group = declare_hidden("parallel group");
    group->definite = group->bound_once = true;
    made->variables.push_back(group);
    made->constant = make_string(world_.memory(), "in part");
    made->children.push_back(
        constant(value::integer(static_cast<std::int64_t>(f.size() - 1)), f.span));
    node* all = make(node_kind::sequence, f.span);
    for (std::size_t i = 1; i < f.size(); ++i) {
        node* one = make(node_kind::branch, f[i].span);
        one->flag = policy == first_policy ? 1 : 0; // all begin at once, whatever the bound
        node* join = make(node_kind::local, f.span);
        join->var = group;
        node* thunk = make(node_kind::make_lambda, f[i].span);
        thunk->code = thunk_of(f[i]);
        one->children = {join, constant(value::integer(static_cast<std::int64_t>(i - 1)), f.span),
                         thunk};
        all->children.push_back(one);
    }
    made->children.push_back(all);
    return made;
}

/// An expression as a function of no parameters. Its binds stay inside, as in any branch.
ast::lambda* analyzer::thunk_of(const form& f) {
    value body = make_list(world_.memory(), std::array<value, 1>{f.content});
    return lambda_of({body, f.span}, {value::empty_list(), f.span}, 0, {});
}

/// (%join-scope name policy "label" count body…): what map and its kin are made of in the prelude.
ast::node* analyzer::form_join_scope(const form& f, position) {
    if (f.size() < 6 || !f[1].is_symbol() || !f[2].content.is_integer() ||
        !f[3].content.is(kind::string)) {
        return fail(f.span, "%join-scope: expects a name, a policy, a label, a count and a body");
    }
    node* made = make(node_kind::join_scope, f.span);
    made->flag = static_cast<std::uint8_t>(f[2].content.as_integer());
    made->constant = f[3].content;
    made->children.push_back(expression(f[4], inner()));
    scope own;
    scope_guard guard(*this, own);
    ast::variable* group = declare(f[1].name());
    group->definite = group->bound_once = true;
    made->variables.push_back(group);
    made->children.push_back(body(f, 5, inner()));
    return with_scope(own, made, 1);
}

/// (%branch join slot callee argument…); %free-branch: without a permit.
ast::node* analyzer::form_branch(const form& f, position) {
    if (f.size() < 4)
        return fail(f.span, "%branch: expects a join, a slot, a function and its arguments");
    node* made = make(node_kind::branch, f.span);
    made->flag = f[0].name() == "%free-branch" ? 1 : 0;
    for (std::size_t i = 1; i < f.size(); ++i) made->children.push_back(expression(f[i], inner()));
    return made;
}

} // namespace heddle::lang
