// eval, import and sandbox, and the names of code that runs inside them.
#include "analyzer_scopes.hpp"
#include "lang/print/form_text.hpp"
#include "special_form.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>
#include <deque>

namespace heddle::lang {

using ast::node_kind;

// ---------------------------------------------------------------- eval

/// (eval x): in the enclosing scope. Everything that can be seen from here moves to cells,
/// which the code gets when it runs. At the top level, and with a map of its own, eval is a
/// function.
static ast::node* form_eval(analyzer& a, const form& f, analyzer::position) {
    if (f.size() < 2 || f.size() > 3) {
        return a.fail(f.span,
                      "eval: expects an expression as data, and perhaps a map of names; got " +
                          parts_of(f.size() - 1));
    }
    if (f.size() == 3 || !a.innermost()) {
        ast::node* result = a.make(node_kind::call, f.span);
        result->children.push_back(a.constant(value::of_builtin(*find_builtin("eval")), f.span));
        for (std::size_t i = 1; i < f.size(); ++i)
            result->children.push_back(a.expression(f[i], a.inner()));
        return result;
    }
    ast::node* result = a.make(node_kind::eval_code, f.span);
    result->children.push_back(a.expression(f[1], a.inner()));
    if (a.failed()) return result;
    result->constant = make_host(a.realm().memory(), a.site_here(*result));
    return result;
}

std::unique_ptr<eval_site> analyzer::site_here(node& eval) {
    extras_here();
    ++evals_;
    std::vector<scope*> unseen;
    for (scope* s = scope_; s; s = s->outer) {
        unseen.push_back(s);
        // What is around a scope stays as it is while that is open. And what is outside of a
        // sandbox cannot be seen by code made inside.
        if (s->seen || s->sandbox) break;
    }
    for (auto s = unseen.rbegin(); s != unseen.rend(); ++s) show_to_eval(**s);
    auto site = std::make_unique<eval_site>();
    site->innermost = scope_->names;
    site->eval = scope_->sealed ? request_.site->eval : evals_;
    if (scope_->sealed) site->innermost->charge(realm_.memory());
    eval.variables.push_back(scope_->environment);
    if (const scope* body = scope_->nearest_sandbox()) {
        site->in_sandbox = true;
        body->sandbox->captured = body->sandbox->reassigned = true;
        eval.variables.push_back(body->sandbox);
    }
    return site;
}

/// Evals see the variables of a scope from now on. Those around it know it.
void analyzer::show_to_eval(scope& seen) {
    if (!seen.seen) {
        seen.seen = true;
        if (seen.label) seen.label->escaped = true; // the code may call it as a function
        if (seen.outer && !seen.sandbox) seen.environment_at = seen.outer->environment_at;
    }
    for (; seen.seen_variables < seen.variables.size(); ++seen.seen_variables) {
        ast::variable* v = seen.variables[seen.seen_variables];
        spend(1, sizeof(ast::variable*));
        if (v->hidden && v != seen.extras) continue;
        if (!seen.names) begin_environment(seen);
        v->captured = v->reassigned = true;
        v->conditional = v->conditional || !v->definite;
        v->seen_in = seen.names.get();
        v->seen_at = seen.names->names.size();
        seen.environment->environment.push_back(v);
        seen.names->add(realm_.memory(), {.text = v->name,
                                          .seen_from = evals_,
                                          .bound_from = v->definite ? evals_ : eval_scope::never,
                                          .is_extras = v == seen.extras,
                                          .is_task = v->is_task,
                                          .is_tool = v->is_tool,
                                          .task_inputs = v->task_inputs});
    }
}

void analyzer::begin_environment(scope& of) {
    const scope* around = of.environment_at;
    of.names = std::make_shared<eval_scope>();
    ast::variable& held = arena_.variables.emplace_back();
    held.name = environment_name;
    held.hidden = true;
    held.owner = of.owner;
    held.loop_depth = of.loop_depth;
    held.captured = held.definite = held.bound_once = true;
    held.environment.push_back(around ? around->environment : nullptr);
    of.variables.push_back(&held);
    of.environment = &held;
    of.environment_at = &of;
    if (!around) return;
    of.names->outer = around->names;
    if (!around->sealed) return;
    of.names->given_to = request_.site->eval;
    around->names->charge(realm_.memory());
}

/// Evals from here on know what a variable is.
void analyzer::note_task(const ast::variable& var) {
    if (!var.seen_in) return;
    eval_scope::name& name = var.seen_in->names[var.seen_at];
    name.is_task = var.is_task;
    name.is_tool = var.is_tool;
    name.task_inputs = var.task_inputs;
}

/// The names around code given to eval, as scopes whose variables are the captured cells.
void analyzer::open_site(const eval_site& site, std::deque<scope>& scopes) {
    int cell = 0;
    ast::variable* sandbox = nullptr;
    const auto captured = [&](ast::variable* result) {
        result->captured = result->reassigned = true;
        result->bound_once = true;
        result->slot = cell++;
        return result;
    };
    for (const eval_site::level& level : site.levels()) {
        scope& opened = scopes.emplace_back();
        open(opened);
        opened.owner = around_;
        opened.sealed = true;
        if (site.in_sandbox && !sandbox) {
            sandbox = captured(declare_hidden(sandbox_name));
            sandbox->definite = true;
            opened.sandbox = sandbox;
        }
        const std::size_t seen = level.scope->seen_by(level.eval);
        for (std::size_t i = 0; i < seen; ++i) {
            const eval_scope::name& each = level.scope->names[i];
            spend(1, 0);
            if (each.is_extras) {
                opened.extras = captured(declare_hidden(extras_name));
                opened.extras->conditional = true;
                continue;
            }
            ast::variable* result = captured(declare(each.text));
            result->definite = each.bound_from <= level.eval;
            result->conditional = !result->definite;
            result->is_task = each.is_task;
            result->is_tool = each.is_tool;
            result->task_inputs = each.task_inputs;
        }
        opened.seen = true;
        opened.seen_variables = opened.variables.size();
    }
    // For an eval in the code: what it sees goes on here.
    scope& innermost = scopes.back();
    innermost.names = site.innermost;
    innermost.environment = declare_hidden(environment_name);
    innermost.environment->captured = innermost.environment->definite = true;
    innermost.environment->bound_once = true;
    innermost.environment->slot = cell;
    innermost.environment_at = &innermost;
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
    node* result = make(node_kind::local, span);
    result->var = &extras;
    mark_capture(extras);
    result->children.push_back(constant(value::empty_map(), span));
    return result;
}

/// What eval has bound under `name`, else `further`. Builtins stay what they are, as everywhere.
ast::node* analyzer::from_extras(ast::variable& extras, std::string_view name, node* further,
                                 source_span span) {
    if (further->kind == node_kind::constant) return further;
    node* key = constant(text_of_name(name), span);
    node* result = make(node_kind::branch_if, span);
    result->var = &extras; // marks behind_extras
    result->children = {builtin_node("has-key?", span, {read_extras(extras, span), key}),
                        builtin_node("get", span, {read_extras(extras, span), key}), further};
    return result;
}

const ast::node* analyzer::behind_extras(const node* callee) {
    while (callee->kind == node_kind::branch_if && callee->var) callee = callee->children[2];
    return callee;
}

/// The same value each time, so that a function has one constant for it.
const value& analyzer::text_of_name(std::string_view name) {
    value& text = texts_of_names_[std::string(name)];
    if (text.is_nil()) text = make_string(realm_.memory(), name);
    return text;
}

ast::node* analyzer::bind_in_extras_of(ast::variable& extras, std::string_view name, node* init,
                                       source_span span) {
    node* result = make(node_kind::scope, span);
    result->children.push_back(init);
    scope own;
    scope_guard guard(*this, own);
    ast::variable* bound = declare_hidden("bound value");
    bound->definite = bound->bound_once = true;
    result->variables.push_back(bound);
    const auto given = [&] {
        node* read = make(node_kind::local, span);
        read->var = bound;
        return read;
    };
    node* key = constant(text_of_name(name), span);
    node* stored = make(node_kind::set_local, span);
    stored->var = &extras;
    stored->children.push_back(
        builtin_node("put", span, {read_extras(extras, span), key, given()}));
    node* all = make(node_kind::sequence, span);
    all->children = {stored, given()};
    result->children.push_back(all);
    return with_scope(own, result, 1);
}

ast::node* analyzer::bind_in_extras(std::string_view name, node* init, source_span span) {
    return bind_in_extras_of(*extras_here(), name, init, span);
}

// ---------------------------------------------------------------- reach

/// A name that closed code does not define itself.
ast::node* analyzer::closed_reference(std::string_view name, source_span span) {
    const name_limits& limits = request_.limits;
    if (const builtin* row = find_builtin(name)) return constant(value::of_builtin(*row), span);
    if (const builtin* row = realm_.host().find_effect(name)) {
        if (limits.harness || limits.allows(name) || name == "sleep")
            return constant(value::of_builtin(*row), span);
        return out_of_reach(name, true, span);
    }
    if (find_special_form(name)) {
        return fail(span, "'" + std::string(name) + "' is a special form, not a value",
                    "put it at the head of a list, or wrap it in a lambda");
    }
    std::optional<std::uint32_t> index = realm_.find_prelude_global(name);
    if (limits.allows(name)) index = realm_.reference_index(name);
    if (index) {
        node* result = make(node_kind::global, span);
        result->index = *index;
        return result;
    }
    const bool exists = realm_.find_program_global(name).has_value() ||
                        realm_.host().find_operator(realm_.memory(), name).has_value();
    return out_of_reach(name, exists, span);
}

/// Raises when it is reached: code may hold a name in a part that never runs.
ast::node* analyzer::out_of_reach(std::string_view name, bool forbidden, source_span span) {
    return out_of_reach(name, value::boolean(forbidden), span);
}

/// `how`: false for a name that nobody knows, true for one that is forbidden, set! where it is only
/// to be assigned.
ast::node* analyzer::out_of_reach(std::string_view name, value how, source_span span) {
    node* result = make(node_kind::call, span);
    result->children = {constant(value::of_builtin(*find_builtin("%out-of-reach")), span),
                        constant(realm_.memory().symbol(name), span),
                        constant(std::move(how), span)};
    return result;
}

// ---------------------------------------------------------------- sandbox

/// (sandbox ((allow (name…)) (steps n) (memory bytes) (timeout s) (calls n)) body…). Its limits are
/// settings for the extent of the body; the machine keeps to them wherever the body leads.
static ast::node* form_sandbox(analyzer& a, const form& f, analyzer::position) {
    if (f.size() < 3 || !f[1].is_list()) {
        return a.fail(f.span, "sandbox: expects ((limit value)…) and a body",
                      "for example (sandbox ((steps 100000) (timeout 5)) (eval (parse text)))");
    }
    static constexpr std::array<std::string_view, 6> known{"allow",  "models",  "steps",
                                                           "memory", "timeout", "calls"};
    std::vector<ast::node*> parts;
    std::vector<std::string_view> seen;
    const form limits = f[1];
    for (std::size_t i = 0; i < limits.size() && !a.failed(); ++i) {
        const form one = limits[i];
        if (!one.is_list() || one.size() != 2 || !one[0].is_symbol()) {
            return a.fail(one.span,
                          "sandbox: a limit must be (name value), not " + shown(one.content));
        }
        const std::string name(one[0].name());
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            return a.fail(one.span, "sandbox: unknown limit '" + name + "'",
                          "known limits: allow, models, steps, memory, timeout, calls");
        }
        if (std::find(seen.begin(), seen.end(), name) != seen.end())
            return a.fail(one.span, "sandbox: the limit '" + name + "' is repeated");
        seen.push_back(one[0].name());
        parts.push_back(a.constant(make_string(a.realm().memory(), name), one[0].span));
        if (name != "allow" && name != "models") {
            parts.push_back(a.expression(one[1], a.inner()));
            continue;
        }
        const form names = one[1];
        bool good = names.is_list();
        const bool models = name == "models";
        for (std::size_t k = 0; good && k < names.size(); ++k) {
            good = names[k].is_symbol() || (models && names[k].content.is(kind::string));
            if (good && !models && a.is_internal(names[k].name()))
                a.fail_internal(names[k].name(), names.span);
        }
        if (!good) {
            return a.fail(names.span,
                          models
                              ? "sandbox: models must be a list of names of models and "
                                "providers, not " +
                                    shown(names.content)
                              : "sandbox: allow must be a list of names of tasks and tools, not " +
                                    shown(names.content),
                          models ? "for example (models (openai:gpt-5-mini))"
                                 : "for example (allow (user:summarise get_context))");
        }
        parts.push_back(a.constant(names.content, names.span));
    }
    if (a.failed()) return a.constant({}, f.span);
    ast::node* result =
        a.scope_node(scope_kind::sandbox, a.builtin_node("dict", f[1].span, std::move(parts)));
    ast::node* inside = a.make(node_kind::scope, f.span);
    ast::node* policy = a.make(node_kind::dynamic, f.span);
    policy->flag = static_cast<std::uint8_t>(dynamic_name::sandbox);
    policy->constant = a.realm().memory().symbol("sandbox");
    inside->children.push_back(policy);
    scope own;
    const analyzer::scope_guard guard(a, own);
    own.sandbox = a.declare_hidden(sandbox_name);
    own.sandbox->definite = own.sandbox->bound_once = true;
    inside->variables.push_back(own.sandbox);
    a.begin_sandbox();
    a.declare_binds(f, 2);
    inside->children.push_back(a.body(f, 2, a.inner()));
    a.end_sandbox();
    result->children.push_back(
        a.builtin_node("%sandbox-value", f.span, {a.with_scope(own, inside, 1)}));
    return result;
}

