// Forms that reach the host: settings, tasks, branches.
#include "analyzer.hpp"
#include "lang/machine/with_settings.hpp"
#include "lang/print/form_text.hpp"
#include "special_form.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace heddle::lang {

using ast::node_kind;

static ast::node* form_with(analyzer& a, const form& f, analyzer::position) {
    if (f.size() < 3 || !f[1].is_list())
        return a.fail(f.span, "with: expects ((setting value)…) and a body");
    std::vector<ast::node*> parts;
    std::set<std::string> seen;
    const form settings = f[1];
    for (std::size_t i = 0; i < settings.size() && !a.failed(); ++i) {
        const form one = settings[i];
        if (!one.is_list() || one.size() != 2 || !one[0].is_symbol()) {
            return a.fail(one.span,
                          "with: a setting must be (name value), not " + shown(one.content));
        }
        const std::string name(one[0].name());
        if (!seen.insert(name).second)
            return a.fail(one.span, "with: the setting '" + name + "' is repeated");
        const with_setting* row = find_with_setting(name);
        if (!row || a.is_internal(name)) {
            std::vector<std::string> known;
            for (const with_setting& each : with_settings()) known.emplace_back(each.name);
            std::string hint = suggest_names(name, known);
            if (hint.empty()) hint = "known settings: " + with_setting_names();
            return a.fail(one.span, "with: unknown setting '" + name + "'", std::move(hint));
        }
        if (!row->refusal.empty() && (a.in_sandbox())) {
            return a.fail(one.span, std::string(row->refusal),
                          "set it outside: (with ((" + name + " …)) (sandbox …))",
                          errc::permission);
        }
        parts.push_back(a.constant(make_string(a.realm().memory(), name), one[0].span));
        parts.push_back(a.expression(one[1], a.inner()));
    }
    ast::node* result =
        a.scope_node(scope_kind::settings, a.builtin_node("dict", f[1].span, std::move(parts)));
    result->children.push_back(a.body(f, 2, a.inner()));
    return result;
}

/// Tasks in the arguments of a streamed call are not streamed.
static void read_quietly(analyzer& a, ast::node& call) {
    if (call.kind == node_kind::either_call) {
        for (ast::node* each : call.children) read_quietly(a, *each);
        return;
    }
    for (std::size_t i = 1; i < call.children.size(); ++i) {
        ast::node* argument = call.children[i];
        if (argument->kind == node_kind::constant || argument->kind == node_kind::local ||
            argument->kind == node_kind::global || argument->kind == node_kind::make_lambda) {
            continue;
        }
        ast::node* quiet = a.scope_node(scope_kind::receiver, a.constant({}, argument->span));
        quiet->children.push_back(argument);
        call.children[i] = quiet;
    }
}

/// (stream call function)
static ast::node* form_stream(analyzer& a, const form& f, analyzer::position) {
    if (f.size() != 3) {
        return a.fail(f.span,
                      "stream: expects a call of a task and a function of one piece of text",
                      "write (stream (task (input value)…) (lambda (piece) …))");
    }
    ast::node* callback = a.expression(f[2], a.inner());
    ast::node* call = a.expression(f[1], a.inner());
    if (a.failed()) return call;
    if (call->kind != node_kind::clause_call && call->kind != node_kind::either_call &&
        call->kind != node_kind::call) {
        return a.fail(f[1].span, "stream: expects a call of a task, not " + shown(f[1].content),
                      "write (stream (task (input value)…) (lambda (piece) …))");
    }
    read_quietly(a, *call);
    ast::node* result = a.scope_node(scope_kind::receiver, callback);
    result->children.push_back(call);
    return result;
}

/// Binds the name of a task or tool to what registering it returns; the value is the name.
static ast::node* bind_operator(analyzer& a, const form& f, ast::node* registered,
                                std::vector<std::string> inputs, bool is_tool) {
    const std::string name(f[1].name());
    ast::node* bound = nullptr;
    if (ast::variable* var = a.bind_here(name)) {
        bound = a.make(node_kind::bind_local, f.span);
        bound->var = var;
        var->is_task = true;
        var->is_tool = is_tool;
        var->task_inputs = std::move(inputs);
        a.note_task(*var);
        bound->children.push_back(registered);
        a.note_bound(*var);
    } else {
        bound = a.define_here(name, f.span, registered);
        a.note_operator(name, std::move(inputs), is_tool);
    }
    ast::node* all = a.make(node_kind::sequence, f.span);
    all->children = {bound, a.constant(f[1].content, f.span)};
    return all;
}

/// The host parses the clauses (it knows templates); the language knows the name and, for calls by
/// clause, the parameters.
static ast::node* form_defatom(analyzer& a, const form& f, analyzer::position) {
    if (f.size() < 2)
        return a.fail(f.span, "defatom: expects a name, (params …) and (instructions \"…\")");
    if (!a.check_function_name(f[1], "defatom", "the name")) return a.constant({}, f.span);
    const std::string name(f[1].name());
    std::vector<std::string> inputs = analyzer::inputs_of(f);
    if (a.in_sandbox()) {
        return a.fail(
            f.span, "defatom: a sandbox cannot define tasks, which outlive it",
            "define '" + name + "' outside and allow it: (sandbox ((allow (" + name + "))) …)",
            errc::permission);
    }
    const builtin* row = a.realm().host().find_effect("%defatom");
    if (!row) return a.fail(f.span, "defatom: this host has no task system");
    ast::node* registered = a.make(node_kind::effect_call, f.span);
    registered->row = row;
    registered->children.push_back(a.constant(f.content, f.span));
    return bind_operator(a, f, registered, std::move(inputs), false);
}

