// eval, import and sandbox, and the names of code that runs inside them.
#include "analyzer.hpp"
#include "lang/print/form_text.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>
#include <deque>

namespace heddle::lang {

using ast::node_kind;

// ---------------------------------------------------------------- eval

/// (eval x): in the scope where it stands. Everything that can be seen from here moves to cells, which
/// the code gets when it runs. At the top level, and with a map of its own, eval is a function.
ast::node* analyzer::form_eval(const form& f, position) {
    if (f.size() < 2 || f.size() > 3) {
        return fail(f.span,
                    "eval: expects an expression as data, and perhaps a map of names; got " +
                        count_of(f.size() - 1) + " parts");
    }
    if (f.size() == 3 || !scope_) {
        node* made = make(node_kind::call, f.span);
        made->children.push_back(constant(value::of_builtin(*find_builtin("eval")), f.span));
        for (std::size_t i = 1; i < f.size(); ++i)
            made->children.push_back(expression(f[i], inner()));
        return made;
    }
    node* made = make(node_kind::eval_code, f.span);
    made->children.push_back(expression(f[1], inner()));
    if (failed()) return made;
    extras_here();
    auto site = std::make_unique<eval_site>();
    std::vector<std::vector<ast::variable*>> levels; // innermost first, as the scopes
    for (scope* s = scope_; s; s = s->outer) {
        if (s->label) s->label->escaped = true; // the code may call it as a function
        eval_site::level level;
        std::vector<ast::variable*> variables;
        for (ast::variable* v : s->variables) {
            if (v->hidden && v != s->extras) continue;
            v->captured = v->reassigned = true;
            v->conditional = v->conditional || !v->definite;
            if (v == s->extras) continue;
            level.names.push_back({v->name, v->definite, v->is_task, v->is_tool, v->task_inputs});
            variables.push_back(v);
        }
        if (s->extras) {
            level.has_extras = true;
            variables.push_back(s->extras);
        }
        site->charge(world_.memory(), level);
        spend(variables.size(), 2 * variables.size() * sizeof(ast::variable*));
        site->levels.push_back(std::move(level));
        levels.push_back(std::move(variables));
        if (!s->sandbox) continue;
        // What is outside of a sandbox cannot be seen by code made inside.
        site->in_sandbox = true;
        s->sandbox->captured = s->sandbox->reassigned = true;
        made->variables.push_back(s->sandbox);
        break;
    }
    std::reverse(site->levels.begin(), site->levels.end());
    for (auto level = levels.rbegin(); level != levels.rend(); ++level)
        made->variables.insert(made->variables.end(), level->begin(), level->end());
    made->constant = make_host(world_.memory(), std::move(site));
    return made;
}

/// The names around code given to eval, as scopes whose variables are the captured cells.
void analyzer::open_site(const eval_site& site, std::deque<scope>& scopes) {
    int cell = 0;
    ast::variable* sandbox = nullptr;
    const auto captured = [&](ast::variable* made) {
        made->captured = made->reassigned = true;
        made->bound_once = true;
        made->slot = cell++;
        return made;
    };
    for (const eval_site::level& level : site.levels) {
        scope& opened = scopes.emplace_back();
        open(opened);
        opened.owner = around_;
        opened.sealed = true;
        if (site.in_sandbox && !sandbox) {
            sandbox = captured(declare_hidden(sandbox_name));
            sandbox->definite = true;
            opened.sandbox = sandbox;
        }
        for (const eval_site::name& each : level.names) {
            ast::variable* made = captured(declare(each.text));
            made->definite = each.definite;
            made->conditional = !each.definite;
            made->is_task = each.is_task;
            made->is_tool = each.is_tool;
            made->task_inputs = each.task_inputs;
        }
        if (level.has_extras) {
            opened.extras = captured(declare_hidden(extras_name));
            opened.extras->conditional = true;
        }
    }
}

/// The variable that holds what eval binds in the innermost scope beyond its variables.
ast::variable* analyzer::extras_here() {
    ast::variable*& extras = scope_->extras;
    if (!extras) {
        extras = declare_hidden(extras_name);
        extras->captured = extras->reassigned = extras->conditional = true;
    }
    return extras;
}

/// The map in it; empty before eval has bound anything.
ast::node* analyzer::read_extras(ast::variable& extras, source_span span) {
    node* made = make(node_kind::local, span);
    made->var = &extras;
    mark_capture(extras);
    made->children.push_back(constant(value::empty_map(), span));
    return made;
}

/// What eval has bound under `name`, else `further`. Primitives stay what they are, as everywhere.
ast::node* analyzer::from_extras(ast::variable& extras, std::string_view name, node* further,
                                 source_span span) {
    if (further->kind == node_kind::constant) return further;
    node* key = constant(make_string(world_.memory(), name), span);
    node* made = make(node_kind::branch_if, span);
    made->var = &extras; // tells behind_extras
    made->children = {builtin_node("has-key?", span, {read_extras(extras, span), key}),
                      builtin_node("get", span, {read_extras(extras, span), key}), further};
    return made;
}

const ast::node* analyzer::behind_extras(const node* callee) {
    while (callee->kind == node_kind::branch_if && callee->var) callee = callee->children[2];
    return callee;
}

ast::node* analyzer::bind_in_extras_of(ast::variable& extras, std::string_view name, node* init,
                                       source_span span) {
    node* made = make(node_kind::scope, span);
    made->children.push_back(init);
    scope own;
    scope_guard guard(*this, own);
    ast::variable* bound = declare_hidden("bound value");
    bound->definite = bound->bound_once = true;
    made->variables.push_back(bound);
    const auto given = [&] {
        node* read = make(node_kind::local, span);
        read->var = bound;
        return read;
    };
    node* key = constant(make_string(world_.memory(), name), span);
    node* stored = make(node_kind::set_local, span);
    stored->var = &extras;
    stored->children.push_back(
        builtin_node("put", span, {read_extras(extras, span), key, given()}));
    node* all = make(node_kind::sequence, span);
    all->children = {stored, given()};
    made->children.push_back(all);
    return with_scope(own, made, 1);
}

ast::node* analyzer::bind_in_extras(std::string_view name, node* init, source_span span) {
    return bind_in_extras_of(*extras_here(), name, init, span);
}

// ---------------------------------------------------------------- reach

/// A name that closed code does not define itself.
ast::node* analyzer::closed_reference(std::string_view name, source_span span) {
    const name_limits& limits = request_.limits;
    if (const builtin* row = find_builtin(name)) return constant(value::of_builtin(*row), span);
    if (const builtin* row = world_.host().find_effect(name)) {
        if (limits.world || limits.allows(name) || name == "sleep")
            return constant(value::of_builtin(*row), span);
        return out_of_reach(name, true, span);
    }
    if (find_special(name)) {
        return fail(span, "'" + std::string(name) + "' is a special form, not a value",
                    "put it at the head of a list, or wrap it in a lambda");
    }
    std::optional<std::uint32_t> index = world_.find_library_global(name);
    if (limits.allows(name)) index = world_.reference_index(name);
    if (index) {
        node* made = make(node_kind::global, span);
        made->index = *index;
        return made;
    }
    const bool exists = world_.find_program_global(name).has_value() ||
                        world_.host().find_operator(world_.memory(), name).has_value();
    return out_of_reach(name, exists, span);
}

/// Raises when it is reached: code may hold a name in a part that never runs.
ast::node* analyzer::out_of_reach(std::string_view name, bool forbidden, source_span span) {
    return out_of_reach(name, value::boolean(forbidden), span);
}

/// `how`: false for a name that nobody knows, true for one that is forbidden, set! where it is only
/// to be assigned.
ast::node* analyzer::out_of_reach(std::string_view name, value how, source_span span) {
    node* made = make(node_kind::call, span);
    made->children = {constant(value::of_builtin(*find_builtin("%out-of-reach")), span),
                      constant(world_.memory().symbol(name), span), constant(std::move(how), span)};
    return made;
}

// ---------------------------------------------------------------- sandbox

/// (sandbox ((allow (name…)) (steps n) (memory bytes) (timeout s) (calls n)) body…). Its limits are
/// settings for the extent of the body; the machine keeps to them wherever the body leads.
ast::node* analyzer::form_sandbox(const form& f, position) {
    if (f.size() < 3 || !f[1].is_list()) {
        return fail(f.span, "sandbox: expects ((limit value)…) and a body",
                    "for example (sandbox ((steps 100000) (timeout 5)) (eval (parse text)))");
    }
    static constexpr std::array<std::string_view, 6> known{"allow",  "models",  "steps",
                                                           "memory", "timeout", "calls"};
    std::vector<node*> parts;
    std::vector<std::string_view> seen;
    const form limits = f[1];
    for (std::size_t i = 0; i < limits.size() && !failed(); ++i) {
        const form one = limits[i];
        if (!one.is_list() || one.size() != 2 || !one[0].is_symbol()) {
            return fail(one.span,
                        "sandbox: a limit must be (name value), not " + shown(one.content));
        }
        const std::string name(one[0].name());
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            return fail(one.span, "sandbox: unknown limit '" + name + "'",
                        "known limits: allow, models, steps, memory, timeout, calls");
        }
        if (std::find(seen.begin(), seen.end(), name) != seen.end())
            return fail(one.span, "sandbox: the limit '" + name + "' is repeated");
        seen.push_back(one[0].name());
        parts.push_back(constant(make_string(world_.memory(), name), one[0].span));
        if (name != "allow" && name != "models") {
            parts.push_back(expression(one[1], inner()));
            continue;
        }
        const form names = one[1];
        bool good = names.is_list();
        const bool models = name == "models";
        for (std::size_t k = 0; good && k < names.size(); ++k) {
            good = names[k].is_symbol() || (models && names[k].content.is(kind::string));
            if (good && !models && is_internal(names[k].name()))
                fail_internal(names[k].name(), names.span);
        }
        if (!good) {
            return fail(names.span,
                        models ? "sandbox: models must be a list of names of models and "
                                 "providers, not " +
                                     shown(names.content)
                               : "sandbox: allow must be a list of names of tasks and tools, not " +
                                     shown(names.content),
                        models ? "for example (models (openai:gpt-5-mini))"
                               : "for example (allow (user:summarise get_context))");
        }
        parts.push_back(constant(names.content, names.span));
    }
    if (failed()) return constant({}, f.span);
    node* made = scope_node(scope_kind::sandbox, builtin_node("dict", f[1].span, std::move(parts)));
    node* inside = make(node_kind::scope, f.span);
    node* policy = make(node_kind::dynamic, f.span);
    policy->flag = static_cast<std::uint8_t>(dynamic_name::sandbox);
    policy->constant = world_.memory().symbol("sandbox");
    inside->children.push_back(policy);
    scope own;
    scope_guard guard(*this, own);
    own.sandbox = declare_hidden(sandbox_name);
    own.sandbox->definite = own.sandbox->bound_once = true;
    inside->variables.push_back(own.sandbox);
    ++sandboxes_;
    declare_binds(f, 2);
    inside->children.push_back(body(f, 2, inner()));
    --sandboxes_;
    made->children.push_back(builtin_node("%sandbox-value", f.span, {with_scope(own, inside, 1)}));
    return made;
}

