// let and its kin, bind, define, set!, lambda.
#include "analyzer.hpp"
#include "lang/print/form_text.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>

namespace heddle::lang {

using ast::node_kind;

ast::node* analyzer::form_let(const form& f, position where) {
    if (f.size() < 2) return fail(f.span, "let: expects bindings and a body");
    if (f[1].is_symbol()) return named_let(f, where);
    if (!f[1].is_list())
        return fail(f[1].span,
                    "let: bindings must be a list of (name value), not " + shown(f[1].content));
    if (f.size() < 3)
        return fail(f.span, "let: the body is empty",
                    "add at least one expression after the bindings");
    node* made = make(node_kind::scope, f.span);
    const form bindings = f[1];
    for (std::size_t i = 0; i < bindings.size() && !failed(); ++i) {
        const form one = bindings[i];
        if (!one.is_list() || one.size() != 2) {
            return fail(one.span, "let: a binding must be (name value), not " + shown(one.content));
        }
        if (!check_name(one[0], "let", "the name of a binding")) return made;
        made->children.push_back(expression(one[1], inner()));
    }
    scope own;
    scope_guard guard(*this, own);
    for (std::size_t i = 0; i < bindings.size() && !failed(); ++i) {
        if (!check_new_name(bindings[i][0], "let")) return made;
        ast::variable* var = declare(bindings[i][0].name(), bindings[i][0].span);
        var->definite = var->bound_once = true;
        made->variables.push_back(var);
    }
    const std::size_t bound = own.variables.size();
    declare_binds(f, 2);
    made->children.push_back(body(f, 2, where));
    return with_scope(own, made, bound);
}

ast::node* analyzer::form_let_star(const form& f, position where) {
    if (f.size() < 2 || !f[1].is_list())
        return fail(f.span, "let*: bindings must be a list of (name value)");
    if (f.size() < 3)
        return fail(f.span, "let*: the body is empty",
                    "add at least one expression after the bindings");
    const form bindings = f[1];
    if (bindings.size() == 0) return form_let(f, where);
    std::deque<scope> scopes;
    const scope_closer closing(*this); // before the scopes go, also by an exception
    node* first = nullptr;
    node* last = nullptr;
    for (std::size_t i = 0; i < bindings.size() && !failed(); ++i) {
        const form one = bindings[i];
        if (!one.is_list() || one.size() != 2) {
            fail(one.span, "let*: a binding must be (name value), not " + shown(one.content));
            break;
        }
        if (!check_name(one[0], "let*", "the name of a binding")) break;
        node* level = make(node_kind::scope, f.span);
        level->children.push_back(expression(one[1], inner()));
        open(scopes.emplace_back());
        ast::variable* var = declare(one[0].name(), one[0].span);
        var->definite = var->bound_once = true;
        level->variables.push_back(var);
        if (last) last->children.push_back(level);
        else first = level;
        last = level;
    }
    if (last && !failed()) {
        declare_binds(f, 2);
        last->children.push_back(body(f, 2, where));
        // What inner initial values bound belongs to the level they stood in.
        node* level = first;
        for (scope& own : scopes) {
            with_scope(own, level, 1);
            level = level->children.back();
        }
    }
    return first ? first : constant({}, f.span);
}

ast::node* analyzer::form_letrec(const form& f, position where) {
    if (f.size() < 2 || !f[1].is_list())
        return fail(f.span, "letrec: bindings must be a list of (name value)");
    if (f.size() < 3)
        return fail(f.span, "letrec: the body is empty",
                    "add at least one expression after the bindings");
    scope own;
    scope_guard guard(*this, own);
    const form bindings = f[1];
    for (std::size_t i = 0; i < bindings.size() && !failed(); ++i) {
        const form one = bindings[i];
        if (!one.is_list() || one.size() != 2) {
            return fail(one.span,
                        "letrec: a binding must be (name value), not " + shown(one.content));
        }
        if (!check_name(one[0], "letrec", "the name of a binding")) break;
        if (!check_new_name(one[0], "letrec")) break;
        declare(one[0].name(), one[0].span);
    }
    node* made = make(node_kind::scope, f.span);
    node* all = make(node_kind::sequence, f.span);
    for (std::size_t i = 0; i < bindings.size() && !failed(); ++i) {
        const form one = bindings[i];
        node* bound = make(node_kind::bind_local, one.span);
        bound->var = own.variables[i];
        bound->children.push_back(initial_value(one[1], own.variables[i]));
        note_bound(*own.variables[i]);
        all->children.push_back(bound);
    }
    declare_binds(f, 2);
    all->children.push_back(body(f, 2, where));
    made->children.push_back(all);
    return with_scope(own, made, 0);
}

ast::node* analyzer::named_let(const form& f, position where) {
    if (f.size() < 4 || !f[2].is_list()) {
        return fail(f.span, "let: a named let is (let name ((variable value)…) body…)");
    }
    if (!check_name(f[1], "let", "the name of a named let")) return constant({}, f.span);
    const form bindings = f[2];
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        const form one = bindings[i];
        if (!one.is_list() || one.size() != 2) {
            return fail(one.span, "let: a binding must be (name value), not " + shown(one.content));
        }
        if (!check_name(one[0], "let", "the name of a binding")) return constant({}, f.span);
    }
    // Tried as a loop first; reading the body again when that fails must not double with each
    // level of nesting, so only a few levels try.
    if (tentative_loops_ < 4) {
        ++tentative_loops_;
        node* loop = named_let_as_loop(f, where);
        --tentative_loops_;
        if (failed() || !loop->label->escaped) return loop;
    }
    return named_let_as_function(f, where);
}

