// Names: what is declared where, and what a name means in its place.
#include "analyzer.hpp"
#include "special_form.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>

namespace heddle::lang {

using ast::node_kind;

namespace {

constexpr special_form plain_call{}; ///< binds nothing

/// The row of the special form at the head of a list, or that of a call.
[[nodiscard]] const special_form& row_of(const form& f) noexcept {
    const special_form* row = f[0].is_symbol() ? find_special_form(f[0].name()) : nullptr;
    return row ? *row : plain_call;
}

[[nodiscard]] bool has_head(const form& f, std::string_view name) noexcept {
    return f.is_list() && f.size() != 0 && f[0].is_symbol() && f[0].name() == name;
}

} // namespace

void analyzer::open(scope& opened) {
    opened.outer = scope_;
    opened.owner = lambda_;
    opened.bindings = names_.size();
    opened.loop_depth = loop_depth_;
    opened.conditional = conditional_;
    if (scope_) {
        opened.depth = scope_->depth + 1;
        opened.outer_extras = scope_->nearest_extras();
        opened.outer_sandbox = scope_->nearest_sandbox();
    }
    scope_ = &opened;
}

void analyzer::close_to(scope* outer) {
    constexpr std::size_t portion = 256;
    for (; scope_ != outer; scope_ = scope_->outer) {
        while (names_.size() > scope_->bindings + portion) {
            names_.shrink(names_.size() - portion);
            // Whoever does not wait for it any more is notified at the next work.
            (void)work_.add(portion / 16);
        }
        names_.shrink(scope_->bindings);
    }
}

/// Names that begin with % belong to the prelude and the libraries that come with the language.
bool analyzer::is_internal(std::string_view name) const noexcept {
    return name.starts_with('%') && !request_.internal_names;
}

ast::node* analyzer::fail_internal(std::string_view name, source_span span) {
    return fail(span, "'" + std::string(name) + "' belongs to the implementation",
                "names that begin with % cannot be used in programs; choose another",
                errc::permission);
}

/// A variable of the innermost scope.
ast::variable* analyzer::declare(std::string_view name, source_span place) {
    ast::variable* result = declare_hidden(name);
    result->hidden = false;
    result->place = place;
    names_.add(result->name, {.in = scope_, .variable = result});
    return result;
}

/// As declare, but no symbol means the variable: one that a program makes may have any name.
ast::variable* analyzer::declare_hidden(std::string_view name) {
    ast::variable& result = arena_.variables.emplace_back();
    result.name = name;
    result.hidden = true;
    result.owner = scope_->owner;
    result.loop_depth = scope_->loop_depth;
    scope_->variables.push_back(&result);
    return &result;
}

/// The label of a named let wins over a form of its name inside its body.
bool analyzer::is_named_let(std::string_view name) const {
    const name_binding* bound = names_.find(name, scope_);
    return bound && (bound->label || (bound->variable && bound->variable->names_let));
}

bool analyzer::is_local(std::string_view name) const {
    const name_binding* bound = names_.find(name, scope_);
    return bound && !bound->macro;
}

/// The variable that `bind` defines here; null at the top level, and where code given to eval
/// defines a name that its surroundings do not have.
ast::variable* analyzer::bind_here(std::string_view name, source_span place) {
    if (!scope_) return nullptr;
    if (const name_binding* bound = names_.find_value(name, scope_);
        bound && bound->in == scope_ && bound->variable) {
        ast::variable* const variable = bound->variable;
        const name_binding* last = names_.find(name, scope_);
        if (last && last->macro && last->in == scope_) // which it takes the place of
            names_.add(variable->name, {.in = scope_, .variable = variable});
        return variable;
    }
    return scope_->sealed ? nullptr : declare(name, place);
}

/// Defines `name` where there is no variable for it.
ast::node* analyzer::define_here(std::string_view name, source_span span, node* init) {
    if (scope_) return bind_in_extras(name, init, span);
    realm_.forget_macro(name);
    node* result = make(node_kind::define_global, span);
    result->index = realm_.global_index(name);
    result->children.push_back(init);
    return result;
}

/// A level of declare_binds_of. A macro may have made it. The frames are far smaller than those of
/// the analysis.
class analyzer::declaring_level {
public:
    declaring_level(analyzer& owner, const form& f) : owner_(owner) {
        constexpr std::size_t levels_of_an_expression = 4;
        if (owner.declaring_++ >= (owner.max_depth_ - owner.depth_) * levels_of_an_expression)
            owner.fail_too_deep(f);
    }
    ~declaring_level() { --owner_.declaring_; }
    declaring_level(const declaring_level&) = delete;
    declaring_level& operator=(const declaring_level&) = delete;

private:
    analyzer& owner_;
};

/// Declares ahead what the forms of a body, those of `f` from `from` on, bind, so that functions of
/// one body see each other.
void analyzer::declare_binds(const form& f, std::size_t from) {
    seen_lists seen;
    for (std::size_t i = from; i < f.size(); ++i) declare_binds_of(f[i], seen);
}

/// Parts with a scope of their own declare what they bind themselves, so code is walked once,
/// however deep it nests.
void analyzer::declare_binds_of(const form& f, seen_lists& seen) {
    if (!f.is_list() || f.size() == 0 || failed()) return;
    spend(1 + f.size() / 16, 0);
    const declaring_level level(*this, f);
    if (failed()) return;
    const special_form& form_row = row_of(f);
    const bool is_form = !form_row.name.empty() && !is_named_let(form_row.name);
    const special_form& row = is_form ? form_row : plain_call;
    if (row.values_outside != outer_values::none) declare_binds_of_values(f, row, seen);
    if (row.name == "quasiquote" && f.size() == 2) declare_binds_of_unquoted(f[1], 1, seen);
    if (row.encloses_from == 1 || row.quotes) return;
    if (row.name == "eval" && !is_local(row.name)) extras_here();
    std::size_t end = row.encloses_from == 0 ? f.size() : row.encloses_from;
    if (row.binds != binding::nothing && f.size() >= 2) {
        if (row.name == "bind" && f.size() > 3) {
            end = 3; // (bind name value body…) binds in its body alone
        } else if (f[1].is_symbol()) {
            ast::variable* bound = bind_here(f[1].name(), f[1].span);
            if (row.binds == binding::task || row.binds == binding::tool) {
                bound->is_task = true;
                bound->task_inputs = inputs_of(f);
            }
            if (row.binds == binding::tool) {
                bound->is_tool = true;
                return; // its body is a function's
            }
        } else if (row.name == "define" && f[1].is_list() && f[1].size() != 0 &&
                   f[1][0].is_symbol()) {
            bind_here(f[1][0].name(), f[1][0].span);
            return;
        }
    }
    const bool has_handlers = row.name == "try";
    const auto items = list_items(f.content).first(std::min(end, f.size()));
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (!items[i].is(kind::list) || !seen.first_time(items[i])) continue;
        const form part = f[i];
        if (!has_handlers || !has_head(part, "catch")) declare_binds_of(part, seen);
        else if (part.size() >= 2) declare_binds_of(part[1], seen); // the kind of the error
    }
}

