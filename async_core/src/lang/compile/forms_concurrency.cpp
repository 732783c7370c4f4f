// Forms of concurrency (docs/spec/language.md §7): timeout, race, hedge, retry, spawn, with-permit.
#include "analyzer.hpp"
#include "lang/print/form_text.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <string>

namespace heddle::lang {

using ast::node_kind;

/// (%seconds "form" e): checked when it runs.
ast::node* analyzer::seconds_of(std::string_view who, const form& f) {
    node* name = constant(make_string(world_.memory(), who), f.span);
    return builtin_node("%seconds", f.span, {name, expression(f, inner())});
}

/// An effect of the host as a value, or nil when it has none of that name.
ast::node* analyzer::effect_or_nil(std::string_view name, source_span span) {
    const builtin* row = world_.host().find_effect(name);
    return constant(row ? value::of_builtin(*row) : value(), span);
}

ast::node* analyzer::thunk_node(const form& f) {
    node* made = make(node_kind::make_lambda, f.span);
    made->code = thunk_of(f);
    return made;
}

/// (timeout seconds e [fallback])
ast::node* analyzer::form_timeout(const form& f, position) {
    if (f.size() < 3 || f.size() > 4) {
        return fail(f.span,
                    "timeout: expects (timeout seconds expression) or (timeout seconds "
                    "expression fallback), got " +
                        count_of(f.size() - 1) + " parts");
    }
    node* name = constant(make_string(world_.memory(), "timeout"), f.span);
    node* made = scope_node(scope_kind::settings,
                            builtin_node("dict", f.span, {name, seconds_of("timeout", f[1])}));
    if (f.size() == 4) ++conditional_; // either may be left half done
    for (std::size_t i = 2; i < f.size(); ++i) made->children.push_back(expression(f[i], inner()));
    if (f.size() == 4) --conditional_;
    return made;
}

/// (race e…)
ast::node* analyzer::form_race(const form& f, position) {
    if (f.size() == 1) return fail(f.span, "race: expects at least one expression");
    return branches_of(f, first_policy);
}

/// (hedge seconds e)
ast::node* analyzer::form_hedge(const form& f, position) {
    if (f.size() != 3) {
        return fail(f.span, "hedge: expects (hedge seconds expression), got " +
                                count_of(f.size() - 1) + " parts");
    }
    if (!world_.host().find_effect("sleep"))
        return fail(f.span, "hedge: this host has no clock to wait for ('sleep')");
    node* seconds = seconds_of("hedge", f[1]);
    return call_library("%hedge", f.span,
                        {seconds, effect_or_nil("sleep", f.span), thunk_node(f[2])});
}

/// (on 'name…): strings, or nil after an error.
value analyzer::names_to_retry(const form& clause) {
    value names = value::empty_list();
    for (std::size_t i = 1; i < clause.size(); ++i) {
        form one = clause[i];
        if (one.is_list() && one.size() == 2 && one[0].is_symbol() && one[0].name() == "quote")
            one = one[1];
        else if (!one.content.is(kind::string)) one.content = value();
        if (!one.is_symbol() && !one.content.is(kind::string)) {
            fail(clause[i].span,
                 "retry: 'on' takes quoted names, such as (on 'TimeoutError "
                 "'rate_limited), not " +
                     shown(clause[i].content));
            return {};
        }
        const value& name = one.content;
        names = list_push_back(
            world_.memory(), std::move(names),
            name.is(kind::string) ? name : make_string(world_.memory(), symbol_name(name)));
    }
    if (clause.size() == 1)
        fail(clause.span, "retry: 'on' names no error", "write (on 'TimeoutError …)");
    return names;
}

/// (retry n e), (retry ((attempts n) (backoff seconds) (on 'name…)) e)
ast::node* analyzer::form_retry(const form& f, position) {
    if (f.size() != 3) {
        return fail(f.span,
                    "retry: expects (retry attempts expression) or (retry ((attempts n) "
                    "(backoff seconds) (on 'name…)) expression), got " +
                        count_of(f.size() - 1) + " parts");
    }
    node* attempts = nullptr;
    node* backoff = nullptr;
    node* names = nullptr;
    const form how = f[1];
    const auto counted = [&](const form& n) {
        node* who = constant(make_string(world_.memory(), "retry"), n.span);
        return builtin_node("%attempts", n.span, {who, expression(n, inner())});
    };
    const bool clauses = how.is_list() && (how.size() == 0 || how[0].is_list());
    if (!clauses) attempts = counted(how);
    for (std::size_t i = 0; clauses && i < how.size() && !failed(); ++i) {
        const form clause = how[i];
        if (!clause.is_list() || clause.size() == 0 || !clause[0].is_symbol()) {
            return fail(clause.span,
                        "retry: a clause must be (attempts n), (backoff seconds) or "
                        "(on 'name…), not " +
                            shown(clause.content));
        }
        const std::string name(clause[0].name());
        node** slot = name == "attempts"  ? &attempts
                      : name == "backoff" ? &backoff
                      : name == "on"      ? &names
                                          : nullptr;
        if (!slot) {
            return fail(clause.span, "retry: unknown clause '" + name + "'",
                        "known clauses: attempts, backoff, on");
        }
        if (*slot) return fail(clause.span, "retry: the clause '" + name + "' is repeated");
        if (slot != &names && clause.size() != 2) {
            return fail(clause.span, "retry: the clause '" + name +
                                         "' must hold one expression, not " +
                                         count_of(clause.size() - 1));
        }
        if (slot == &attempts) *slot = counted(clause[1]);
        else if (slot == &backoff) *slot = seconds_of("retry", clause[1]);
        else *slot = constant(names_to_retry(clause), clause.span);
    }
    if (failed()) return constant({}, f.span);
    if (!attempts)
        return fail(how.span, "retry: missing clause 'attempts'", "write ((attempts 3) …)");
    if (!backoff) backoff = constant(value::real(0.5), f.span);
    if (!names) names = constant({}, f.span);
    return call_library("%retry", f.span,
                        {attempts, backoff, names, effect_or_nil("sleep", f.span),
                         effect_or_nil("%jitter", f.span), thunk_node(f[2])});
}

/// (spawn e): belongs to the function that it stands in.
ast::node* analyzer::form_spawn(const form& f, position) {
    if (f.size() != 2)
        return fail(f.span, "spawn: expects 1 expression, got " + count_of(f.size() - 1));
    ast::lambda* owner = lambda_;
    while (owner->part_of_outer) owner = owner->parent;
    if (!owner->futures) {
        ast::variable& group = arena_.variables.emplace_back(); // in no scope: it has no name
        group.owner = owner;
        group.definite = group.bound_once = true;
        owner->futures = &group;
    }
    node* join = make(node_kind::local, f.span);
    join->var = owner->futures;
    mark_capture(*owner->futures);
    node* made = make(node_kind::spawn, f.span);
    made->children = {join, thunk_node(f[1])};
    return made;
}

/// (with-permit s e…)
ast::node* analyzer::form_with_permit(const form& f, position) {
    if (f.size() < 3) {
        return fail(f.span, "with-permit: expects a semaphore and at least one expression");
    }
    node* made = make(node_kind::with_permit, f.span);
    made->children.push_back(expression(f[1], inner()));
    made->children.push_back(body(f, 2, inner()));
    return made;
}

/// (%try-when (name test) recovery body…): an error for which the test is true gives the recovery; any
/// other goes on as it is, with its trace.
ast::node* analyzer::form_try_when(const form& f, position) {
    if (f.size() < 4 || !f[1].is_list() || f[1].size() != 2 || !f[1][0].is_symbol())
        return fail(f.span, "%try-when: expects (name test), a recovery and a body");
    node* made = make(node_kind::protect, f.span);
    ++conditional_;
    made->children.push_back(body(f, 3, inner()));
    scope own;
    scope_guard guard(*this, own);
    ast::catch_clause clause;
    clause.name = declare(f[1][0].name());
    clause.name->definite = clause.name->bound_once = true;
    clause.guard = expression(f[1][1], inner());
    clause.body = expression(f[2], inner());
    made->catches.push_back(clause);
    --conditional_;
    return made;
}

} // namespace heddle::lang
