#include "analyzer.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>

namespace heddle::lang {

using ast::node_kind;

namespace {

std::string shown(const value& v) {
    print_options options;
    options.max_bytes = 80;
    return print_value(v, options);
}

std::string count_of(std::size_t n) { return std::to_string(n); }

} // namespace

/// The table of special forms, sorted by name.
struct special_form_table {
    static constexpr std::array<analyzer::special_form, 28> rows{{
        {"%branch", &analyzer::form_branch},
        {"%join-scope", &analyzer::form_join_scope},
        {"and", &analyzer::form_and},
        {"begin", &analyzer::form_progn},
        {"bind", &analyzer::form_bind},
        {"call-atomic-task", &analyzer::form_call_atomic_task},
        {"case", &analyzer::form_case},
        {"cond", &analyzer::form_cond},
        {"defatom", &analyzer::form_defatom},
        {"define", &analyzer::form_define},
        {"do", &analyzer::form_progn},
        {"if", &analyzer::form_if},
        {"lambda", &analyzer::form_lambda},
        {"let", &analyzer::form_let},
        {"let*", &analyzer::form_let_star},
        {"letrec", &analyzer::form_letrec},
        {"loop", &analyzer::form_loop},
        {"or", &analyzer::form_or},
        {"parallel", &analyzer::form_parallel},
        {"progn", &analyzer::form_progn},
        {"quasiquote", &analyzer::form_quasiquote},
        {"quote", &analyzer::form_quote},
        {"set!", &analyzer::form_set},
        {"try", &analyzer::form_try},
        {"unless", &analyzer::form_unless},
        {"when", &analyzer::form_when},
        {"while", &analyzer::form_while},
        {"with", &analyzer::form_with},
    }};
};

analyzer::handler analyzer::find_special(std::string_view name) noexcept {
    const auto& rows = special_form_table::rows;
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const special_form& row) { return row.name == name; });
    return found == rows.end() || name.empty() ? nullptr : found->analyse;
}

ast::node* analyzer::form_quote(const form& f, position) {
    if (f.size() != 2) return fail(f.span, "quote: expects 1 part, got " + count_of(f.size() - 1));
    return constant(f[1].content, f.span);
}

ast::node* analyzer::form_quasiquote(const form& f, position) {
    if (f.size() != 2)
        return fail(f.span, "quasiquote: expects 1 part, got " + count_of(f.size() - 1));
    return quasi(f[1], 1);
}

/// `depth` counts the quasiquotes that are open.
ast::node* analyzer::quasi(const form& f, std::size_t depth) {
    if (!f.is_list() || f.size() == 0) return constant(f.content, f.span);
    if (f[0].is_symbol() && f.size() == 2) {
        const std::string_view head = f[0].name();
        if (head == "unquote" && depth == 1) return expression(f[1], inner());
        if (head == "unquote" || head == "quasiquote") {
            const std::size_t next = head == "unquote" ? depth - 1 : depth + 1;
            return builtin_node("list", f.span,
                                {constant(f[0].content, f[0].span), quasi(f[1], next)});
        }
        if (head == "unquote-splicing" && depth == 1) {
            return fail(f.span, "unquote-splicing: there is no list around it to splice into");
        }
    }
    std::vector<node*> parts; // lists to append
    std::vector<node*> run;   // elements of the list under way
    const auto flush = [&] {
        if (!run.empty()) parts.push_back(builtin_node("list", f.span, std::exchange(run, {})));
    };
    for (std::size_t i = 0; i < f.size(); ++i) {
        const form element = f[i];
        const bool splices = depth == 1 && element.is_list() && element.size() == 2 &&
                             element[0].is_symbol() && element[0].name() == "unquote-splicing";
        if (splices) {
            flush();
            parts.push_back(expression(element[1], inner()));
        } else {
            run.push_back(quasi(element, depth));
        }
    }
    flush();
    return builtin_node("append", f.span, std::move(parts));
}

ast::node* analyzer::form_if(const form& f, position where) {
    if (f.size() != 4) {
        return fail(f.span,
                    "if: expects 3 parts (condition, then, else), got " + count_of(f.size() - 1),
                    f.size() == 3 ? "for a branch without else write (when condition …)" : "");
    }
    node* made = make(node_kind::branch_if, f.span);
    made->children.push_back(expression(f[1], inner()));
    ++conditional_;
    made->children.push_back(expression(f[2], where));
    made->children.push_back(expression(f[3], where));
    --conditional_;
    return made;
}