/// The values that a form encloses, but that are computed in the scope around it.
void analyzer::declare_binds_of_values(const form& f, const special_form& row, seen_lists& seen) {
    std::size_t at = row.layout.bindings;
    if (f.size() > at && f[at].is_symbol()) ++at; // a named let
    if (f.size() <= at || !f[at].is_list()) return;
    const std::size_t all = f[at].size();
    const std::size_t count =
        row.values_outside == outer_values::first ? std::min<std::size_t>(1, all) : all;
    for (std::size_t i = 0; i < count && !failed(); ++i) {
        const form one = f[at][i];
        if (!one.is_list() || one.size() < 2 || !one[1].is_list()) continue;
        if (seen.first_time(one[1].content)) declare_binds_of(one[1], seen);
    }
}

/// `depth` counts the quasiquotes that are open.
void analyzer::declare_binds_of_unquoted(const form& f, std::size_t depth, seen_lists& seen) {
    if (!f.is_list() || f.size() == 0 || failed() || !seen.first_time(f.content)) return;
    spend(1 + f.size() / 16, 0);
    const declaring_level level(*this, f);
    if (failed()) return;
    const bool is_pair = f.size() == 2;
    const bool unquotes = is_pair && (has_head(f, "unquote") || has_head(f, "unquote-splicing"));
    if (unquotes && depth == 1) return declare_binds_of(f[1], seen);
    const bool quotes = is_pair && has_head(f, "quasiquote");
    const std::size_t inside = unquotes ? depth - 1 : depth + (quotes ? 1 : 0);
    for (std::size_t i = 0; i < f.size() && !failed(); ++i)
        declare_binds_of_unquoted(f[i], inside, seen);
}

/// As declare_binds, for one expression.
void analyzer::declare_binds_in(const form& f) {
    seen_lists seen;
    declare_binds_of(f, seen);
}

/// Names that the program defines at its top level, wherever it does so.
void analyzer::collect_toplevel(const form& f, seen_lists& seen) {
    if (!f.is_list() || f.size() == 0 || failed()) return;
    spend(1 + f.size() / 16, 0);
    const special_form& row = row_of(f);
    if (row.quotes) return;
    if (row.binds == binding::macro) {
        has_macros_ = true;
    } else if (row.binds != binding::nothing && f.size() >= 2) {
        if (f[1].is_symbol()) {
            defined_.insert(f[1].name());
            if (row.binds != binding::name) inner_tasks_.insert(f[1].name());
        } else if (f[1].is_list() && f[1].size() != 0 && f[1][0].is_symbol()) {
            defined_.insert(f[1][0].name());
        }
    }
    // The lists in these are names with values, and keys with bodies.
    std::size_t names_in = row.layout.bindings;
    if (row.name == "let" && f.size() >= 2 && f[1].is_symbol()) ++names_in;
    const bool has_keys = row.name == "case";
    const auto items = list_items(f.content);
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (!items[i].is(kind::list) || !seen.first_time(items[i])) continue;
        if (names_in != 0 && i == names_in) collect_toplevel_of_parts(f[i], seen);
        else if (has_keys && i > 1) collect_toplevel_behind(f[i], seen);
        else collect_toplevel(f[i], seen);
    }
}