/// (%within-sandbox function body…): the body in the sandbox that made the function.
static ast::node* form_within_sandbox(analyzer& a, const form& f, analyzer::position) {
    if (f.size() < 3) return a.fail(f.span, "%within-sandbox: expects a function and a body");
    ast::node* result = a.scope_node(scope_kind::confined, a.expression(f[1], a.inner()));
    result->children.push_back(a.body(f, 2, a.inner()));
    return result;
}

// ---------------------------------------------------------------- import

/// The name of the text of a span.
const std::string& analyzer::file_of(source_span span) {
    const source_map& sources = realm_.sources();
    for (auto& [known, file] : files_) {
        const auto [begin, end] = std::minmax(known, span.begin);
        if (sources.text({begin, end}).size() != end - begin) continue;
        known = begin;
        return file;
    }
    return files_.emplace_back(span.begin, sources.place_of(span).file).second;
}

/// (import "file.heddle") or (import std/name).
static ast::node* form_import(analyzer& a, const form& f, analyzer::position) {
    if (f.size() != 2) {
        return a.fail(f.span,
                      "import: expects the path of a file, or std/NAME for a library; got " +
                          parts_of(f.size() - 1));
    }
    form what = f[1];
    if (what.is_list() && what.size() == 2 && what[0].is_symbol() && what[0].name() == "quote")
        what = what[1];
    const bool path = what.content.is(kind::string);
    if (!path && !(what.is_symbol() && what.name().starts_with("std/"))) {
        return a.fail(what.span,
                      "import: expects the path of a file as a string, or std/NAME, not " +
                          shown(what.content),
                      "for example (import \"helpers.heddle\") or (import std/lists)");
    }
    if (a.in_sandbox()) {
        return a.fail(f.span, "import: a sandbox cannot import", "import before the sandbox",
                      errc::permission);
    }
    const std::string& from = a.file_of(f.span);
    return a.call_library(path ? "%import-file" : "%import-library", f.span,
                          {a.constant(what.content, what.span),
                           a.constant(make_string(a.realm().memory(), from), f.span)});
}