/// (%within-sandbox function body…): the body in the sandbox that made the function.
ast::node* analyzer::form_within_sandbox(const form& f, position) {
    if (f.size() < 3) return fail(f.span, "%within-sandbox: expects a function and a body");
    node* made = scope_node(scope_kind::confined, expression(f[1], inner()));
    made->children.push_back(body(f, 2, inner()));
    return made;
}

// ---------------------------------------------------------------- import

/// (import "file.heddle") or (import std/name).
ast::node* analyzer::form_import(const form& f, position) {
    if (f.size() != 2) {
        return fail(f.span, "import: expects the path of a file, or std/NAME for a library; got " +
                                count_of(f.size() - 1) + " parts");
    }
    form what = f[1];
    if (what.is_list() && what.size() == 2 && what[0].is_symbol() && what[0].name() == "quote")
        what = what[1];
    const bool path = what.content.is(kind::string);
    if (!path && !(what.is_symbol() && what.name().starts_with("std/"))) {
        return fail(what.span,
                    "import: expects the path of a file as a string, or std/NAME, not " +
                        shown(what.content),
                    "for example (import \"helpers.heddle\") or (import std/lists)");
    }
    if (request_.limits.closed || sandboxes_ != 0) {
        return fail(f.span, "import: a sandbox cannot import", "import before the sandbox",
                    errc::permission);
    }
    const std::string from = world_.sources().locate(f.span).file;
    return call_library(
        path ? "%import-file" : "%import-library", f.span,
        {constant(what.content, what.span), constant(make_string(world_.memory(), from), f.span)});
}

} // namespace heddle::lang
