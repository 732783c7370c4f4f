// director-evaluator-loop and iterative-loop (docs/spec/language.md §5): checks their clauses. The
// loops themselves are functions of the prelude, so that every phase may wait.
#include "analyzer.hpp"
#include "lang/print/form_text.hpp"

#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>

namespace heddle::lang {

using ast::node_kind;

/// Each clause once, in any order: (name expression). The expressions become the arguments of a
/// function of the prelude, in the order of `clauses`.
ast::node* analyzer::loop_form(const form& f, std::string_view function,
                               std::span<const std::string_view> clauses) {
    const std::string who(f[0].name());
    const auto refuse = [&](source_span where, std::initializer_list<std::string_view> parts,
                            std::string hint = {}) {
        std::string message = who + ": ";
        for (const std::string_view part : parts) message += part;
        return fail(where, std::move(message), std::move(hint));
    };
    std::vector<node*> values(clauses.size(), nullptr);
    for (std::size_t i = 1; i < f.size() && !failed(); ++i) {
        const form clause = f[i];
        if (!clause.is_list() || clause.size() == 0 || !clause[0].is_symbol()) {
            return refuse(clause.span,
                          {"expected a clause (name expression), not ", shown(clause.content)});
        }
        const std::string name(clause[0].name());
        const auto found = std::find(clauses.begin(), clauses.end(), name);
        if (found == clauses.end()) {
            return refuse(clause.span, {"unknown clause '", name, "'"},
                          suggest_names(name, {clauses.begin(), clauses.end()}));
        }
        if (clause.size() != 2) {
            return refuse(clause.span, {"the clause '", name, "' must hold one expression, not ",
                                        count_of(clause.size() - 1)});
        }
        node*& slot = values[static_cast<std::size_t>(found - clauses.begin())];
        if (slot) return refuse(clause.span, {"the clause '", name, "' is repeated"});
        std::string label = "in the clause '";
        label.append(name).append("' of ").append(who);
        slot = make(node_kind::within, clause.span);
        slot->constant = make_string(world_.memory(), label);
        slot->children.push_back(expression(clause[1], inner()));
    }
    if (failed()) return constant({}, f.span);
    std::string missing;
    for (std::size_t i = 0; i < clauses.size(); ++i) {
        if (!values[i]) missing += (missing.empty() ? "'" : ", '") + std::string(clauses[i]) + "'";
    }
    if (!missing.empty()) return refuse(f.span, {"missing clause ", missing});
    return call_library(function, f.span, std::move(values));
}

ast::node* analyzer::form_director_loop(const form& f, position) {
    static constexpr std::array<std::string_view, 6> clauses{
        "max-iterations", "initial-director-input", "director", "executor", "evaluator",
        "controller"};
    return loop_form(f, "%director-evaluator-loop", clauses);
}

ast::node* analyzer::form_iterative_loop(const form& f, position) {
    static constexpr std::array<std::string_view, 6> clauses{
        "max-iterations", "initial-input", "test-command", "executor", "validator", "controller"};
    return loop_form(f, "%iterative-loop", clauses);
}

/// (%within "label" number body…): errors of the body say "label number" in their trace.
ast::node* analyzer::form_within(const form& f, position) {
    if (f.size() < 4 || !f[1].content.is(kind::string)) {
        return fail(f.span, "%within: expects a label, a number and a body");
    }
    node* made = make(node_kind::within, f.span);
    made->constant = f[1].content;
    node* number = expression(f[2], inner());
    made->children = {body(f, 3, inner()), number};
    return made;
}

/// (%with-config value body…): *loop-config* in the dynamic extent of the body.
ast::node* analyzer::form_with_config(const form& f, position) {
    if (f.size() < 3) return fail(f.span, "%with-config: expects a value and a body");
    node* made = scope_node(scope_kind::config, expression(f[1], inner()));
    made->children.push_back(body(f, 2, inner()));
    return made;
}

} // namespace heddle::lang
