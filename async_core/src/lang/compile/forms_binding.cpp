// let and its kin, bind, define, set!, lambda.
#include "analyzer_scopes.hpp"
#include "lang/print/form_text.hpp"
#include "special_form.hpp"

#include <heddle/lang/list.hpp>

#include <algorithm>
#include <array>

namespace heddle::lang {

using ast::node_kind;

/// The value that a variable is bound to; a lambda learns the variable's name.
static ast::node* initial_value(analyzer& a, const form& f, ast::variable* var) {
    const bool function = f.is_list() && f.size() > 2 && f[0].is_symbol() &&
                          f[0].name() == "lambda" && !a.is_local("lambda") && f[1].is_list();
    if (!function) return a.expression(f, a.inner());
    ast::node* closure = a.make(node_kind::make_lambda, f.span);
    closure->code = a.lambda_of(f, f[1], 2, var->name, var->bound_once ? nullptr : var);
    return closure;
}

static ast::node* form_let(analyzer& a, const form& f, analyzer::position where) {
    if (f.size() < 2) return a.fail(f.span, "let: expects bindings and a body");
    if (f[1].is_symbol()) return a.named_let(f, where);
    if (!f[1].is_list())
        return a.fail(f[1].span,
                      "let: bindings must be a list of (name value), not " + shown(f[1].content));
    if (f.size() < 3)
        return a.fail(f.span, "let: the body is empty",
                      "add at least one expression after the bindings");
    ast::node* result = a.make(node_kind::scope, f.span);
    const form bindings = f[1];
    for (std::size_t i = 0; i < bindings.size() && !a.failed(); ++i) {
        const form one = bindings[i];
        if (!one.is_list() || one.size() != 2) {
            return a.fail(one.span,
                          "let: a binding must be (name value), not " + shown(one.content));
        }
        if (!a.check_name(one[0], "let", "the name of a binding")) return result;
        result->children.push_back(a.expression(one[1], a.inner()));
    }
    scope own;
    const analyzer::scope_guard guard(a, own);
    for (std::size_t i = 0; i < bindings.size() && !a.failed(); ++i) {
        if (!a.check_new_name(bindings[i][0], "let")) return result;
        ast::variable* var = a.declare(bindings[i][0].name(), bindings[i][0].span);
        var->definite = var->bound_once = true;
        result->variables.push_back(var);
    }
    const std::size_t bound = own.variables.size();
    a.declare_binds(f, 2);
    result->children.push_back(a.body(f, 2, where));
    return a.with_scope(own, result, bound);
}

static ast::node* form_let_star(analyzer& a, const form& f, analyzer::position where) {
    if (f.size() < 2 || !f[1].is_list())
        return a.fail(f.span, "let*: bindings must be a list of (name value)");
    if (f.size() < 3)
        return a.fail(f.span, "let*: the body is empty",
                      "add at least one expression after the bindings");
    const form bindings = f[1];
    if (bindings.size() == 0) return form_let(a, f, where);
    std::deque<scope> scopes;
    const analyzer::scope_closer closing(a); // before the scopes go, also by an exception
    ast::node* first = nullptr;
    ast::node* last = nullptr;
    for (std::size_t i = 0; i < bindings.size() && !a.failed(); ++i) {
        const form one = bindings[i];
        if (!one.is_list() || one.size() != 2) {
            a.fail(one.span, "let*: a binding must be (name value), not " + shown(one.content));
            break;
        }
        if (!a.check_name(one[0], "let*", "the name of a binding")) break;
        ast::node* level = a.make(node_kind::scope, f.span);
        if (i != 0) a.declare_binds_in(one[1]);
        level->children.push_back(a.expression(one[1], a.inner()));
        a.open(scopes.emplace_back());
        ast::variable* var = a.declare(one[0].name(), one[0].span);
        var->definite = var->bound_once = true;
        level->variables.push_back(var);
        if (last) last->children.push_back(level);
        else first = level;
        last = level;
    }
    if (last && !a.failed()) {
        a.declare_binds(f, 2);
        last->children.push_back(a.body(f, 2, where));
        // What inner initial values bound belongs to the level of these values.
        ast::node* level = first;
        for (scope& own : scopes) {
            a.with_scope(own, level, 1);
            level = level->children.back();
        }
    }
    return first ? first : a.constant({}, f.span);
}

static ast::node* form_letrec(analyzer& a, const form& f, analyzer::position where) {
    if (f.size() < 2 || !f[1].is_list())
        return a.fail(f.span, "letrec: bindings must be a list of (name value)");
    if (f.size() < 3)
        return a.fail(f.span, "letrec: the body is empty",
                      "add at least one expression after the bindings");
    scope own;
    const analyzer::scope_guard guard(a, own);
    const form bindings = f[1];
    for (std::size_t i = 0; i < bindings.size() && !a.failed(); ++i) {
        const form one = bindings[i];
        if (!one.is_list() || one.size() != 2) {
            return a.fail(one.span,
                          "letrec: a binding must be (name value), not " + shown(one.content));
        }
        if (!a.check_name(one[0], "letrec", "the name of a binding")) break;
        if (!a.check_new_name(one[0], "letrec")) break;
        a.declare(one[0].name(), one[0].span);
    }
    for (std::size_t i = 0; i < bindings.size() && !a.failed(); ++i)
        a.declare_binds_in(bindings[i][1]);
    a.declare_binds(f, 2);
    ast::node* result = a.make(node_kind::scope, f.span);
    ast::node* all = a.make(node_kind::sequence, f.span);
    for (std::size_t i = 0; i < bindings.size() && !a.failed(); ++i) {
        const form one = bindings[i];
        ast::node* bound = a.make(node_kind::bind_local, one.span);
        bound->var = own.variables[i];
        bound->children.push_back(initial_value(a, one[1], own.variables[i]));
        a.note_bound(*own.variables[i]);
        all->children.push_back(bound);
    }
    all->children.push_back(a.body(f, 2, where));
    result->children.push_back(all);
    return a.with_scope(own, result, 0);
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
    // Once: what they bind in the scope around the form is bound after them.
    std::vector<node*> values;
    const std::uint32_t binds = binds_;
    for (std::size_t i = 0; i < bindings.size() && !failed(); ++i)
        values.push_back(expression(bindings[i][1], inner()));
    if (failed()) return constant({}, f.span);
    const bool values_bind = binds_ != binds;
    // Tried as a loop first. Reading the body again when that fails must not double with each level
    // of nesting: only a few levels try, and none when that was in vain for half of the program.
    constexpr std::size_t always_granted = 20'000;
    const std::size_t before = arena_.nodes.size();
    if (tentative_loops_ < 4 && wasted_nodes_ <= before / 2 + always_granted) {
        const std::size_t wasted = wasted_nodes_;
        ++tentative_loops_;
        node* loop = named_let_as_loop(f, values, where);
        --tentative_loops_;
        if (failed() || !loop->label->escaped) return loop;
        wasted_nodes_ = wasted + (arena_.nodes.size() - before);
    }
    return named_let_as_function(f, std::move(values), values_bind);
}

ast::node* analyzer::named_let_as_loop(const form& f, std::span<node* const> values,
                                       position where) {
    ast::loop_label& label = arena_.labels.emplace_back();
    label.name = f[1].name();
    label.owner = lambda_;
    node* result = make(node_kind::named_loop, f.span);
    result->label = &label;
    const form bindings = f[2];
    result->children.assign(values.begin(), values.end());
    scope named;
    scope_guard outer_guard(*this, named);
    named.label = &label;
    names_.add(label.name, {.in = &named, .label = &label});
    scope own;
    scope_guard guard(*this, own);
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        if (!check_new_name(bindings[i][0], "let")) return result;
        ast::variable* var = declare(bindings[i][0].name(), bindings[i][0].span);
        var->definite = var->bound_once = true;
        label.variables.push_back(var);
    }
    const std::size_t bound = own.variables.size();
    declare_binds(f, 3);
    loops_.push_back(&label);
    const std::size_t floor = std::min(where.loops_from, loops_.size() - 1);
    result->children.push_back(body(f, 3, {where.tail, floor}));
    loops_.pop_back();
    return with_scope(own, result, bound);
}

