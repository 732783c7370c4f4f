// Continues after an error, so that a check can report all of them.
#include "analyzer.hpp"
#include "special_form.hpp"

#include <heddle/lang/list.hpp>

namespace heddle::lang {

namespace {

constexpr std::size_t max_errors = 200;

} // namespace

/// As expression; an error is noted and the form counts as nil.
ast::node* analyzer::expression_or_error(const form& f, position where) {
    // What a form that fails half way may leave behind.
    scope* const scope = scope_;
    ast::lambda* const lambda = lambda_;
    const std::size_t depth = depth_;
    const std::size_t expansions = expansions_;
    const std::size_t loops = loops_.size();
    const unsigned sandboxes = sandboxes_;
    const std::uint32_t counts[] = {loop_depth_, conditional_, tentative_loops_, either_depth_};
    const std::size_t errors = collected_->size();

    node* result = f.is_symbol() ? reference(f) : call(f, where);
    if (!failed()) note_origin(f, *result);
    if (!failed() || collected_->size() >= max_errors) return result;

    collected_->push_back(*std::move(failure_));
    failure_.reset();
    close_to(scope);
    lambda_ = lambda;
    depth_ = depth;
    expansions_ = expansions;
    loops_.resize(loops);
    sandboxes_ = sandboxes;
    loop_depth_ = counts[0];
    conditional_ = counts[1];
    tentative_loops_ = counts[2];
    either_depth_ = counts[3];
    // When errors inside were noted already, its parts have been analysed.
    if (collected_->size() == errors + 1 && f.is_list()) look_for_more(f);
    return constant({}, f.span);
}

/// Nobody but a check, which collects errors, wants to know.
void analyzer::note_origin(const form& f, node& result) const {
    if (f.is_symbol()) {
        result.from = ast::origin::atom;
    } else if (f[0].span == f.span && written_at(f.span) != ast::written::nowhere) {
        // In a list that was read, the head has a place of its own.
        result.from = ast::origin::composed;
    }
}

/// Analyses the special forms inside a form that is wrong itself: of its other parts nobody knows
/// whether they are expressions.
void analyzer::look_for_more(const form& f) {
    const special_form* whole =
        f.size() != 0 && f[0].is_symbol() ? find_special_form(f[0].name()) : nullptr;
    for (std::size_t i = 0; i < f.size() && !failed(); ++i) {
        const form part = f[i];
        if (!part.is_list() || part.size() == 0) continue;
        if (whole && i != 0 && i == whole->layout.names) continue; // (define (loop x) …)
        if (whole && i != 0 && i == whole->layout.bindings) {
            // (with (timeout 3) …): only what follows a name in a list is an expression.
            for (std::size_t k = 0; k < part.size() && !failed(); ++k) {
                if (part[k].is_list() && part[k].size() > 1 && part[k][0].is_symbol())
                    look_for_more({list_slice(part[k].content, 1, part[k].size()), part[k].span});
            }
            continue;
        }
        const special_form* row = part[0].is_symbol() ? find_special_form(part[0].name()) : nullptr;
        if (row && row->quotes) continue;
        if (row && !is_local(row->name)) {
            (void)expression(part, inner());
        } else if (enter(part)) { // a macro may have made it
            look_for_more(part);
            leave();
        }
    }
}

} // namespace heddle::lang
