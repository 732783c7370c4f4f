// Conditionals, loops and try.
#include "analyzer_scopes.hpp"
#include "lang/print/form_text.hpp"
#include "special_form.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace heddle::lang {

using ast::node_kind;

static ast::node* form_if(analyzer& a, const form& f, analyzer::position where) {
    if (f.size() != 4) {
        return a.fail(f.span,
                      "if: expects 3 parts (condition, then, else), got " + count_of(f.size() - 1),
                      f.size() == 3 ? "for a branch without else write (when condition …)" : "");
    }
    ast::node* result = a.make(node_kind::branch_if, f.span);
    result->from = ast::origin::condition;
    result->children.push_back(a.expression(f[1], a.inner()));
    a.begin_conditional();
    result->children.push_back(a.expression(f[2], where));
    result->children.push_back(a.expression(f[3], where));
    a.end_conditional();
    return result;
}

static ast::node* form_cond(analyzer& a, const form& f, analyzer::position where) {
    // Built from the last clause to the first would analyse out of order; build the chain forwards.
    ast::node* first = nullptr;
    ast::node* last = nullptr;
    const std::uint32_t outer = a.conditional();
    for (std::size_t i = 1; i < f.size() && !a.failed(); ++i) {
        const form clause = f[i];
        if (!clause.is_list() || clause.size() == 0) {
            a.fail(clause.span,
                   "cond: a clause must be (condition expression…), not " + shown(clause.content));
            break;
        }
        const bool is_else =
            clause[0].is_symbol() && clause[0].name() == "else" && !a.is_local("else");
        ast::node* next = nullptr;
        if (is_else) {
            if (i + 1 != f.size()) a.fail(clause.span, "cond: else must be the last clause");
            if (clause.size() < 2) a.fail(clause.span, "cond: else has no expression");
            if (a.failed()) break;
            next = a.body(clause, 1, where);
        } else if (clause.size() == 1) {
            next = a.make(node_kind::any_of, clause.span);
            next->children.push_back(a.expression(clause[0], a.inner()));
        } else {
            next = a.make(node_kind::branch_if, clause.span);
            next->from = ast::origin::clause;
            next->children.push_back(a.expression(clause[0], a.inner()));
            a.begin_conditional();
            next->children.push_back(a.body(clause, 1, where));
        }
        if (last) last->children.push_back(next);
        else first = next;
        last = next;
        if (is_else) {
            a.end_conditional(outer);
            return first;
        }
        a.begin_conditional();
    }
    a.end_conditional(outer);
    if (!last) return a.constant({}, f.span);
    if (last->from == ast::origin::clause) last->from = ast::origin::last_clause;
    last->children.push_back(a.constant({}, f.span));
    return first;
}

static ast::node* form_when(analyzer& a, const form& f, analyzer::position where) {
    if (f.size() < 3)
        return a.fail(f.span, "when: expects a condition and at least one expression");
    ast::node* result = a.make(node_kind::branch_if, f.span);
    result->from = ast::origin::condition;
    result->children.push_back(a.expression(f[1], a.inner()));
    a.begin_conditional();
    result->children.push_back(a.body(f, 2, where));
    a.end_conditional();
    result->children.push_back(a.constant({}, f.span));
    return result;
}

static ast::node* form_unless(analyzer& a, const form& f, analyzer::position where) {
    if (f.size() < 3)
        return a.fail(f.span, "unless: expects a condition and at least one expression");
    ast::node* result = a.make(node_kind::branch_if, f.span);
    result->from = ast::origin::condition;
    result->children.push_back(a.expression(f[1], a.inner()));
    result->children.push_back(a.constant({}, f.span));
    a.begin_conditional();
    result->children.push_back(a.body(f, 2, where));
    a.end_conditional();
    return result;
}

