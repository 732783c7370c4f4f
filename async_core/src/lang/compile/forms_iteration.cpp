// director-evaluator-loop and iterative-loop (docs/spec/language.md §5): checks their clauses. The
// loops themselves are functions of the prelude, so that every phase may wait.
#include "analyzer.hpp"
#include "lang/print/form_text.hpp"
#include "special_form.hpp"

#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>

namespace heddle::lang {

using ast::node_kind;

/// A phase may be named in quotes, as tools are elsewhere (docs/spec/language.md §5).
static form phase_of(const form& part) {
    const bool quoted = part.is_list() && part.size() == 2 && part[0].is_symbol() &&
                        part[0].name() == "quote" && part[1].is_symbol();
    return quoted ? part[1] : part;
}

/// Each clause once, in any order: (name expression). The expressions become the arguments of a
/// function of the prelude, in the order of `clauses`; those from `first_phase` on are phases.
static ast::node* loop_form(analyzer& a, const form& f, std::string_view function,
                            std::span<const std::string_view> clauses, std::ptrdiff_t first_phase) {
    const std::string who(f[0].name());
    const auto refuse = [&](source_span where, std::initializer_list<std::string_view> parts,
                            std::string hint = {}) {
        std::string message = who + ": ";
        for (const std::string_view part : parts) message += part;
        return a.fail(where, std::move(message), std::move(hint));
    };
    std::vector<std::optional<form>> given(clauses.size());
    for (std::size_t i = 1; i < f.size(); ++i) {
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
        std::optional<form>& slot = given[static_cast<std::size_t>(found - clauses.begin())];
        if (slot) return refuse(clause.span, {"the clause '", name, "' is repeated"});
        slot = clause;
    }
    std::string missing;
    for (std::size_t i = 0; i < clauses.size(); ++i) {
        if (!given[i]) missing += (missing.empty() ? "'" : ", '") + std::string(clauses[i]) + "'";
    }
    if (!missing.empty()) {
        const bool several = missing.find(',') != std::string::npos;
        return refuse(f.span, {several ? "missing clauses " : "missing clause ", missing});
    }
    // In the order in which they are evaluated, which decides what a bind in one is for another.
    std::vector<ast::node*> values;
    for (std::size_t i = 0; i < clauses.size() && !a.failed(); ++i) {
        const form clause = *given[i];
        std::string label = "in the clause '";
        label.append(clauses[i]).append("' of ").append(who);
        ast::node* each = a.make(node_kind::within, clause.span);
        each->constant = make_string(a.realm().memory(), label);
        const bool is_phase = static_cast<std::ptrdiff_t>(i) >= first_phase;
        each->children.push_back(
            a.expression(is_phase ? phase_of(clause[1]) : clause[1], a.inner()));
        values.push_back(each);
    }
    if (a.failed()) return a.constant({}, f.span);
    return a.call_library(function, f.span, std::move(values));
}

static ast::node* form_director_loop(analyzer& a, const form& f, analyzer::position) {
    static constexpr std::array<std::string_view, 6> clauses{
        "max-iterations", "initial-director-input", "director", "executor", "evaluator",
        "controller"};
    return loop_form(a, f, "%director-evaluator-loop", clauses, 2);
}

static ast::node* form_iterative_loop(analyzer& a, const form& f, analyzer::position) {
    static constexpr std::array<std::string_view, 6> clauses{
        "max-iterations", "initial-input", "test-command", "executor", "validator", "controller"};
    return loop_form(a, f, "%iterative-loop", clauses, 3);
}

/// (%within "label" number body…): errors of the body say "label number" in their trace.
static ast::node* form_within(analyzer& a, const form& f, analyzer::position) {
    if (f.size() < 4 || !f[1].content.is(kind::string)) {
        return a.fail(f.span, "%within: expects a label, a number and a body");
    }
    ast::node* result = a.make(node_kind::within, f.span);
    result->constant = f[1].content;
    ast::node* number = a.expression(f[2], a.inner());
    result->children = {a.body(f, 3, a.inner()), number};
    return result;
}

/// (%with-config value body…): *loop-config* in the dynamic extent of the body.
static ast::node* form_with_config(analyzer& a, const form& f, analyzer::position) {
    if (f.size() < 3) return a.fail(f.span, "%with-config: expects a value and a body");
    ast::node* result = a.scope_node(scope_kind::config, a.expression(f[1], a.inner()));
    result->children.push_back(a.body(f, 2, a.inner()));
    return result;
}

namespace {

constexpr special_form rows[] = {
    {.name = "director-evaluator-loop",
     .analyse = &form_director_loop,
     .layout = {.form = shape::body},
     .usage = "(director-evaluator-loop\n"
              "  (max-iterations n)\n"
              "  (initial-director-input value)\n"
              "  (director f)    ; (f input i) => plan\n"
              "  (executor f)    ; (f plan i) => result\n"
              "  (evaluator f)   ; (f result plan i) => feedback\n"
              "  (controller f)) ; (f feedback plan result i) => (list 'continue input) or (list "
              "'stop value)",
     .summary = "Plans, executes and evaluates until the controller stops. The clauses may be in "
                "any order; phases are functions, tasks or tools. When the iterations run out, "
                "the value is the last result of the executor.",
     .example = "(director-evaluator-loop (max-iterations 5) (initial-director-input 1)\n"
                "  (director (lambda (input i) (* input 2))) (executor (lambda (plan i) (+ plan "
                "1)))\n"
                "  (evaluator (lambda (result plan i) (> result 8)))\n"
                "  (controller (lambda (good plan result i)\n"
                "    (if good (list 'stop result) (list 'continue result))))) => 15",
     .family = "tasks"},
    {.name = "iterative-loop",
     .analyse = &form_iterative_loop,
     .layout = {.form = shape::body},
     .usage = "(iterative-loop\n"
              "  (max-iterations n)\n"
              "  (initial-input value)\n"
              "  (test-command value)\n"
              "  (executor f)    ; (f input i) => result\n"
              "  (validator f)   ; (f command i) => validation\n"
              "  (controller f)) ; (f result validation input i) => (list 'continue input) or "
              "(list 'stop value)",
     .summary = "Executes and validates until the controller stops. The clauses may be in any "
                "order; when the iterations run out, the value is the last result of the "
                "executor.",
     .example = "(iterative-loop (max-iterations 3) (initial-input 1) (test-command \"check\")\n"
                "  (executor (lambda (input i) (* input 10))) (validator (lambda (command i) (> i "
                "1)))\n"
                "  (controller (lambda (result good input i)\n"
                "    (if good (list 'stop result) (list 'continue result))))) => 100",
     .family = "tasks"},
    {.name = "%with-config",
     .analyse = &form_with_config,
     .layout = {.form = shape::body, .beside_head = 1}},
    {.name = "%within", .analyse = &form_within, .layout = {.form = shape::body, .beside_head = 2}},
};

} // namespace

std::span<const special_form> loop_forms() noexcept { return rows; }

} // namespace heddle::lang