ast::node* analyzer::form_cond(const form& f, position where) {
    // Built from the last clause to the first would analyse out of order; build the chain forwards.
    node* first = nullptr;
    node* last = nullptr;
    const std::uint32_t outer = conditional_;
    for (std::size_t i = 1; i < f.size() && !failed(); ++i) {
        const form clause = f[i];
        if (!clause.is_list() || clause.size() == 0) {
            fail(clause.span,
                 "cond: a clause must be (condition expression…), not " + shown(clause.content));
            break;
        }
        const bool is_else =
            clause[0].is_symbol() && clause[0].name() == "else" && !is_local("else");
        node* next = nullptr;
        if (is_else) {
            if (i + 1 != f.size()) fail(clause.span, "cond: else must be the last clause");
            if (clause.size() < 2) fail(clause.span, "cond: else has no expression");
            if (failed()) break;
            next = body(clause, 1, where);
        } else if (clause.size() == 1) {
            next = make(node_kind::any_of, clause.span);
            next->children.push_back(expression(clause[0], inner()));
        } else {
            next = make(node_kind::branch_if, clause.span);
            next->children.push_back(expression(clause[0], inner()));
            ++conditional_;
            next->children.push_back(body(clause, 1, where));
        }
        if (last) last->children.push_back(next);
        else first = next;
        last = next;
        if (is_else) {
            conditional_ = outer;
            return first;
        }
        ++conditional_;
    }
    conditional_ = outer;
    if (!last) return constant({}, f.span);
    last->children.push_back(constant({}, f.span));
    return first;
}

ast::node* analyzer::form_when(const form& f, position where) {
    if (f.size() < 3) return fail(f.span, "when: expects a condition and at least one expression");
    node* made = make(node_kind::branch_if, f.span);
    made->children.push_back(expression(f[1], inner()));
    ++conditional_;
    made->children.push_back(body(f, 2, where));
    --conditional_;
    made->children.push_back(constant({}, f.span));
    return made;
}

ast::node* analyzer::form_unless(const form& f, position where) {
    if (f.size() < 3)
        return fail(f.span, "unless: expects a condition and at least one expression");
    node* made = make(node_kind::branch_if, f.span);
    made->children.push_back(expression(f[1], inner()));
    made->children.push_back(constant({}, f.span));
    ++conditional_;
    made->children.push_back(body(f, 2, where));
    --conditional_;
    return made;
}

ast::node* analyzer::form_case(const form& f, position where) {
    if (f.size() < 2) return fail(f.span, "case: expects a value and clauses");
    scope own;
    scope_guard guard(*this, own);
    node* key_value = nullptr;
    {
        scope* inside = std::exchange(scope_, own.outer);
        key_value = expression(f[1], inner());
        scope_ = inside;
    }
    ast::variable* key = declare("case value", own); // no symbol has this name
    key->definite = key->bound_once = true;
    node* made = make(node_kind::scope, f.span);
    made->variables.push_back(key);
    made->children.push_back(key_value);
    node* first = nullptr;
    node* last = nullptr;
    bool complete = false;
    ++conditional_;
    for (std::size_t i = 2; i < f.size() && !failed(); ++i) {
        const form clause = f[i];
        if (!clause.is_list() || clause.size() < 2) {
            fail(clause.span,
                 "case: a clause must be (key expression…), not " + shown(clause.content));
            break;
        }
        node* next = nullptr;
        if (clause[0].is_symbol() && clause[0].name() == "else") {
            if (i + 1 != f.size()) fail(clause.span, "case: else must be the last clause");
            next = body(clause, 1, where);
            complete = true;
        } else {
            // A list of keys, as in Scheme, or one key.
            node* any = make(node_kind::any_of, clause.span);
            const form keys = clause[0];
            const std::size_t count = keys.is_list() ? keys.size() : 1;
            for (std::size_t k = 0; k < count; ++k) {
                node* subject = make(node_kind::local, f[1].span);
                subject->var = key;
                const form one = keys.is_list() ? keys[k] : keys;
                any->children.push_back(
                    builtin_node("equal?", one.span, {subject, constant(one.content, one.span)}));
            }
            if (any->children.empty())
                any->children.push_back(constant(value::boolean(false), clause.span));
            next = make(node_kind::branch_if, clause.span);
            next->children = {any, body(clause, 1, where)};
        }
        if (last) last->children.push_back(next);
        else first = next;
        last = next;
    }
    --conditional_;
    if (!complete && last) last->children.push_back(constant({}, f.span));
    made->children.push_back(first ? first : constant({}, f.span));
    return with_scope(own, made, 1);
}

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
        ast::variable* var = declare(bindings[i][0].name(), own);
        var->definite = var->bound_once = true;
        made->variables.push_back(var);
    }
    const std::size_t bound = own.variables.size();
    for (std::size_t i = 2; i < f.size(); ++i) declare_binds(f[i]);
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
    scope* outer = scope_;
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
        scope& own = scopes.emplace_back();
        own.outer = scope_;
        own.owner = lambda_;
        own.loop_depth = loop_depth_;
        own.conditional = conditional_;
        scope_ = &own;
        ast::variable* var = declare(one[0].name(), own);
        var->definite = var->bound_once = true;
        level->variables.push_back(var);
        if (last) last->children.push_back(level);
        else first = level;
        last = level;
    }
    if (last && !failed()) {
        for (std::size_t i = 2; i < f.size(); ++i) declare_binds(f[i]);
        last->children.push_back(body(f, 2, where));
        // What inner initial values bound belongs to the level they stood in.
        node* level = first;
        for (scope& own : scopes) {
            with_scope(own, level, 1);
            level = level->children.back();
        }
    }
    scope_ = outer;
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
        declare(one[0].name(), own);
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
    for (std::size_t i = 2; i < f.size(); ++i) declare_binds(f[i]);
    all->children.push_back(body(f, 2, where));
    made->children.push_back(all);
    return with_scope(own, made, 0);
}