static ast::node* form_case(analyzer& a, const form& f, analyzer::position where) {
    if (f.size() < 2) return a.fail(f.span, "case: expects a value and clauses");
    ast::node* key_value = a.expression(f[1], a.inner());
    ast::variable* key = nullptr;
    {
        // Only of the hidden variable: what the clauses bind is bound around the form.
        scope own;
        const analyzer::scope_guard guard(a, own);
        key = a.declare_hidden("case value");
    }
    key->definite = key->bound_once = true;
    ast::node* result = a.make(node_kind::scope, f.span);
    result->from = ast::origin::case_scope;
    result->variables.push_back(key);
    result->children.push_back(key_value);
    ast::node* first = nullptr;
    ast::node* last = nullptr;
    bool complete = false;
    a.begin_conditional();
    for (std::size_t i = 2; i < f.size() && !a.failed(); ++i) {
        const form clause = f[i];
        if (!clause.is_list() || clause.size() < 2) {
            a.fail(clause.span,
                   "case: a clause must be (key expression…), not " + shown(clause.content));
            break;
        }
        ast::node* next = nullptr;
        if (clause[0].is_symbol() && clause[0].name() == "else") {
            if (i + 1 != f.size()) a.fail(clause.span, "case: else must be the last clause");
            next = a.body(clause, 1, where);
            complete = true;
        } else {
            // A list of keys, as in Scheme, or one key.
            ast::node* any = a.make(node_kind::any_of, clause.span);
            const form keys = clause[0];
            const std::size_t count = keys.is_list() ? keys.size() : 1;
            for (std::size_t k = 0; k < count; ++k) {
                ast::node* subject = a.make(node_kind::local, f[1].span);
                subject->var = key;
                const form one = keys.is_list() ? keys[k] : keys;
                any->children.push_back(a.builtin_node(
                    "equal?", one.span, {subject, a.constant(one.content, one.span)}));
            }
            if (any->children.empty())
                any->children.push_back(a.constant(value::boolean(false), clause.span));
            next = a.make(node_kind::branch_if, clause.span);
            next->children = {any, a.body(clause, 1, where)};
        }
        if (last) last->children.push_back(next);
        else first = next;
        last = next;
    }
    a.end_conditional();
    if (!complete && last) last->children.push_back(a.constant({}, f.span));
    result->children.push_back(first ? first : a.constant({}, f.span));
    return result;
}

static ast::node* form_progn(analyzer& a, const form& f, analyzer::position where) {
    if (f.size() == 1) return a.constant(value::empty_list(), f.span);
    return a.body(f, 1, where);
}

static ast::node* form_and(analyzer& a, const form& f, analyzer::position where) {
    if (f.size() == 1) return a.constant(value::boolean(true), f.span);
    if (f.size() == 2) return a.expression(f[1], where);
    ast::node* result = a.make(node_kind::all_of, f.span);
    for (std::size_t i = 1; i < f.size(); ++i) {
        if (i == 2) a.begin_conditional();
        result->children.push_back(a.expression(f[i], i + 1 == f.size() ? where : a.inner()));
    }
    a.end_conditional();
    return result;
}

static ast::node* form_or(analyzer& a, const form& f, analyzer::position where) {
    if (f.size() == 1) return a.constant(value::boolean(false), f.span);
    if (f.size() == 2) return a.expression(f[1], where);
    ast::node* result = a.make(node_kind::any_of, f.span);
    for (std::size_t i = 1; i < f.size(); ++i) {
        if (i == 2) a.begin_conditional();
        result->children.push_back(a.expression(f[i], i + 1 == f.size() ? where : a.inner()));
    }
    a.end_conditional();
    return result;
}

static ast::node* form_loop(analyzer& a, const form& f, analyzer::position) {
    if (f.size() != 3)
        return a.fail(f.span, "loop: expects 2 parts (count, body), got " + count_of(f.size() - 1));
    ast::node* result = a.make(node_kind::repeat, f.span);
    result->children.push_back(a.expression(f[1], a.inner()));
    a.begin_conditional();
    a.begin_loop();
    result->children.push_back(a.expression(f[2], a.inner()));
    a.end_loop();
    a.end_conditional();
    return result;
}

static ast::node* form_while(analyzer& a, const form& f, analyzer::position) {
    if (f.size() < 3)
        return a.fail(f.span, "while: expects a condition and at least one expression");
    ast::node* result = a.make(node_kind::while_loop, f.span);
    a.begin_loop();
    result->children.push_back(a.expression(f[1], a.inner()));
    a.begin_conditional();
    result->children.push_back(a.body(f, 2, a.inner()));
    a.end_conditional();
    a.end_loop();
    return result;
}

namespace {

constexpr std::string_view do_usage = "write (do ((name first [next])…) (end? result…) body…)";

/// A list of forms at `span`.
form list_form(realm& realm, const std::vector<form>& elements, source_span span) {
    std::vector<value> contents;
    for (const form& each : elements) contents.push_back(each.content);
    value result = make_list(realm.memory(), contents);
    auto* storage = static_cast<list_object*>(result.target());
    if (contents.empty()) return {std::move(result), span};
    const std::size_t room = storage->capacity;
    storage->places = new list_places{span, room, std::make_unique<source_span[]>(room)};
    realm.memory().charge(list_places::bytes_for(room));
    for (std::size_t i = 0; i < elements.size(); ++i)
        storage->places->elements[result.offset() + i] = elements[i].span;
    return {std::move(result), span};
}

} // namespace