/// `values_bind`: they bind variables around the form, which the function may have captured.
ast::node* analyzer::named_let_as_function(const form& f, std::vector<node*> values,
                                           bool values_bind) {
    const form bindings = f[2];
    node* call = make(node_kind::call, f.span);
    scope own;
    scope_guard guard(*this, own);
    ast::variable* self = declare(f[1].name(), f[1].span);
    self->names_let = true;
    node* all = make(node_kind::sequence, f.span);
    if (values_bind) { // before the function is made, as it copies what it captures
        for (node*& each : values) each = kept_in(all->children, each);
    }
    value parameters = value::empty_list();
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        parameters = list_push_back(realm_.memory(), std::move(parameters), bindings[i][0].content);
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
    call->children.insert(call->children.end(), values.begin(), values.end());
    all->children.push_back(bound);
    all->children.push_back(call);
    node* result = make(node_kind::scope, f.span);
    result->children.push_back(all);
    return with_scope(own, result, 0);
}

/// Adds to `steps` one that keeps a value in a hidden variable of the innermost scope. Returns what
/// reads it.
ast::node* analyzer::kept_in(std::vector<node*>& steps, node* kept) {
    ast::variable* slot = declare_hidden("kept value");
    slot->definite = slot->bound_once = true;
    node* bound = make(node_kind::bind_local, kept->span);
    bound->var = slot;
    bound->children.push_back(kept);
    steps.push_back(bound);
    node* read = make(node_kind::local, kept->span);
    read->var = slot;
    return read;
}