namespace {

constexpr special_form rows[] = {
    {.name = "eval",
     .analyse = &form_eval,
     .usage = "(eval code)\n"
              "(eval code names)",
     .summary = "Runs data as code in the enclosing scope. With a map of names, it sees only the "
                "builtins and the map.",
     .example = "(let ((x 2)) (eval '(* x 21))) => 42\n"
                "(eval '(* x x) (dict 'x 7)) => 49",
     .family = "code"},
    {.name = "sandbox",
     .analyse = &form_sandbox,
     .encloses_from = 1,
     .values_outside = outer_values::all,
     .layout = {.form = shape::body, .beside_head = 1, .bindings = 1},
     .usage = "(sandbox ((limit value)…) body…)",
     .summary =
         "Runs code that is not trusted, such as code that a model wrote. The body reads the "
         "variables around it; what it calls, functions from outside included, can use "
         "only pure builtins and what (allow (name…)) names. Code that eval runs inside "
         "sees only what the body itself defines. Limits are allow, models, steps, memory "
         "(bytes), timeout (seconds) and calls; exceeding one is a LimitError, anything "
         "that is not allowed a PermissionError, and no catch inside takes either. Only "
         "data leaves a sandbox.",
     .example = "(sandbox ((steps 10000)) (eval '(+ 1 2))) => 3",
     .family = "code"},
    {.name = "import",
     .analyse = &form_import,
     .usage = "(import \"file.heddle\")\n"
              "(import std/name)",
     .summary = "Evaluates a file once per run, relative to the file that imports it, or a module "
                "of the standard library.",
     .family = "code"},
    {.name = "%within-sandbox", .analyse = &form_within_sandbox},
};

} // namespace

std::span<const special_form> eval_forms() noexcept { return rows; }

} // namespace heddle::lang