/// (do ((name first [next])…) (end? result…) body…), as a named let.
static ast::node* form_do(analyzer& a, const form& f, analyzer::position where) {
    const auto refuse = [&](const form& part, const char* what) {
        return a.fail(
            part.span, std::string("do: ") + what + ", not " + shown(part.content),
            std::string(do_usage) + "; for one expression after the other write (progn …)");
    };
    if (f.size() < 3 || !f[1].is_list())
        return a.fail(
            f.span, "do: expects variables ((name first [next])…) and (end? result…)",
            std::string(do_usage) + "; for one expression after the other write (progn …)");
    if (!f[2].is_list() || f[2].size() == 0) return refuse(f[2], "the end must be (end? result…)");
    const auto named = [&](std::string_view name) {
        return form{a.realm().memory().symbol(name), f.span};
    };
    const auto list = [&](const std::vector<form>& elements, source_span span) {
        return list_form(a.realm(), elements, span);
    };
    const form label = named("do loop"); // no source can write that name
    std::vector<form> bindings;
    std::vector<form> again{label};
    for (std::size_t i = 0; i < f[1].size(); ++i) {
        const form one = f[1][i];
        if (!one.is_list() || one.size() < 2 || one.size() > 3)
            return refuse(one, "a variable must be (name first [next])");
        if (!a.check_name(one[0], "do", "the name of a variable")) return a.constant({}, f.span);
        bindings.push_back(list({one[0], one[1]}, one.span));
        again.push_back(one.size() == 3 ? one[2] : one[0]);
    }
    std::vector<form> end{named("progn")};
    for (std::size_t i = 1; i < f[2].size(); ++i) end.push_back(f[2][i]);
    std::vector<form> turn{named("progn")};
    for (std::size_t i = 3; i < f.size(); ++i) turn.push_back(f[i]);
    turn.push_back(list(again, f.span));
    const form result = end.size() == 1 ? form{value(), f.span} : list(end, f[2].span);
    const form choice = list({named("if"), f[2][0], result, list(turn, f.span)}, f.span);
    return a.named_let(list({named("let"), label, list(bindings, f[1].span), choice}, f.span),
                       where);
}

static ast::node* form_try(analyzer& a, const form& f, analyzer::position) {
    ast::node* result = a.make(node_kind::protect, f.span);
    std::size_t end = 1;
    const auto headed = [](const form& part, std::string_view name) {
        return part.is_list() && part.size() != 0 && part[0].is_symbol() && part[0].name() == name;
    };
    while (end < f.size() && !headed(f[end], "catch") && !headed(f[end], "finally")) ++end;
    if (end == 1) return a.fail(f.span, "try: the body is empty");
    if (end == f.size()) return a.fail(f.span, "try: expects a (catch (e) …) or a (finally …)");
    a.begin_conditional();
    ast::node* all = a.make(node_kind::sequence, f.span);
    for (std::size_t i = 1; i < end; ++i) all->children.push_back(a.expression(f[i], a.inner()));
    result->children.push_back(all);
    for (std::size_t i = end; i < f.size() && !a.failed(); ++i) {
        const form part = f[i];
        if (headed(part, "finally")) {
            if (i + 1 != f.size()) a.fail(part.span, "try: finally must be the last part");
            if (part.size() < 2) a.fail(part.span, "try: finally is empty");
            if (!a.failed()) result->cleanup = a.body(part, 1, a.inner());
            continue;
        }
        const bool shape = headed(part, "catch") && part.size() >= 3 && part[1].is_list() &&
                           part[1].size() >= 1 && part[1].size() <= 2 && part[1][0].is_symbol() &&
                           a.check_name(part[1][0], "try", "the name of an error");
        if (!shape) {
            a.fail(part.span,
                   "try: expected (catch (e) expression…) or (catch (e 'Kind) expression…), not " +
                       shown(part.content));
            break;
        }
        ast::catch_clause clause;
        if (part[1].size() == 2) clause.wanted_kind = a.expression(part[1][1], a.inner());
        scope own;
        const analyzer::scope_guard guard(a, own);
        clause.name = a.declare(part[1][0].name(), part[1][0].span);
        clause.name->definite = clause.name->bound_once = true;
        a.declare_binds(part, 2);
        ast::node* inside = a.make(node_kind::scope, part.span);
        inside->children.push_back(a.body(part, 2, a.inner()));
        clause.body = a.with_scope(own, inside, 1);
        result->catches.push_back(clause);
    }
    a.end_conditional();
    return result;
}