ast::node* analyzer::named_let_as_loop(const form& f, position where) {
    ast::loop_label& label = arena_.labels.emplace_back();
    label.name = f[1].name();
    label.owner = lambda_;
    node* made = make(node_kind::named_loop, f.span);
    made->label = &label;
    const form bindings = f[2];
    for (std::size_t i = 0; i < bindings.size(); ++i)
        made->children.push_back(expression(bindings[i][1], inner()));
    scope named;
    scope_guard outer_guard(*this, named);
    named.label = &label;
    names_.add(label.name, {.in = &named, .label = &label});
    scope own;
    scope_guard guard(*this, own);
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        if (!check_new_name(bindings[i][0], "let")) return made;
        ast::variable* var = declare(bindings[i][0].name(), bindings[i][0].span);
        var->definite = var->bound_once = true;
        label.variables.push_back(var);
    }
    const std::size_t bound = own.variables.size();
    declare_binds(f, 3);
    loops_.push_back(&label);
    const std::size_t floor = std::min(where.loops_from, loops_.size() - 1);
    made->children.push_back(body(f, 3, {where.tail, floor}));
    loops_.pop_back();
    return with_scope(own, made, bound);
}

ast::node* analyzer::named_let_as_function(const form& f, position where) {
    const form bindings = f[2];
    node* call = make(node_kind::call, f.span);
    std::vector<node*> values;
    for (std::size_t i = 0; i < bindings.size(); ++i)
        values.push_back(expression(bindings[i][1], inner()));
    scope own;
    scope_guard guard(*this, own);
    ast::variable* self = declare(f[1].name(), f[1].span);
    self->names_let = true;
    value parameters = value::empty_list();
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        parameters = list_push_back(world_.memory(), std::move(parameters), bindings[i][0].content);
    }
    node* bound = make(node_kind::bind_local, f.span);
    bound->var = self;
    node* closure = make(node_kind::make_lambda, f.span);
    named_let_next_ = true;
    closure->code = lambda_of(f, {parameters, bindings.span}, 3, std::string(f[1].name()), self);
    bound->children.push_back(closure);
    self->definite = self->bound_once = true;
    node* name = make(node_kind::local, f[1].span);
    name->var = self;
    call->children.push_back(name);
    for (node* v : values) call->children.push_back(v);
    node* all = make(node_kind::sequence, f.span);
    all->children = {bound, call};
    node* made = make(node_kind::scope, f.span);
    made->children.push_back(all);
    (void)where;
    return with_scope(own, made, 0);
}