ast::node* analyzer::named_let(const form& f, position where) {
    if (f.size() < 4 || !f[2].is_list()) {
        return fail(f.span, "let: a named let is (let name ((variable value)…) body…)");
    }
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
    scope own;
    scope_guard guard(*this, own);
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        ast::variable* var = declare(bindings[i][0].name(), own);
        var->definite = var->bound_once = true;
        label.variables.push_back(var);
    }
    const std::size_t bound = own.variables.size();
    for (std::size_t i = 3; i < f.size(); ++i) declare_binds(f[i]);
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
    ast::variable* self = declare(f[1].name(), own);
    value parameters = value::empty_list();
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        parameters = list_push_back(world_.memory(), std::move(parameters), bindings[i][0].content);
    }
    node* bound = make(node_kind::bind_local, f.span);
    bound->var = self;
    node* closure = make(node_kind::make_lambda, f.span);
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
    if (!check_name(f[1], "bind", "the name")) return constant({}, f.span);
    if (f.size() > 3) {
        node* made = make(node_kind::scope, f.span);
        made->children.push_back(expression(f[2], inner()));
        scope own;
        scope_guard guard(*this, own);
        ast::variable* var = declare(f[1].name(), own);
        var->definite = var->bound_once = true;
        made->variables.push_back(var);
        for (std::size_t i = 3; i < f.size(); ++i) declare_binds(f[i]);
        made->children.push_back(body(f, 3, where));
        return with_scope(own, made, 1);
    }
    ast::variable* var = bind_here(f[1].name());
    if (!var) {
        node* made = make(node_kind::define_global, f.span);
        made->index = world_.global_index(f[1].name());
        defined_.emplace(f[1].name());
        const form init = f[2];
        if (init.is_list() && init.size() > 2 && init[0].is_symbol() &&
            init[0].name() == "lambda" && init[1].is_list()) {
            node* closure = make(node_kind::make_lambda, init.span);
            closure->code = lambda_of(init, init[1], 2, std::string(f[1].name()));
            made->children.push_back(closure);
        } else {
            made->children.push_back(expression(init, inner()));
        }
        return made;
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
    if (signature.size() == 0 || !check_name(signature[0], "define", "the name of a function")) {
        return fail(f.span, "define: the function has no name");
    }
    const std::string name(signature[0].name());
    const form parameters{list_slice(signature.content, 1, signature.size()), signature.span};
    ast::variable* var = bind_here(name);
    node* made = make(var ? node_kind::bind_local : node_kind::define_global, f.span);
    made->var = var;
    if (!var) {
        made->index = world_.global_index(name);
        defined_.emplace(name);
    }
    node* closure = make(node_kind::make_lambda, f.span);
    closure->code = lambda_of(f, parameters, 2, name, var && !var->bound_once ? var : nullptr);
    made->children.push_back(closure);
    if (var) note_bound(*var);
    return made;
}