namespace {

constexpr special_form rows[] = {
    {.name = "if",
     .analyse = &form_if,
     .layout = {.form = shape::branches},
     .usage = "(if condition then else)",
     .summary = "The value of then if the condition is true, otherwise that of else. Exactly "
                "three parts; when and unless have only one branch. nil, false, 0, \"\", () and "
                "the empty map are false.",
     .example = "(if (> 2 1) 'more 'less) => 'more",
     .family = "control"},
    {.name = "cond",
     .analyse = &form_cond,
     .layout = {.form = shape::branches, .clauses = 1},
     .usage = "(cond (condition expression…)… (else expression…))",
     .summary = "The value is that of the first clause whose condition is true. A clause that is "
                "only a condition has the value of the condition; if no clause matches, the "
                "value is nil.",
     .example = "(cond ((< 5 3) 'small) ((< 5 7) 'middle) (else 'large)) => 'middle",
     .family = "control"},
    {.name = "case",
     .analyse = &form_case,
     .layout = {.form = shape::body, .beside_head = 1, .clauses = 2},
     .usage = "(case value (key expression…)… (else expression…))",
     .summary = "The value of the form is that of the clause whose key equals the value. A key "
                "is data, or a list of such keys; if no clause matches, the value is nil.",
     .example = "(case 'stop (go 1) ((stop halt) 2) (else 3)) => 2",
     .family = "control"},
    {.name = "when",
     .analyse = &form_when,
     .layout = {.form = shape::body, .beside_head = 1},
     .usage = "(when condition body…)",
     .summary = "The value of the body if the condition is true, otherwise nil.",
     .example = "(when (< 1 2) 'yes) => 'yes",
     .family = "control"},
    {.name = "unless",
     .analyse = &form_unless,
     .layout = {.form = shape::body, .beside_head = 1},
     .usage = "(unless condition body…)",
     .summary = "The value of the body if the condition is false, otherwise nil.",
     .example = "(unless (< 1 2) 'no) => nil",
     .family = "control"},
    {.name = "and",
     .analyse = &form_and,
     .usage = "(and expression…)",
     .summary = "The first false value, otherwise the last value; true without expressions. What "
                "comes after a false value is not evaluated.",
     .example = "(and 1 2) => 2\n"
                "(and 1 nil (error \"never\")) => nil",
     .family = "control"},
    {.name = "or",
     .analyse = &form_or,
     .usage = "(or expression…)",
     .summary = "The first true value, otherwise the last value; false without expressions. What "
                "comes after a true value is not evaluated.",
     .example = "(or nil 2 (error \"never\")) => 2",
     .family = "control"},
    {.name = "progn",
     .analyse = &form_progn,
     .layout = {.form = shape::block},
     .usage = "(progn expression…)",
     .summary = "Evaluates the expressions in order and returns the last value; () without "
                "expressions.",
     .example = "(progn 1 2 3) => 3",
     .family = "control"},
    {.name = "begin",
     .analyse = &form_progn,
     .layout = {.form = shape::block},
     .usage = "(begin expression…)",
     .summary = "Another name for progn.",
     .example = "(begin 1 2 3) => 3",
     .family = "control"},
    {.name = "do",
     .analyse = &form_do,
     .encloses_from = 1,
     .values_outside = outer_values::all,
     .layout = {.form = shape::body, .beside_head = 2, .bindings = 1},
     .usage = "(do ((name first [next])…) (end? result…) body…)",
     .summary = "Repeats until end? is true; the value is then the last result, nil without one. "
                "Each iteration evaluates the body, then every next, and binds the names to "
                "those values; a name without next keeps its value.",
     .example = "(do ((i 0 (+ i 1)) (sum 0 (+ sum i))) ((= i 4) sum)) => 6",
     .family = "control"},
    {.name = "loop",
     .analyse = &form_loop,
     .layout = {.form = shape::body, .beside_head = 1},
     .usage = "(loop count body)",
     .summary = "Evaluates the body count times and returns its last value. The count is evaluated "
                "once and must be a non-negative integer; for 0 the value is ().",
     .example = "(let ((n 1)) (loop 3 (set! n (* n 2)))) => 8",
     .family = "control"},
    {.name = "while",
     .analyse = &form_while,
     .layout = {.form = shape::body, .beside_head = 1},
     .usage = "(while condition body…)",
     .summary = "Evaluates the body as long as the condition is true.",
     .example = "(let ((n 1)) (while (< n 100) (set! n (* n 2))) n) => 128",
     .family = "control"},
    {.name = "try",
     .analyse = &form_try,
     .layout = {.form = shape::attempt},
     .usage = "(try body… (catch (e) handler…))\n"
              "(try body… (catch (e 'Kind) handler…)…)\n"
              "(try body… (finally expression…))",
     .summary = "The value of the body, or of the handler that catches its error. The name is "
                "bound to a map with kind, reason, message, span, stack, data, result, and "
                "causes, a list of such maps. A clause with a kind catches only errors of that "
                "kind. The body of finally always runs, also on cancellation. If the body of try "
                "has returned its value, a cancellation or timeout during finally ends it.",
     .example = "(try (/ 1 0) (catch (e) 'none)) => 'none\n"
                "(try (error \"bad\" 7) (catch (e 'TypeError) 1) (catch (e 'UserError) (get e "
                "'data))) => '(7)",
     .family = "control"},
};

} // namespace

std::span<const special_form> control_forms() noexcept { return rows; }

} // namespace heddle::lang