/// After the value of a bind was analysed: the variable is bound from here on.
void analyzer::note_bound(ast::variable& var) {
    ++binds_;
    if (var.bound_once || loop_depth_ != var.loop_depth) var.reassigned = true;
    var.bound_once = true;
    if (var.owner == lambda_ && scope_ && conditional_ == scope_->conditional) var.definite = true;
    if (!var.definite || !var.seen_in) return;
    std::uint32_t& bound_from = var.seen_in->names[var.seen_at].bound_from;
    bound_from = std::min(bound_from, evals_ + 1);
}

static ast::node* form_bind(analyzer& a, const form& f, analyzer::position where) {
    if (f.size() < 3)
        return a.fail(f.span, "bind: expects a name and a value, got " + parts_of(f.size() - 1));
    const std::string who(f[0].name()); // define comes here too
    const form given = f[2];
    const bool function =
        given.is_list() && given.size() > 2 && given[0].is_symbol() && given[0].name() == "lambda";
    const bool good = function ? a.check_function_name(f[1], who, "the name of a function")
                               : a.check_name(f[1], who, "the name");
    if (!good) return a.constant({}, f.span);
    if (f.size() > 3) {
        ast::node* result = a.make(node_kind::scope, f.span);
        result->children.push_back(a.expression(f[2], a.inner()));
        scope own;
        const analyzer::scope_guard guard(a, own);
        ast::variable* var = a.declare(f[1].name(), f[1].span);
        var->definite = var->bound_once = true;
        result->variables.push_back(var);
        a.declare_binds(f, 3);
        result->children.push_back(a.body(f, 3, where));
        return a.with_scope(own, result, 1);
    }
    ast::variable* var = a.bind_here(f[1].name(), f[1].span);
    if (!var) {
        const std::string name(f[1].name());
        a.note_defined(name);
        const form init = f[2];
        if (init.is_list() && init.size() > 2 && init[0].is_symbol() &&
            init[0].name() == "lambda" && init[1].is_list()) {
            a.define_early(name, f);
            ast::node* closure = a.make(node_kind::make_lambda, init.span);
            closure->code = a.lambda_of(init, init[1], 2, name);
            return a.define_here(name, f.span, closure);
        }
        return a.define_here(name, f.span, a.expression(init, a.inner()));
    }
    ast::node* result = a.make(node_kind::bind_local, f.span);
    result->var = var;
    result->children.push_back(initial_value(a, f[2], var));
    a.note_bound(*var);
    return result;
}