/// Of each element of a list, what follows its first part.
void analyzer::collect_toplevel_of_parts(const form& list, seen_lists& seen) {
    for (std::size_t i = 0; i < list.size() && !failed(); ++i)
        if (list[i].is_list()) collect_toplevel_behind(list[i], seen);
}

void analyzer::collect_toplevel_behind(const form& list, seen_lists& seen) {
    for (std::size_t i = 1; i < list.size() && !failed(); ++i)
        if (list[i].is_list() && seen.first_time(list[i].content)) collect_toplevel(list[i], seen);
}

void analyzer::mark_capture(ast::variable& var) {
    if (var.owner == lambda_) return;
    var.captured = true;
    if (var.definite) return;
    // The function that is the variable's only value reaches itself without a cell.
    for (const ast::lambda* l = lambda_; l; l = l->parent) {
        if (l == var.self) return;
    }
    var.captured_early = true;
}

/// The nearest variable of that name or name of a loop, from `start` outwards, or null.
const name_binding* analyzer::variable_named(std::string_view name, const scope* start) const {
    return names_.find_value(name, start);
}

bool analyzer::is_certainly_bound(const ast::variable& var) const {
    bool itself = false;
    for (const ast::lambda* l = lambda_; l && var.self; l = l->parent)
        itself = itself || l == var.self;
    return var.definite || itself;
}

ast::node* analyzer::fail_fallbacks(std::string_view name, source_span span) {
    if (fallbacks_.now <= fallback_count::max) {
        return fail(span,
                    "too many names here may be bound in several scopes around them: more than " +
                        std::to_string(fallback_count::max_in_all) + " ways to find one",
                    "nest fewer scopes that contain eval or bind the same name", errc::limit);
    }
    return fail(span,
                "'" + std::string(name) + "' may be bound by more than " +
                    std::to_string(fallback_count::max) + " forms around it",
                "bind it once, with let, around all of them", errc::limit);
}

ast::node* analyzer::reference_from(std::string_view name, source_span span, scope* start) {
    if (is_internal(name)) return fail_internal(name, span);
    const fallback_count count(fallbacks_);
    if (count.are_too_many()) return fail_fallbacks(name, span);
    const name_binding* bound = variable_named(name, start);
    scope* around = start ? start->nearest_extras() : nullptr;
    if (around && (!bound || around->depth > bound->in->depth)) {
        return from_extras(*around->extras, name, reference_from(name, span, around->outer), span);
    }
    if (bound && bound->label) {
        bound->label->escaped = true;
        return constant({}, span);
    }
    if (bound) {
        ast::variable& var = *bound->variable;
        scope* const outer = bound->in->outer;
        mark_capture(var);
        node* result = make(node_kind::local, span);
        result->var = &var;
        if (!is_certainly_bound(var)) {
            var.conditional = true;
            result->children.push_back(reference_from(name, span, outer));
        }
        return result;
    }
    if (name == "*loop-config*") {
        node* result = make(node_kind::dynamic, span);
        result->flag = static_cast<std::uint8_t>(dynamic_name::loop_config);
        result->constant = realm_.memory().symbol(name);
        return result;
    }
    if (request_.limits.closed) return closed_reference(name, span);
    const bool defined = defined_.contains(name) || realm_.find_program_global(name).has_value();
    if (!defined) {
        const builtin* row = find_builtin(name);
        if (!row) row = realm_.host().find_effect(name);
        if (row) return constant(value::of_builtin(*row), span);
        if (find_special_form(name)) {
            return fail(span, "'" + std::string(name) + "' is a special form, not a value",
                        "put it at the head of a list, or wrap it in a lambda");
        }
    }
    node* result = make(node_kind::global, span);
    result->index = defined ? realm_.global_index(name) : realm_.reference_index(name);
    return result;
}

ast::node* analyzer::reference(const form& f) { return reference_from(f.name(), f.span, scope_); }

std::vector<std::string> analyzer::inputs_of(const form& f) {
    std::vector<std::string> inputs;
    for (std::size_t i = 2; i < f.size(); ++i) {
        const form clause = f[i];
        if (!clause.is_list() || clause.size() == 0 || !clause[0].is_symbol() ||
            clause[0].name() != "params")
            continue;
        for (std::size_t k = 1; k < clause.size(); ++k) {
            const form parameter = clause[k];
            if (parameter.is_symbol()) inputs.emplace_back(parameter.name());
            else if (parameter.is_list() && parameter.size() != 0 && parameter[0].is_symbol())
                inputs.emplace_back(parameter[0].name());
        }
    }
    return inputs;
}

void analyzer::note_operator(const std::string& name, std::vector<std::string> inputs,
                             bool is_tool) {
    defined_.insert(name);
    defined_tasks_[name] = {std::move(inputs), is_tool};
}

} // namespace heddle::lang