/// The value that a variable is bound to; a lambda learns the variable's name.
ast::node* analyzer::initial_value(const form& f, ast::variable* var) {
    const bool function = f.is_list() && f.size() > 2 && f[0].is_symbol() &&
                          f[0].name() == "lambda" && !is_local("lambda") && f[1].is_list();
    if (!function) return expression(f, inner());
    node* closure = make(node_kind::make_lambda, f.span);
    closure->code = lambda_of(f, f[1], 2, var->name, var->bound_once ? nullptr : var);
    return closure;
}

/// After the value of a bind was analysed: the variable is bound from here on.
void analyzer::note_bound(ast::variable& var) {
    if (var.bound_once || loop_depth_ != var.loop_depth) var.reassigned = true;
    var.bound_once = true;
    if (var.owner == lambda_ && scope_ && conditional_ == scope_->conditional) var.definite = true;
}

ast::node* analyzer::form_bind(const form& f, position where) {
    if (f.size() < 3)
        return fail(f.span,
                    "bind: expects a name and a value, got " + count_of(f.size() - 1) + " parts");
    const form given = f[2];
    const bool function =
        given.is_list() && given.size() > 2 && given[0].is_symbol() && given[0].name() == "lambda";
    const bool good = function ? check_function_name(f[1], "bind", "the name of a function")
                               : check_name(f[1], "bind", "the name");
    if (!good) return constant({}, f.span);
    if (f.size() > 3) {
        node* made = make(node_kind::scope, f.span);
        made->children.push_back(expression(f[2], inner()));
        scope own;
        scope_guard guard(*this, own);
        ast::variable* var = declare(f[1].name(), f[1].span);
        var->definite = var->bound_once = true;
        made->variables.push_back(var);
        declare_binds(f, 3);
        made->children.push_back(body(f, 3, where));
        return with_scope(own, made, 1);
    }
    ast::variable* var = bind_here(f[1].name(), f[1].span);
    if (!var) {
        const std::string name(f[1].name());
        defined_.insert(name);
        const form init = f[2];
        if (init.is_list() && init.size() > 2 && init[0].is_symbol() &&
            init[0].name() == "lambda" && init[1].is_list()) {
            define_early(f);
            node* closure = make(node_kind::make_lambda, init.span);
            closure->code = lambda_of(init, init[1], 2, name);
            return define_here(name, f.span, closure);
        }
        return define_here(name, f.span, expression(init, inner()));
    }
    node* made = make(node_kind::bind_local, f.span);
    made->var = var;
    made->children.push_back(initial_value(f[2], var));
    note_bound(*var);
    return made;
}

ast::node* analyzer::form_define(const form& f, position where) {
    if (f.size() < 3)
        return fail(f.span,
                    "define: expects (define name value) or (define (name parameter…) body…)");
    if (!f[1].is_list()) {
        if (f.size() != 3)
            return fail(f.span, "define: expects one value, got " + count_of(f.size() - 2));
        return form_bind(f, where);
    }
    const form signature = f[1];
    if (signature.size() == 0) return fail(f.span, "define: the function has no name");
    if (!check_function_name(signature[0], "define", "the name of a function"))
        return constant({}, f.span);
    const std::string name(signature[0].name());
    const form parameters{list_slice(signature.content, 1, signature.size()), signature.span};
    ast::variable* var = bind_here(name, signature[0].span);
    if (!var) {
        defined_.insert(name);
        define_early(f);
    }
    node* closure = make(node_kind::make_lambda, f.span);
    closure->code = lambda_of(f, parameters, 2, name, var && !var->bound_once ? var : nullptr);
    if (!var) return define_here(name, f.span, closure);
    node* made = make(node_kind::bind_local, f.span);
    made->var = var;
    made->children.push_back(closure);
    note_bound(*var);
    return made;
}