static ast::node* form_define(analyzer& a, const form& f, analyzer::position where) {
    if (f.size() < 3)
        return a.fail(f.span,
                      "define: expects (define name value) or (define (name parameter…) body…)");
    if (!f[1].is_list()) {
        if (f.size() != 3)
            return a.fail(f.span, "define: expects one value, got " + count_of(f.size() - 2));
        return form_bind(a, f, where);
    }
    const form signature = f[1];
    if (signature.size() == 0) return a.fail(f.span, "define: the function has no name");
    const bool quoted =
        signature.size() == 2 && signature[0].is_symbol() && signature[0].name() == "quote";
    if (quoted && f.size() == 3 && !a.check_name(signature, "define", "the name"))
        return a.constant({}, f.span);
    if (!a.check_function_name(signature[0], "define", "the name of a function"))
        return a.constant({}, f.span);
    const std::string name(signature[0].name());
    const form parameters{list_slice(signature.content, 1, signature.size()), signature.span};
    ast::variable* var = a.bind_here(name, signature[0].span);
    if (!var) {
        a.note_defined(name);
        a.define_early(name, f);
    }
    ast::node* closure = a.make(node_kind::make_lambda, f.span);
    closure->code = a.lambda_of(f, parameters, 2, name, var && !var->bound_once ? var : nullptr);
    if (!var) return a.define_here(name, f.span, closure);
    ast::node* result = a.make(node_kind::bind_local, f.span);
    result->var = var;
    result->children.push_back(closure);
    a.note_bound(*var);
    return result;
}

static ast::node* form_set(analyzer& a, const form& f, analyzer::position) {
    if (f.size() != 3)
        return a.fail(f.span, "set!: expects a name and a value, got " + parts_of(f.size() - 1));
    if (!a.check_name(f[1], "set!", "the name")) return a.constant({}, f.span);
    if (a.is_assigned_when_it_runs(f[1].name())) {
        // Which binding is the nearest is known when it runs; the value is computed once.
        ast::node* result = a.make(node_kind::scope, f.span);
        result->children.push_back(a.expression(f[2], a.inner()));
        scope own;
        const analyzer::scope_guard guard(a, own);
        ast::variable* init = a.declare_hidden("assigned value");
        init->definite = init->bound_once = true;
        result->variables.push_back(init);
        ast::node* given = a.make(node_kind::local, f[2].span);
        given->var = init;
        result->children.push_back(a.assign_from(f[1].name(), f.span, own.outer, given));
        return a.with_scope(own, result, 1);
    }
    return a.assign_from(f[1].name(), f.span, a.innermost(), a.expression(f[2], a.inner()));
}

static ast::node* form_lambda(analyzer& a, const form& f, analyzer::position) {
    if (f.size() < 2) return a.fail(f.span, "lambda: expects a parameter list and a body");
    if (!f[1].is_list())
        return a.fail(f[1].span, "lambda: the parameters must be a list of symbols, not " +
                                     shown(f[1].content));
    if (f.size() < 3)
        return a.fail(f.span, "lambda: the body is empty",
                      "add at least one expression after the parameters");
    ast::node* result = a.make(node_kind::make_lambda, f.span);
    result->code = a.lambda_of(f, f[1], 2, {});
    return result;
}

