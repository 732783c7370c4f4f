// Forms of concurrency (docs/spec/language.md §7): timeout, race, hedge, retry, spawn, with-permit.
#include "analyzer_scopes.hpp"
#include "lang/machine/join_policy.hpp"
#include "lang/print/form_text.hpp"
#include "list_places.hpp"
#include "special_form.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <array>
#include <optional>
#include <string>

namespace heddle::lang {

using ast::node_kind;

/// (%seconds "form" e): checked when it runs.
static ast::node* seconds_of(analyzer& a, std::string_view who, const form& f) {
    ast::node* name = a.constant(make_string(a.realm().memory(), who), f.span);
    return a.builtin_node("%seconds", f.span, {name, a.expression(f, a.inner())});
}

/// An effect of the host as a value, or nil when it has none of that name.
static ast::node* effect_or_nil(analyzer& a, std::string_view name, source_span span) {
    const builtin* row = a.realm().host().find_effect(name);
    return a.constant(row ? value::of_builtin(*row) : value(), span);
}

static ast::node* thunk_node(analyzer& a, const form& f) {
    ast::node* result = a.make(node_kind::make_lambda, f.span);
    result->code = a.thunk_of(f);
    return result;
}

/// (form e…): each expression is a branch of a join.
static ast::node* branches_of(analyzer& a, const form& f, join_policy policy) {
    ast::node* result = a.make(node_kind::join_scope, f.span);
    result->flag = static_cast<std::uint8_t>(policy);
    scope own;
    const analyzer::scope_guard guard(a, own);
    ast::variable* group = a.declare_hidden("parallel group");
    group->definite = group->bound_once = true;
    result->variables.push_back(group);
    result->constant = make_string(a.realm().memory(), "in part");
    result->children.push_back(
        a.constant(value::integer(static_cast<std::int64_t>(f.size() - 1)), f.span));
    ast::node* all = a.make(node_kind::sequence, f.span);
    for (std::size_t i = 1; i < f.size(); ++i) {
        ast::node* one = a.make(node_kind::branch, f[i].span);
        one->flag = policy == join_policy::first ? 1 : 0; // all begin at once, whatever the bound
        ast::node* join = a.make(node_kind::local, f.span);
        join->var = group;
        ast::node* thunk = a.make(node_kind::make_lambda, f[i].span);
        thunk->code = a.thunk_of(f[i]);
        one->children = {join, a.constant(value::integer(static_cast<std::int64_t>(i - 1)), f.span),
                         thunk};
        all->children.push_back(one);
    }
    result->children.push_back(all);
    return result;
}

/// (timeout seconds e [fallback])
static ast::node* form_timeout(analyzer& a, const form& f, analyzer::position) {
    if (f.size() < 3 || f.size() > 4) {
        return a.fail(f.span,
                      "timeout: expects (timeout seconds expression) or (timeout seconds "
                      "expression fallback), got " +
                          parts_of(f.size() - 1));
    }
    ast::node* name = a.constant(make_string(a.realm().memory(), "timeout"), f.span);
    ast::node* result =
        a.scope_node(scope_kind::settings,
                     a.builtin_node("dict", f.span, {name, seconds_of(a, "timeout", f[1])}));
    if (f.size() == 4) a.begin_conditional(); // either may be left half done
    for (std::size_t i = 2; i < f.size(); ++i)
        result->children.push_back(a.expression(f[i], a.inner()));
    if (f.size() == 4) a.end_conditional();
    return result;
}

/// (race e…)
static ast::node* form_race(analyzer& a, const form& f, analyzer::position) {
    if (f.size() == 1) return a.fail(f.span, "race: expects at least one expression");
    return branches_of(a, f, join_policy::first);
}

/// (hedge seconds e)
static ast::node* form_hedge(analyzer& a, const form& f, analyzer::position) {
    if (f.size() != 3) {
        return a.fail(f.span,
                      "hedge: expects (hedge seconds expression), got " + parts_of(f.size() - 1));
    }
    if (!a.realm().host().find_effect("sleep"))
        return a.fail(f.span, "hedge: this host has no clock to wait for ('sleep')");
    ast::node* seconds = seconds_of(a, "hedge", f[1]);
    return a.call_library("%hedge", f.span,
                          {seconds, effect_or_nil(a, "sleep", f.span), thunk_node(a, f[2])});
}

/// (on 'name…): strings with the places of the names, or nil after an error.
static value names_to_retry(analyzer& a, const form& clause) {
    std::vector<value> names;
    std::vector<source_span> places;
    for (std::size_t i = 1; i < clause.size(); ++i) {
        form one = clause[i];
        if (one.is_list() && one.size() == 2 && one[0].is_symbol() && one[0].name() == "quote")
            one = one[1];
        else if (!one.content.is(kind::string)) one.content = value();
        if (!one.is_symbol() && !one.content.is(kind::string)) {
            a.fail(clause[i].span,
                   "retry: 'on' takes quoted names, such as (on 'TimeoutError "
                   "'rate_limited), not " +
                       shown(clause[i].content));
            return {};
        }
        const value& name = one.content;
        names.push_back(name.is(kind::string) ? name
                                              : make_string(a.realm().memory(), symbol_name(name)));
        places.push_back(clause[i].span);
    }
    if (clause.size() == 1)
        a.fail(clause.span, "retry: 'on' names no error", "write (on 'TimeoutError …)");
    return list_with_places(a.realm().memory(), names, places, clause.span);
}

/// (retry n e), (retry ((attempts n) (backoff seconds) (on 'name…)) e)
static ast::node* form_retry(analyzer& a, const form& f, analyzer::position) {
    if (f.size() != 3) {
        return a.fail(f.span,
                      "retry: expects (retry attempts expression) or (retry ((attempts n) "
                      "(backoff seconds) (on 'name…)) expression), got " +
                          parts_of(f.size() - 1));
    }
    std::optional<form> attempts_given;
    std::optional<form> backoff_given;
    std::optional<form> names_given;
    const form how = f[1];
    const bool clauses = how.is_list() && (how.size() == 0 || how[0].is_list());
    if (!clauses) attempts_given = how;
    for (std::size_t i = 0; clauses && i < how.size(); ++i) {
        const form clause = how[i];
        if (!clause.is_list() || clause.size() == 0 || !clause[0].is_symbol()) {
            return a.fail(clause.span,
                          "retry: a clause must be (attempts n), (backoff seconds) or "
                          "(on 'name…), not " +
                              shown(clause.content));
        }
        const std::string name(clause[0].name());
        std::optional<form>* slot = name == "attempts"  ? &attempts_given
                                    : name == "backoff" ? &backoff_given
                                    : name == "on"      ? &names_given
                                                        : nullptr;
        if (!slot) {
            return a.fail(clause.span, "retry: unknown clause '" + name + "'",
                          "known clauses: attempts, backoff, on");
        }
        if (*slot) return a.fail(clause.span, "retry: the clause '" + name + "' is repeated");
        if (slot != &names_given && clause.size() != 2) {
            return a.fail(clause.span, "retry: the clause '" + name +
                                           "' must hold one expression, not " +
                                           count_of(clause.size() - 1));
        }
        *slot = slot == &names_given ? clause : clause[1];
    }
    if (!attempts_given)
        return a.fail(how.span, "retry: missing clause 'attempts'", "write ((attempts 3) …)");
    // In the order in which they are evaluated, which decides what a bind in one is for another.
    const form n = *attempts_given;
    ast::node* who = a.constant(make_string(a.realm().memory(), "retry: attempts"), n.span);
    ast::node* attempts = a.builtin_node("%attempts", n.span, {who, a.expression(n, a.inner())});
    ast::node* backoff = backoff_given ? seconds_of(a, "retry: backoff", *backoff_given)
                                       : a.constant(value::real(0.5), f.span);
    ast::node* names = names_given ? a.constant(names_to_retry(a, *names_given), names_given->span)
                                   : a.constant({}, f.span);
    if (a.failed()) return a.constant({}, f.span);
    return a.call_library("%retry", f.span,
                          {attempts, backoff, names, effect_or_nil(a, "sleep", f.span),
                           effect_or_nil(a, "%jitter", f.span), thunk_node(a, f[2])});
}

/// (spawn e): belongs to the enclosing function.
static ast::node* form_spawn(analyzer& a, const form& f, analyzer::position) {
    if (f.size() != 2)
        return a.fail(f.span, "spawn: expects 1 expression, got " + count_of(f.size() - 1));
    ast::lambda* owner = a.function();
    while (owner->part_of_outer) owner = owner->parent;
    if (!owner->futures) {
        ast::variable& group = a.arena().variables.emplace_back(); // in no scope: it has no name
        group.owner = owner;
        group.definite = group.bound_once = true;
        owner->futures = &group;
    }
    ast::node* join = a.make(node_kind::local, f.span);
    join->var = owner->futures;
    a.mark_capture(*owner->futures);
    ast::node* result = a.make(node_kind::spawn, f.span);
    result->children = {join, thunk_node(a, f[1])};
    return result;
}

/// (with-permit s e…)
static ast::node* form_with_permit(analyzer& a, const form& f, analyzer::position) {
    if (f.size() < 3) {
        return a.fail(f.span, "with-permit: expects a semaphore and at least one expression");
    }
    ast::node* result = a.make(node_kind::with_permit, f.span);
    result->children.push_back(a.expression(f[1], a.inner()));
    result->children.push_back(a.body(f, 2, a.inner()));
    return result;
}

/// (%try-when (name test) recovery body…): an error for which the test is true runs the recovery;
/// any other goes on as it is, with its trace.
static ast::node* form_try_when(analyzer& a, const form& f, analyzer::position) {
    if (f.size() < 4 || !f[1].is_list() || f[1].size() != 2 || !f[1][0].is_symbol())
        return a.fail(f.span, "%try-when: expects (name test), a recovery and a body");
    ast::node* result = a.make(node_kind::protect, f.span);
    a.begin_conditional();
    result->children.push_back(a.body(f, 3, a.inner()));
    scope own;
    const analyzer::scope_guard guard(a, own);
    ast::catch_clause clause;
    clause.name = a.declare(f[1][0].name());
    clause.name->definite = clause.name->bound_once = true;
    clause.guard = a.expression(f[1][1], a.inner());
    clause.body = a.expression(f[2], a.inner());
    result->catches.push_back(clause);
    a.end_conditional();
    return result;
}

static ast::node* form_parallel(analyzer& a, const form& f, analyzer::position) {
    if (f.size() == 1) return a.constant(value::empty_list(), f.span);
    return branches_of(a, f, join_policy::all);
}

ast::lambda* analyzer::thunk_of(const form& f) {
    value body = make_list(realm_.memory(), std::array<value, 1>{f.content});
    return lambda_of({body, f.span}, {value::empty_list(), f.span}, 0, {});
}

/// (%join-scope name policy "label" count body…): what map and similar functions of the prelude are
/// made of. The policy is one of join_policy_names.
static ast::node* form_join_scope(analyzer& a, const form& f, analyzer::position) {
    const std::optional<join_policy> policy =
        f.size() >= 6 && f[2].is_symbol() ? join_policy_named(f[2].name()) : std::nullopt;
    if (!policy || !f[1].is_symbol() || !f[3].content.is(kind::string)) {
        return a.fail(f.span, "%join-scope: expects a name, a policy, a label, a count and a body");
    }
    ast::node* result = a.make(node_kind::join_scope, f.span);
    result->flag = static_cast<std::uint8_t>(*policy);
    result->constant = f[3].content;
    result->children.push_back(a.expression(f[4], a.inner()));
    scope own;
    const analyzer::scope_guard guard(a, own);
    ast::variable* group = a.declare(f[1].name());
    group->definite = group->bound_once = true;
    result->variables.push_back(group);
    result->children.push_back(a.body(f, 5, a.inner()));
    return a.with_scope(own, result, 1);
}

/// (%branch join slot callee argument…); %free-branch: without a permit.
static ast::node* form_branch(analyzer& a, const form& f, analyzer::position) {
    if (f.size() < 4)
        return a.fail(f.span, "%branch: expects a join, a slot, a function and its arguments");
    ast::node* result = a.make(node_kind::branch, f.span);
    result->flag = f[0].name() == "%free-branch" ? 1 : 0;
    for (std::size_t i = 1; i < f.size(); ++i)
        result->children.push_back(a.expression(f[i], a.inner()));
    return result;
}

namespace {

constexpr special_form rows[] = {
    {.name = "parallel",
     .analyse = &form_parallel,
     .encloses_from = 1,
     .layout = {.form = shape::block},
     .usage = "(parallel expression…)",
     .summary = "Evaluates all the expressions concurrently and returns the list of their "
                "values. The first error cancels the others, waits until they have ended, and is "
                "raised.",
     .example = "(parallel (+ 1 2) (* 3 4)) => '(3 12)",
     .family = "concurrency"},
    {.name = "race",
     .analyse = &form_race,
     .encloses_from = 1,
     .layout = {.form = shape::block},
     .usage = "(race expression…)",
     .summary =
         "Evaluates all the expressions concurrently and returns the first value; the "
         "others are cancelled. An error and a FAILED task result are not a success. When all "
         "fail, the last error is raised; what catch binds has the others as causes. A "
         "race counts as one branch.",
     .example = "(race (error \"no\") (+ 1 2)) => 3",
     .family = "concurrency"},
    {.name = "timeout",
     .analyse = &form_timeout,
     .layout = {.form = shape::body, .beside_head = 1},
     .usage = "(timeout seconds expression [fallback])",
     .summary = "Cancels the expression when the time has passed. The value is then that of the "
                "fallback; without one, a TimeoutError is raised, which no catch inside handles.",
     .example = "(timeout 5 (+ 1 2)) => 3",
     .family = "concurrency"},
    {.name = "hedge",
     .analyse = &form_hedge,
     .encloses_from = 2,
     .layout = {.form = shape::body, .beside_head = 1},
     .usage = "(hedge seconds expression)",
     .summary = "Starts the expression a second time if it has not ended after that many "
                "seconds, and returns the first success of the two. The other one is cancelled.",
     .family = "concurrency"},
    {.name = "retry",
     .analyse = &form_retry,
     .encloses_from = 2,
     .layout = {.form = shape::body, .beside_head = 1, .bindings = 1},
     .usage = "(retry attempts expression)\n"
              "(retry ((attempts n) (backoff seconds) (on 'name…)) expression)",
     .summary = "Evaluates the expression again after an error or a FAILED task result, up to "
                "that many times in all. With on, only after errors whose kind or reason it "
                "names. Between attempts it waits for a random time, up to a bound that begins "
                "at backoff (0.5 seconds) and doubles up to a minute.",
     .example = "(let ((runs 0))\n"
                "  (retry ((attempts 3) (backoff 0)) (progn (set! runs (+ runs 1))\n"
                "                                           (if (< runs 3) (error \"no\") "
                "runs)))) => 3",
     .family = "concurrency"},
    {.name = "spawn",
     .analyse = &form_spawn,
     .encloses_from = 1,
     .usage = "(spawn expression)",
     .summary =
         "Starts the expression concurrently with what follows, and returns a future at once: "
         "see await and cancel. It ends at the latest with the function (or branch, or program) that "
         "encloses the spawn.",
     .example = "(let ((sum (spawn (+ 1 2)))) (* 2 (await sum))) => 6",
     .family = "concurrency"},
    {.name = "with-permit",
     .analyse = &form_with_permit,
     .layout = {.form = shape::body, .beside_head = 1},
     .usage = "(with-permit semaphore body…)",
     .summary = "Waits for a permit of the semaphore, evaluates the body, and releases the "
                "permit, however the body ends. First come, first served. If none can become "
                "free, because the branch and those that contain it hold them all, it raises an "
                "error instead of waiting for ever; if code that awaits it holds some, that "
                "await raises one.",
     .example = "(let ((s (semaphore 1))) (map (lambda (x) (with-permit s (* x x))) '(1 2 3))) => "
                "'(1 4 9)",
     .family = "concurrency"},
    {.name = "%branch", .analyse = &form_branch},
    {.name = "%free-branch", .analyse = &form_branch},
    {.name = "%join-scope",
     .analyse = &form_join_scope,
     .layout = {.form = shape::body, .beside_head = 4}},
    {.name = "%try-when",
     .analyse = &form_try_when,
     .layout = {.form = shape::body, .beside_head = 1}},
};

} // namespace

std::span<const special_form> concurrency_forms() noexcept { return rows; }

} // namespace heddle::lang
