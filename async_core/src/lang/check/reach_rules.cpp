#include "lang/check/rules.hpp"

#include "lang/print/form_text.hpp"

#include <heddle/lang/printer.hpp>

#include <map>
#include <string>
#include <string_view>

namespace heddle::lang {

using ast::node_kind;
using ast::origin;

namespace {

/// A constant where somebody wrote a condition. What a macro puts together may be constant for some
/// of its calls.
bool is_constant_condition(const ast::node& n) {
    if (n.text == ast::written::nowhere) return false;
    const ast::node& test = *n.children[0];
    // A form that is wrong is a constant, too.
    return test.kind == node_kind::constant &&
           (test.from == origin::atom || test.from == origin::data);
}

void check_condition(const rule_context& context, const ast::node& n) {
    if (!is_constant_condition(n)) return;
    const ast::node& test = *n.children[0];
    const bool holds = test.constant.truthy();
    switch (n.from) {
    case origin::condition:
        context.add(severity::warning, "constant-condition", test.span,
                    std::string("this condition is always ") + (holds ? "true" : "false"),
                    "replace the form by the branch you want");
        break;
    case origin::clause:
        if (holds) {
            // A clause of a macro may follow what another call of the macro leaves open.
            if (n.children[2]->text == test.text)
                context.add(severity::warning, "unreachable", n.children[2]->span,
                            "this clause is never reached: the one before it always holds");
            break;
        }
        [[fallthrough]];
    case origin::last_clause:
        if (holds) break; // another way to write else
        context.add(severity::warning, "unreachable", n.span,
                    "this clause is never taken: its condition is always false");
        break;
    default: break;
    }
}

/// (if done? 1 2), where done? is a function: it was to be called. Functions of other names may be
/// values that a program tests.
void check_predicate(const rule_context& context, const ast::node& test) {
    if (test.text == ast::written::nowhere) return;
    std::string_view name;
    if (test.kind == node_kind::local) name = test.var->name;
    else if (test.kind == node_kind::global) name = context.realm.global_name(test.index);
    if (!name.ends_with('?')) return;
    const known_callee* known = context.facts.callee_of(test);
    if (!(known && known->code) && !context.facts.library_function_of(test)) return;
    const bool none = known && known->code->parameters.empty();
    context.add(severity::warning, "constant-condition", test.span,
                "this condition is always true: '" + std::string(name) +
                    "' is a function that is not called",
                "write (" + std::string(name) + (none ? ")" : " …)"));
}

void check_case(const rule_context& context, const ast::node& n) {
    if (n.from != origin::case_scope) return;
    std::map<std::string, ast::written> seen;
    const ast::node* clause = n.children.back();
    while (clause->kind == node_kind::branch_if && clause->children.size() == 3) {
        for (const ast::node* key : clause->children[0]->children) {
            if (key->kind != node_kind::builtin_call || key->children.size() != 2) continue;
            const ast::node& constant = *key->children[1];
            if (constant.text == ast::written::nowhere) continue; // other calls have other keys
            // (quote a) has two keys, and 'a is the same list: only the source shows which it is.
            if (context.realm.sources().text(constant.span) == "'") {
                context.add(severity::warning, "quoted-key", constant.span,
                            "the keys of case are data already: this one is the symbol quote",
                            "leave out the quote");
                continue;
            }
            const auto [first, fresh] = seen.emplace(print_value(constant.constant), constant.text);
            // A call of a macro may take over a clause that the macro has for the others.
            if (fresh || first->second != constant.text) continue;
            context.add(severity::warning, "unreachable", constant.span,
                        "the key " + shown(constant.constant) +
                            " appears twice: the first clause takes it");
        }
        clause = clause->children[2];
    }
}

bool always_raises(const ast::node& n) {
    const bool builtin = n.kind == node_kind::builtin_call || n.kind == node_kind::effect_call;
    if (builtin) return n.row->name == "error";
    if (n.kind != node_kind::call) return false;
    const ast::node& callee = *n.children[0];
    return callee.kind == node_kind::constant && callee.constant.is(kind::builtin) &&
           callee.constant.as_builtin().name == "error";
}

void check_sequence(const rule_context& context, const ast::node& n) {
    for (std::size_t i = 0; i + 1 < n.children.size(); ++i) {
        if (!always_raises(*n.children[i])) continue;
        context.add(severity::warning, "unreachable", n.children[i + 1]->span,
                    "this is never reached: the expression before it raises an error");
        return;
    }
}

} // namespace

void check_reach(const rule_context& context) {
    for (const ast::node* n : context.facts.nodes()) {
        switch (n->kind) {
        case node_kind::branch_if:
            if (n->children.size() == 3) check_condition(context, *n);
            check_predicate(context, *n->children[0]);
            break;
        case node_kind::while_loop: check_predicate(context, *n->children[0]); break;
        case node_kind::scope: check_case(context, *n); break;
        case node_kind::sequence: check_sequence(context, *n); break;
        default: break;
        }
    }
}

} // namespace heddle::lang