ast::node* analyzer::form_set(const form& f, position) {
    if (f.size() != 3)
        return fail(f.span,
                    "set!: expects a name and a value, got " + count_of(f.size() - 1) + " parts");
    if (!check_name(f[1], "set!", "the name")) return constant({}, f.span);
    node* target = reference(f[1]);
    if (failed()) return target;
    node* init = expression(f[2], inner());
    if (target->kind == node_kind::local) {
        target->var->reassigned = true;
        node* made = make(node_kind::set_local, f.span);
        made->var = target->var;
        made->children.push_back(init);
        if (!target->children.empty()) made->children.push_back(target); // checked to be bound
        return made;
    }
    if (target->kind != node_kind::global) {
        return fail(f[1].span, "set!: '" + std::string(f[1].name()) + "' cannot be assigned",
                    "define a variable of your own with bind or let");
    }
    node* made = make(node_kind::update_global, f.span);
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

ast::node* analyzer::form_progn(const form& f, position where) {
    if (f.size() == 1) return constant(value::empty_list(), f.span);
    return body(f, 1, where);
}

ast::node* analyzer::form_and(const form& f, position where) {
    if (f.size() == 1) return constant(value::boolean(true), f.span);
    if (f.size() == 2) return expression(f[1], where);
    node* made = make(node_kind::all_of, f.span);
    for (std::size_t i = 1; i < f.size(); ++i) {
        if (i == 2) ++conditional_;
        made->children.push_back(expression(f[i], i + 1 == f.size() ? where : inner()));
    }
    --conditional_;
    return made;
}

ast::node* analyzer::form_or(const form& f, position where) {
    if (f.size() == 1) return constant(value::boolean(false), f.span);
    if (f.size() == 2) return expression(f[1], where);
    node* made = make(node_kind::any_of, f.span);
    for (std::size_t i = 1; i < f.size(); ++i) {
        if (i == 2) ++conditional_;
        made->children.push_back(expression(f[i], i + 1 == f.size() ? where : inner()));
    }
    --conditional_;
    return made;
}

ast::node* analyzer::form_loop(const form& f, position) {
    if (f.size() != 3)
        return fail(f.span, "loop: expects 2 parts (count, body), got " + count_of(f.size() - 1));
    node* made = make(node_kind::repeat, f.span);
    made->children.push_back(expression(f[1], inner()));
    ++conditional_;
    ++loop_depth_;
    made->children.push_back(expression(f[2], inner()));
    --loop_depth_;
    --conditional_;
    return made;
}

ast::node* analyzer::form_while(const form& f, position) {
    if (f.size() < 3) return fail(f.span, "while: expects a condition and at least one expression");
    node* made = make(node_kind::while_loop, f.span);
    ++loop_depth_;
    made->children.push_back(expression(f[1], inner()));
    ++conditional_;
    made->children.push_back(body(f, 2, inner()));
    --conditional_;
    --loop_depth_;
    return made;
}

ast::node* analyzer::form_try(const form& f, position) {
    node* made = make(node_kind::protect, f.span);
    std::size_t end = 1;
    const auto headed = [](const form& part, std::string_view name) {
        return part.is_list() && part.size() != 0 && part[0].is_symbol() && part[0].name() == name;
    };
    while (end < f.size() && !headed(f[end], "catch") && !headed(f[end], "finally")) ++end;
    if (end == 1) return fail(f.span, "try: the body is empty");
    if (end == f.size()) return fail(f.span, "try: expects a (catch (e) …) or a (finally …)");
    ++conditional_;
    node* all = make(node_kind::sequence, f.span);
    for (std::size_t i = 1; i < end; ++i) all->children.push_back(expression(f[i], inner()));
    made->children.push_back(all);
    for (std::size_t i = end; i < f.size() && !failed(); ++i) {
        const form part = f[i];
        if (headed(part, "finally")) {
            if (i + 1 != f.size()) fail(part.span, "try: finally must be the last part");
            if (part.size() < 2) fail(part.span, "try: finally is empty");
            if (!failed()) made->cleanup = body(part, 1, inner());
            continue;
        }
        const bool shape = headed(part, "catch") && part.size() >= 3 && part[1].is_list() &&
                           part[1].size() >= 1 && part[1].size() <= 2 && part[1][0].is_symbol();
        if (!shape) {
            fail(part.span,
                 "try: expected (catch (e) expression…) or (catch (e 'Kind) expression…), not " +
                     shown(part.content));
            break;
        }
        ast::catch_clause clause;
        if (part[1].size() == 2) clause.wanted_kind = expression(part[1][1], inner());
        scope own;
        scope_guard guard(*this, own);
        clause.name = declare(part[1][0].name(), own);
        clause.name->definite = clause.name->bound_once = true;
        for (std::size_t k = 2; k < part.size(); ++k) declare_binds(part[k]);
        node* inside = make(node_kind::scope, part.span);
        inside->children.push_back(body(part, 2, inner()));
        clause.body = with_scope(own, inside, 1);
        made->catches.push_back(clause);
    }
    --conditional_;
    return made;
}

ast::node* analyzer::form_with(const form& f, position) {
    if (f.size() < 3 || !f[1].is_list())
        return fail(f.span, "with: expects ((setting value)…) and a body");
    static constexpr std::array<std::string_view, 11> known{
        "concurrency", "timeout",    "deadline",  "model", "provider",  "temperature",
        "retries",     "budget-usd", "max-calls", "cache", "on-failure"};
    std::vector<node*> parts;
    const form settings = f[1];
    for (std::size_t i = 0; i < settings.size() && !failed(); ++i) {
        const form one = settings[i];
        if (!one.is_list() || one.size() != 2 || !one[0].is_symbol()) {
            return fail(one.span,
                        "with: a setting must be (name value), not " + shown(one.content));
        }
        if (std::find(known.begin(), known.end(), one[0].name()) == known.end()) {
            return fail(one.span, "with: unknown setting '" + std::string(one[0].name()) + "'",
                        "known settings: concurrency, timeout, deadline, model, provider, "
                        "temperature, retries, "
                        "budget-usd, max-calls, cache, on-failure");
        }
        parts.push_back(constant(make_string(world_.memory(), one[0].name()), one[0].span));
        parts.push_back(expression(one[1], inner()));
    }
    node* made = make(node_kind::with_settings, f.span);
    made->children.push_back(builtin_node("dict", f[1].span, std::move(parts)));
    made->children.push_back(body(f, 2, inner()));
    return made;
}

/// The host parses the clauses (it knows templates); the language knows the name and, for calls by
/// clause, the parameters.
ast::node* analyzer::form_defatom(const form& f, position) {
    if (f.size() < 2)
        return fail(f.span, "defatom: expects a name, (params …) and (instructions \"…\")");
    if (!check_name(f[1], "defatom", "the name")) return constant({}, f.span);
    const std::string name(f[1].name());
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
    const builtin* row = world_.host().find_effect("%defatom");
    if (!row) return fail(f.span, "defatom: this host has no task system");
    node* registered = make(node_kind::effect_call, f.span);
    registered->row = row;
    registered->children.push_back(constant(f.content, f.span));
    node* bound = nullptr;
    if (ast::variable* var = bind_here(name)) {
        bound = make(node_kind::bind_local, f.span);
        bound->var = var;
        var->is_task = true;
        var->task_inputs = inputs;
        bound->children.push_back(registered);
        note_bound(*var);
    } else {
        bound = make(node_kind::define_global, f.span);
        bound->index = world_.global_index(name);
        bound->children.push_back(registered);
        defined_.emplace(name);
        defined_tasks_[name] = inputs;
    }
    node* all = make(node_kind::sequence, f.span);
    all->children = {bound, constant(f[1].content, f.span)};
    return all;
}

ast::node* analyzer::form_call_atomic_task(const form& f, position) {
    if (f.size() < 2)
        return fail(f.span, "call-atomic-task: expects a task and clauses (name expression)");
    return clause_call(f, expression(f[1], inner()), 2);
}

ast::node* analyzer::form_parallel(const form& f, position) {
    if (f.size() == 1) return constant(value::empty_list(), f.span);
    node* made = make(node_kind::join_scope, f.span);
    scope own;
    scope_guard guard(*this, own);
    ast::variable* group = declare("parallel group", own); // no symbol has this name
    group->definite = group->bound_once = true;
    made->variables.push_back(group);
    made->constant = make_string(world_.memory(), "in part");
    made->children.push_back(
        constant(value::integer(static_cast<std::int64_t>(f.size() - 1)), f.span));
    node* all = make(node_kind::sequence, f.span);
    for (std::size_t i = 1; i < f.size(); ++i) {
        node* one = make(node_kind::branch, f[i].span);
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
    ast::variable* group = declare(f[1].name(), own);
    group->definite = group->bound_once = true;
    made->variables.push_back(group);
    made->children.push_back(body(f, 5, inner()));
    return with_scope(own, made, 1);
}

/// (%branch join slot callee argument…)
ast::node* analyzer::form_branch(const form& f, position) {
    if (f.size() < 4)
        return fail(f.span, "%branch: expects a join, a slot, a function and its arguments");
    node* made = make(node_kind::branch, f.span);
    for (std::size_t i = 1; i < f.size(); ++i) made->children.push_back(expression(f[i], inner()));
    return made;
}

} // namespace heddle::lang