/// (deftool name (params p…) (description "…") body…): the host reads the clauses; the body is a
/// function of the parameters.
static ast::node* form_deftool(analyzer& a, const form& f, analyzer::position) {
    constexpr std::string_view usage =
        "write (deftool name (params (p type \"what\")…) (description \"…\") body…)";
    if (f.size() < 2) return a.fail(f.span, "deftool: expects a name", std::string(usage));
    if (!a.check_function_name(f[1], "deftool", "the name")) return a.constant({}, f.span);
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
        return a.fail(
            f.span, "deftool " + name + ": (params …) and (description \"…\") come before the body",
            std::string(usage));
    }
    if (body_from == f.size())
        return a.fail(f.span, "deftool " + name + ": has no body", std::string(usage));
    if (a.in_sandbox()) {
        return a.fail(
            f.span, "deftool: a sandbox cannot define tools, which outlive it",
            "define '" + name + "' outside and allow it: (sandbox ((allow (" + name + "))) …)",
            errc::permission);
    }
    const builtin* row = a.realm().host().find_effect("%deftool");
    if (!row) return a.fail(f.span, "deftool: this host has no tools");
    std::vector<std::string> inputs;
    std::vector<value> names;
    for (std::size_t i = 1; i < params->size(); ++i) {
        const form whole = (*params)[i];
        const form parameter = whole.is_list() && whole.size() != 0 ? whole[0] : whole;
        if (!parameter.is_symbol() || parameter.name() == "." ||
            parameter.name().starts_with('&')) {
            return a.fail(whole.span, "deftool " + name +
                                          ": a parameter is a name or (name type \"what\"), not " +
                                          shown(whole.content));
        }
        inputs.emplace_back(parameter.name());
        names.push_back(parameter.content);
    }
    ast::node* function = a.make(node_kind::make_lambda, f.span);
    function->code =
        a.lambda_of(f, {make_list(a.realm().memory(), names), params->span}, body_from, name);
    ast::node* registered = a.make(node_kind::effect_call, f.span);
    registered->row = row;
    registered->children = {a.constant(f.content, f.span), function};
    return bind_operator(a, f, registered, std::move(inputs), true);
}

static ast::node* form_call_atomic_task(analyzer& a, const form& f, analyzer::position) {
    if (f.size() < 2)
        return a.fail(f.span, "call-atomic-task: expects a task and clauses (name expression)");
    return a.clause_call(f, a.expression(f[1], a.inner()), 2);
}

namespace {

constexpr special_form rows[] = {
    {.name = "with",
     .analyse = &form_with,
     .layout = {.form = shape::body, .beside_head = 1, .bindings = 1},
     .usage = "(with ((setting value)…) body…)",
     .summary = "Settings for everything that happens while the body runs, in every branch that "
                "it starts.",
     .example = "(with ((concurrency 2)) (map (lambda (x) (+ x 1)) '(1 2 3))) => '(2 3 4)",
     .family = "concurrency"},
    {.name = "defatom",
     .analyse = &form_defatom,
     .binds = binding::task,
     .layout = {.form = shape::body, .beside_head = 1},
     .usage = "(defatom name (params parameter…) (instructions \"…{{parameter}}…\") clause…)",
     .summary =
         "Defines a task: a question to a model. It is called as (name (parameter value)…) "
         "or (name value…) and returns a task result. Further clauses, such as model, system, "
         "timeout, retries, tools, output_format and the settings of requests that with "
         "has, are in the reference of task templates.",
     .family = "tasks"},
    {.name = "deftool",
     .analyse = &form_deftool,
     .binds = binding::tool,
     .layout = {.form = shape::body, .beside_head = 1},
     .usage = "(deftool name (params parameter…) (description \"…\") body…)",
     .summary = "Defines a tool: a function that workflows call as (name (parameter value)…) and "
                "that models call when a task lists it in its tools. A parameter is written as in "
                "defatom; types are string, integer, number, boolean, array, string[], integer[], "
                "number[], object and any. The body sees its parameters and the names around the "
                "definition; an optional parameter that is not given is its default, or nil.",
     .family = "tasks"},
    {.name = "stream",
     .analyse = &form_stream,
     .layout = {.form = shape::body, .beside_head = 1},
     .usage = "(stream (task (parameter value)…) function)",
     .summary = "Calls a task, and calls the function with each piece of its text as it arrives, "
                "one call at a time and in order; pieces that arrive in the meantime are passed "
                "together. The value is the result of the task. An error in the function cancels "
                "the task and is raised.",
     .family = "tasks"},
    {.name = "call-atomic-task",
     .analyse = &form_call_atomic_task,
     .usage = "(call-atomic-task task (parameter value)…)",
     .summary = "Calls the task that an expression evaluates to: a name or a task as a value.",
     .family = "tasks"},
};

} // namespace

std::span<const special_form> host_forms() noexcept { return rows; }

} // namespace heddle::lang