ast::node* analyzer::form_set(const form& f, position) {
    if (f.size() != 3)
        return fail(f.span,
                    "set!: expects a name and a value, got " + count_of(f.size() - 1) + " parts");
    if (!check_name(f[1], "set!", "the name")) return constant({}, f.span);
    if (scope_ && scope_->nearest_extras()) {
        // Which binding is the nearest is known when it runs; the value is computed once.
        node* made = make(node_kind::scope, f.span);
        made->children.push_back(expression(f[2], inner()));
        scope own;
        scope_guard guard(*this, own);
        ast::variable* init = declare_hidden("assigned value");
        init->definite = init->bound_once = true;
        made->variables.push_back(init);
        node* given = make(node_kind::local, f[2].span);
        given->var = init;
        made->children.push_back(assign_from(f[1].name(), f.span, own.outer, given));
        return with_scope(own, made, 1);
    }
    return assign_from(f[1].name(), f.span, scope_, expression(f[2], inner()));
}

ast::node* analyzer::fail_outside(std::string_view name, source_span span) {
    return fail(span, "set!: '" + std::string(name) + "' is outside of the sandbox",
                "give the new value as the value of the sandbox", errc::permission);
}

/// `set!` of the nearest binding of `name` from `start` outwards. `when_it_runs`: a definition that
/// eval has made may come before it, so what cannot be assigned raises only when it is reached.
ast::node* analyzer::assign_from(std::string_view name, source_span span, scope* start, node* init,
                                 bool left_sandbox, bool when_it_runs) {
    const name_binding* bound = names_.find(name, start);
    const std::uint32_t depth = bound ? bound->in->depth : 0;
    const auto leaves = [&](std::uint32_t to) { // a sandbox, on the way from `start` outwards
        const scope* body = start ? start->nearest_sandbox() : nullptr;
        return left_sandbox || (body && body->depth > to);
    };
    if (scope* around = start ? start->nearest_extras() : nullptr;
        around && around->depth > depth) {
        node* made = make(node_kind::branch_if, span);
        node* key = constant(make_string(world_.memory(), name), span);
        const bool left = leaves(around->depth);
        made->children = {
            builtin_node("has-key?", span, {read_extras(*around->extras, span), key}),
            left ? out_of_reach(name, world_.memory().symbol("set!"), span)
                 : bind_in_extras_of(*around->extras, name, init, span),
            assign_from(name, span, around->outer, init, left || around->sandbox != nullptr, true)};
        return made;
    }
    left_sandbox = leaves(depth);
    node* target = reference_from(name, span, start);
    if (failed()) return target;
    const auto outside = [&] {
        return when_it_runs ? out_of_reach(name, world_.memory().symbol("set!"), span)
                            : fail_outside(name, span);
    };
    if (target->kind == node_kind::call && (when_it_runs || !left_sandbox)) {
        // Raises: for a name that is there outside, or for one that nobody knows.
        const bool there = target->children[2]->constant.truthy();
        return there ? out_of_reach(name, world_.memory().symbol("set!"), span) : target;
    }
    if (left_sandbox) return outside();
    if (target->kind == node_kind::local) {
        target->var->reassigned = true;
        node* made = make(node_kind::set_local, span);
        made->var = target->var;
        made->children.push_back(init);
        if (!target->children.empty()) made->children.push_back(target); // checked to be bound
        return made;
    }
    const bool global = target->kind == node_kind::global;
    // What a sandbox allows can be called; it is not the sandbox's own.
    if (global && request_.limits.closed) return outside();
    if (!global || (world_.is_library_global(target->index) && !request_.internal_names)) {
        return fail(span, "set!: '" + std::string(name) + "' cannot be assigned",
                    "define a variable of your own with bind or let");
    }
    node* made = make(node_kind::update_global, span);
    made->index = target->index;
    made->children.push_back(init);
    return made;
}

ast::node* analyzer::form_lambda(const form& f, position) {
    if (f.size() < 2) return fail(f.span, "lambda: expects a parameter list and a body");
    if (!f[1].is_list())
        return fail(f[1].span,
                    "lambda: the parameters must be a list of symbols, not " + shown(f[1].content));
    if (f.size() < 3)
        return fail(f.span, "lambda: the body is empty",
                    "add at least one expression after the parameters");
    node* made = make(node_kind::make_lambda, f.span);
    made->code = lambda_of(f, f[1], 2, {});
    return made;
}

} // namespace heddle::lang
