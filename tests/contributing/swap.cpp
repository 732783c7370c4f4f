// `swap!`: the function and the row of docs/contributing/adding-a-special-form.md, among what the
// source of a family has around them.
#include "worked_examples.hpp"

#include "lang/compile/analyzer_scopes.hpp"
#include "lang/print/form_text.hpp"

namespace heddle::lang {

using ast::node_kind;

/// (swap! a b): exchanges the values of two variables.
static ast::node* form_swap(analyzer& a, const form& f, analyzer::position) {
    if (f.size() != 3)
        return a.fail(f.span, "swap!: expects 2 names, got " + count_of(f.size() - 1));
    // (let ((of-a a) (of-b b)) (set! a of-b) (set! b of-a)), whose variables no symbol means.
    ast::node* result = a.make(node_kind::scope, f.span);
    for (std::size_t i = 1; i < f.size(); ++i) {
        if (!a.check_name(f[i], "swap!", "a variable")) return result;
        result->children.push_back(a.expression(f[i], a.inner()));
    }
    scope own;
    const analyzer::scope_guard guard(a, own);
    for (const char* name : {"value of a", "value of b"}) {
        ast::variable* held = a.declare_hidden(name);
        held->definite = held->bound_once = true;
        result->variables.push_back(held);
    }
    ast::node* both = a.make(node_kind::sequence, f.span);
    for (std::size_t i = 1; i < f.size(); ++i) {
        ast::node* other = a.make(node_kind::local, f[3 - i].span);
        other->var = result->variables[2 - i];
        both->children.push_back(a.assign_from(f[i].name(), f.span, own.outer, other));
    }
    result->children.push_back(both);
    return a.with_scope(own, result, 2);
}

namespace {

constexpr special_form rows[] = {
    {.name = "swap!",
     .analyse = &form_swap,
     .layout = {.form = shape::body, .beside_head = 1},
     .usage = "(swap! a b)",
     .summary = "Exchanges the values of two variables.",
     .example = "(let ((x 1) (y 2)) (swap! x y) (list x y)) => '(2 1)",
     .family = "binding"},
};

} // namespace

std::span<const special_form> example_forms() noexcept { return rows; }

} // namespace heddle::lang
