// What `set!` assigns: the nearest binding of a name, which may be known only when it runs.
#include "analyzer_scopes.hpp"
#include "special_form.hpp"

#include <heddle/lang/text.hpp>

namespace heddle::lang {

using ast::node_kind;

ast::node* analyzer::fail_outside(std::string_view name, source_span span) {
    return fail(span, "set!: '" + std::string(name) + "' is outside of the sandbox",
                "return the new value from the sandbox", errc::permission);
}

/// Which binding is the nearest is known when set! runs: code given to eval may have made one, or
/// the nearest variable may not be bound.
bool analyzer::is_assigned_when_it_runs(std::string_view name) {
    if (!scope_) return false;
    if (scope_->nearest_extras()) return true;
    const name_binding* bound = variable_named(name, scope_);
    return bound && !bound->label && !is_certainly_bound(*bound->variable);
}

/// If it is not bound, the next one further out is assigned.
ast::node* analyzer::assign_variable(const name_binding& bound, std::string_view name,
                                     source_span span, node* init) {
    ast::variable& var = *bound.variable;
    scope* const outer = bound.in->outer;
    const fallback_count count(fallbacks_);
    if (count.are_too_many()) return fail_fallbacks(name, span);
    mark_capture(var);
    var.reassigned = true;
    node* result = make(node_kind::set_local, span);
    result->var = &var;
    result->children.push_back(init);
    if (is_certainly_bound(var)) return result;
    var.conditional = true;
    const bool leaves_sandbox = bound.in->sandbox != nullptr;
    result->children.push_back(assign_from(name, span, outer, init, leaves_sandbox, true, true));
    return result;
}

/// `set!` of the nearest binding of `name` from `start` outwards. `when_it_runs`: a definition that
/// eval has made may come before it, so what cannot be assigned raises only when it is reached.
/// `is_unbound`: so is a variable that comes before.
ast::node* analyzer::assign_from(std::string_view name, source_span span, scope* start, node* init,
                                 bool left_sandbox, bool when_it_runs, bool is_unbound) {
    const name_binding* bound = variable_named(name, start);
    const std::uint32_t depth = bound ? bound->in->depth : 0;
    const auto leaves = [&](std::uint32_t to) { // a sandbox, on the way from `start` outwards
        const scope* body = start ? start->nearest_sandbox() : nullptr;
        return left_sandbox || (body && body->depth > to);
    };
    if (scope* around = start ? start->nearest_extras() : nullptr;
        around && around->depth > depth) {
        node* result = make(node_kind::branch_if, span);
        result->var = around->extras;
        node* key = constant(text_of_name(name), span);
        const bool left = leaves(around->depth);
        result->children = {
            builtin_node("has-key?", span, {read_extras(*around->extras, span), key}),
            left ? out_of_reach(name, realm_.memory().symbol("set!"), span)
                 : bind_in_extras_of(*around->extras, name, init, span),
            assign_from(name, span, around->outer, init, left || around->sandbox != nullptr, true,
                        is_unbound)};
        return result;
    }
    left_sandbox = leaves(depth);
    if (bound && bound->label && !left_sandbox) { // of a named let: it is a function then
        bound->label->escaped = true;
        return constant({}, span);
    }
    if (bound && !bound->label && !left_sandbox && !is_internal(name))
        return assign_variable(*bound, name, span, init);
    const bool is_form = find_special_form(name) && !bound && !defined_.contains(name) &&
                         !realm_.find_program_global(name);
    if (is_form && when_it_runs && !left_sandbox) return out_of_reach(name, false, span);
    node* target = reference_from(name, span, start);
    if (failed()) return target;
    const auto outside = [&] {
        return when_it_runs ? out_of_reach(name, realm_.memory().symbol("set!"), span)
                            : fail_outside(name, span);
    };
    if (target->kind == node_kind::call && (when_it_runs || !left_sandbox)) {
        // Raises: for a name that is bound outside, or for one that is not bound at all.
        const bool there = target->children[2]->constant.truthy();
        return there ? out_of_reach(name, realm_.memory().symbol("set!"), span) : target;
    }
    if (left_sandbox) return outside();
    const bool global = target->kind == node_kind::global;
    // What a sandbox allows can be called; it is not the sandbox's own.
    if (global && request_.limits.closed) return outside();
    if (!global || (realm_.is_prelude_global(target->index) && !request_.internal_names)) {
        if (when_it_runs || is_unbound) return out_of_reach(name, false, span);
        return fail(span, "set!: '" + std::string(name) + "' cannot be assigned",
                    "define a variable of your own with bind or let");
    }
    node* result = make(node_kind::update_global, span);
    result->index = target->index;
    result->children.push_back(init);
    return result;
}

} // namespace heddle::lang
