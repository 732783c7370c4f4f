// Conditionals, loops and try.
#include "analyzer.hpp"
#include "lang/print/form_text.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace heddle::lang {

using ast::node_kind;

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
    ast::variable* key = declare_hidden("case value");
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

namespace {

constexpr std::string_view do_usage = "write (do ((name first [next])…) (end? result…) body…)";

/// A list of forms that stands where `span` is.
form list_form(realm& world, const std::vector<form>& elements, source_span span) {
    std::vector<value> contents;
    for (const form& each : elements) contents.push_back(each.content);
    value made = make_list(world.memory(), contents);
    auto* storage = static_cast<list_object*>(made.target());
    if (contents.empty()) return {std::move(made), span};
    const std::size_t room = storage->capacity;
    storage->places = new list_places{span, room, std::make_unique<source_span[]>(room)};
    world.memory().charge(list_places::bytes_for(room));
    for (std::size_t i = 0; i < elements.size(); ++i)
        storage->places->elements[made.offset() + i] = elements[i].span;
    return {std::move(made), span};
}

} // namespace

/// (do ((name first [next])…) (end? result…) body…), as a named let.
ast::node* analyzer::form_do(const form& f, position where) {
    const auto refuse = [&](const form& part, const char* what) {
        return fail(part.span, std::string("do: ") + what + ", not " + shown(part.content),
                    std::string(do_usage) + "; for one expression after the other write (progn …)");
    };
    if (f.size() < 3 || !f[1].is_list())
        return fail(f.span, "do: expects variables ((name first [next])…) and (end? result…)",
                    std::string(do_usage) + "; for one expression after the other write (progn …)");
    if (!f[2].is_list() || f[2].size() == 0) return refuse(f[2], "the end must be (end? result…)");
    const auto named = [&](std::string_view name) {
        return form{world_.memory().symbol(name), f.span};
    };
    const auto list = [&](const std::vector<form>& elements, source_span span) {
        return list_form(world_, elements, span);
    };
    const form label = named("do loop"); // no source can write that name
    std::vector<form> bindings;
    std::vector<form> again{label};
    for (std::size_t i = 0; i < f[1].size(); ++i) {
        const form one = f[1][i];
        if (!one.is_list() || one.size() < 2 || one.size() > 3)
            return refuse(one, "a variable must be (name first [next])");
        if (!check_name(one[0], "do", "the name of a variable")) return constant({}, f.span);
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
    return named_let(list({named("let"), label, list(bindings, f[1].span), choice}, f.span), where);
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
                           part[1].size() >= 1 && part[1].size() <= 2 && part[1][0].is_symbol() &&
                           check_name(part[1][0], "try", "the name of an error");
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
        clause.name = declare(part[1][0].name(), part[1][0].span);
        clause.name->definite = clause.name->bound_once = true;
        declare_binds(part, 2);
        node* inside = make(node_kind::scope, part.span);
        inside->children.push_back(body(part, 2, inner()));
        clause.body = with_scope(own, inside, 1);
        made->catches.push_back(clause);
    }
    --conditional_;
    return made;
}

} // namespace heddle::lang