namespace {

constexpr special_form rows[] = {
    {.name = "let",
     .analyse = &form_let,
     .encloses_from = 1,
     .values_outside = outer_values::all,
     .layout = {.form = shape::body, .beside_head = 1, .bindings = 1},
     .usage = "(let ((name value)…) body…)\n"
              "(let loop-name ((name value)…) body…)",
     .summary = "Binds names in the body, whose last value is the value of the form. The values "
                "are evaluated outside of the new scope, in no order that code may rely on. With "
                "a name before the bindings, the body can call that name to repeat with new "
                "values.",
     .example = "(let ((x 1) (y 2)) (+ x y)) => 3\n"
                "(let next ((n 5) (product 1)) (if (= n 0) product (next (- n 1) (* n product)))) "
                "=> 120",
     .family = "binding"},
    {.name = "let*",
     .analyse = &form_let_star,
     .encloses_from = 1,
     .values_outside = outer_values::first,
     .layout = {.form = shape::body, .beside_head = 1, .bindings = 1},
     .usage = "(let* ((name value)…) body…)",
     .summary = "Like let, but binds one name after the other: each value sees the names before "
                "it.",
     .example = "(let* ((x 2) (y (* x x))) (+ x y)) => 6",
     .family = "binding"},
    {.name = "letrec",
     .analyse = &form_letrec,
     .encloses_from = 1,
     .layout = {.form = shape::body, .beside_head = 1, .bindings = 1},
     .usage = "(letrec ((name value)…) body…)",
     .summary = "Like let, for functions that call each other: every value sees all the names.",
     .example = "(letrec ((even? (lambda (n) (if (= n 0) true (odd? (- n 1)))))\n"
                "         (odd? (lambda (n) (if (= n 0) false (even? (- n 1))))))\n"
                "  (even? 10)) => true",
     .family = "binding"},
    {.name = "bind",
     .analyse = &form_bind,
     .binds = binding::name,
     .layout = {.form = shape::body, .beside_head = 1},
     .usage = "(bind name value)\n"
              "(bind name value body…)",
     .summary =
         "Defines a name in the current scope and returns its value. With a body, the name is "
         "bound in the body only. Code above it in that scope sees the name as well, once it is "
         "bound; not if a macro has made the bind.",
     .example = "(progn (bind x 2) (bind y (+ x 1)) (* x y)) => 6\n"
                "(bind x 3 (* x x)) => 9",
     .family = "binding"},
    {.name = "define",
     .analyse = &form_define,
     .binds = binding::name,
     .layout = {.form = shape::body, .beside_head = 1, .names = 1},
     .usage = "(define name value)\n"
              "(define (name parameter…) body…)",
     .summary = "Defines a variable or a function in the current scope. A string at the beginning "
                "of a body of several expressions is its documentation, which help shows.",
     .example = "(progn (define (double n) \"Twice n.\" (* 2 n)) (double 21)) => 42",
     .family = "binding"},
    {.name = "set!",
     .analyse = &form_set,
     .layout = {.form = shape::body, .beside_head = 1},
     .usage = "(set! name value)",
     .summary =
         "Sets an existing variable to a new value, which is also the value of the form. It is "
         "the innermost variable of that name; without one, an UnboundSymbolError is raised. "
         "Branches of map, for-each and parallel that set the same variable may overwrite what "
         "the others have set: combine their results instead.",
     .example = "(let ((n 1)) (set! n (+ n 1)) n) => 2",
     .family = "binding"},
    {.name = "lambda",
     .analyse = &form_lambda,
     .encloses_from = 1,
     .layout = {.form = shape::body, .beside_head = 1, .names = 1},
     .usage = "(lambda (parameter…) body…)\n"
              "(lambda (parameter… &optional parameter…) body…)\n"
              "(lambda (parameter… . rest) body…)",
     .summary = "A function. Omitted optional parameters are nil; a rest parameter is the list "
                "of the remaining arguments.",
     .example = "((lambda (x) (* x x)) 4) => 16\n"
                "((lambda (a &optional b &rest c) (list a b c)) 1) => '(1 nil ())",
     .family = "binding"},
};

} // namespace

std::span<const special_form> binding_forms() noexcept { return rows; }

} // namespace heddle::lang
