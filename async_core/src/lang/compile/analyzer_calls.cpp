// Calls: what the head of a list names, and arguments by position or by clause.
#include "analyzer.hpp"
#include "list_places.hpp"
#include "special_form.hpp"

#include "lang/print/form_text.hpp"

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/objects.hpp>

#include <algorithm>
#include <unordered_set>

namespace heddle::lang {

using ast::node_kind;

namespace {

constexpr std::uint32_t either_limit = 3; ///< nested calls that are compiled in both readings

/// ,x and ,@x are lists with such a head.
bool is_comma(std::string_view head) noexcept {
    return head == "unquote" || head == "unquote-splicing";
}

/// A clause as the seeds write it: (name expression). 'x is none, although it is (quote x).
bool is_clause(const form& f) {
    if (!f.is_list() || f.size() != 2 || !f[0].is_symbol()) return false;
    const std::string_view name = f[0].name();
    return name != "quote" && name != "quasiquote" && !is_comma(name);
}

} // namespace

ast::node* analyzer::call(const form& f, position where) {
    const form head = f[0];
    if (const host_object* object = host_of(head.content); object && object->callable()) {
        node* callee = constant(head.content, head.span);
        if (const auto info = realm_.host().describe_callable(*object))
            return task_call(f, callee, info->inputs, info->declares_inputs, info->is_tool);
        return positional(f, callee);
    }
    if (!head.is_symbol()) {
        // Code that was made may hold a function where its name would stand.
        if (head.content.is(kind::closure) || head.content.is(kind::builtin))
            return positional(f, constant(head.content, head.span));
        if (!head.is_list() || head.size() == 0) {
            return fail(f.span,
                        "cannot call " + shown(head.content) + ": it is " +
                            with_article(kind_name(head.content.type())) + ", not a function",
                        "to make a list write (list …) or '(…)");
        }
        return positional(f, expression(head, inner()));
    }
    const std::string_view name = head.name();
    if (is_comma(name) && f.size() == 2 && !is_known_function(name)) {
        const std::string mark = name == "unquote" ? "," : ",@";
        return fail(f.span, mark + shown(f[1].content) + " is not inside of a quasiquote",
                    "write ` before the list around it, or leave out the " + mark);
    }
    // The form wins, whatever the name is bound to, but for the label of a named let.
    if (const special_form* special = find_special_form(name);
        special && !is_internal(name) && !is_named_let(name)) {
        if (collected_ && expansions_ == 0) note_form_call(head);
        node* result = special->analyse(*this, f, where);
        if (special->quotes && result->kind == node_kind::constant)
            result->from = ast::origin::data;
        return result;
    }
    if (const value* expander = find_macro(name)) return expansion(f, *expander, where);
    return call_named(f, where);
}

/// The head of a form that a check looks at may be the name of a variable, too.
void analyzer::note_form_call(const form& head) {
    const name_binding* bound = names_.find(head.name(), scope_);
    if (bound && bound->variable && !bound->variable->form_call.known())
        bound->variable->form_call = head.span;
}

ast::node* analyzer::call_named(const form& f, position where) {
    const form head = f[0];
    const std::string_view name = head.name();
    if (const name_binding* bound = names_.find(name, scope_)) {
        if (bound->label) return call_label(f, *bound->label, where);
        const ast::variable& var = *bound->variable;
        node* callee = reference(head);
        if (var.is_task) return task_call(f, callee, var.task_inputs, true, var.is_tool);
        return positional(f, callee);
    }
    node* callee = reference(head);
    if (failed()) return callee;
    if (callee->kind == node_kind::constant && callee->constant.is(kind::builtin)) {
        const builtin& row = callee->constant.as_builtin();
        if (row.how == builtin_kind::effect) {
            if (node* tool = tool_behind_builtin(f)) return tool;
        }
        const std::size_t count = f.size() - 1;
        if (row.how == builtin_kind::control || count < row.min_arguments ||
            count > row.max_arguments) {
            return positional(f, callee); // arity is checked where it is called
        }
        node* result =
            make(row.how == builtin_kind::pure ? node_kind::builtin_call : node_kind::effect_call,
                 f.span);
        result->from = ast::origin::call;
        result->row = &row;
        for (std::size_t i = 1; i < f.size(); ++i)
            result->children.push_back(expression(f[i], inner()));
        return result;
    }
    const node* target = behind_extras(callee);
    if (target->kind != node_kind::global) return positional(f, callee);
    if (const auto task = defined_tasks_.find(std::string(name)); task != defined_tasks_.end()) {
        return task_call(f, callee, task->second.inputs, true, task->second.is_tool);
    }
    const value& known = realm_.global(target->index);
    std::optional<operator_info> info;
    if (!known.is_unbound()) {
        if (const host_object* object = host_of(known))
            info = realm_.host().describe_callable(*object);
        if (!info) return positional(f, callee);
    } else if (defined_.contains(name) && !inner_tasks_.contains(name)) {
        return positional(f, callee);
    } else {
        info = realm_.host().find_operator(realm_.memory(), name);
    }
    if (info) return task_call(f, callee, info->inputs, info->declares_inputs, info->is_tool);
    // Nobody knows the name yet. If a task of that name is there when it runs, it decides.
    bool clauses = f.size() > 1;
    for (std::size_t i = 1; i < f.size(); ++i) clauses = clauses && is_clause(f[i]);
    if (!clauses) return head_first(f, callee);
    if (either_depth_ >= either_limit) return clause_call(f, callee, 1);
    ++either_depth_;
    node* either = make(node_kind::either_call, f.span);
    node* by_clause = clause_call(f, callee, 1);
    node* by_position = by_position_if_it_reads(f, callee);
    --either_depth_;
    if (!by_position) return by_clause;
    either->children = {by_clause, by_position};
    return either;
}

/// (ask (timeout 5)): the clauses of a task may have the names of forms that they do not fit. Null:
/// the call cannot be read by position.
ast::node* analyzer::by_position_if_it_reads(const form& f, node* callee) {
    if (failed()) return nullptr;
    const std::size_t reported = collected_ ? collected_->size() : 0;
    node* result = head_first(f, callee);
    if (failure_ && failure_->code() == errc::evaluation) {
        failure_.reset();
        return nullptr;
    }
    if (collected_ && collected_->size() > reported) {
        collected_->resize(reported, error(errc::evaluation, ""));
        return nullptr;
    }
    return result;
}

/// A call of the name of a named let: a jump where the loop goes on with its value.
ast::node* analyzer::call_label(const form& f, ast::loop_label& label, position where) {
    const auto at = std::find(loops_.begin(), loops_.end(), &label);
    const bool jumps = label.owner == lambda_ && at != loops_.end() &&
                       static_cast<std::size_t>(at - loops_.begin()) >= where.loops_from &&
                       f.size() - 1 == label.variables.size();
    if (!jumps) {
        label.escaped = true;
        return constant({}, f.span);
    }
    node* again = make(node_kind::loop_again, f.span);
    again->label = &label;
    for (std::size_t i = 1; i < f.size(); ++i) again->children.push_back(expression(f[i], inner()));
    return again;
}

/// Something at the head of a list may have that name.
bool analyzer::is_known_function(std::string_view name) const {
    const auto global = realm_.find_global(name);
    const bool bound = global && !realm_.global(*global).is_unbound();
    return is_local(name) || defined_.contains(name) || bound || find_builtin(name) ||
           find_special_form(name) || realm_.host().find_effect(name) || realm_.find_macro(name) ||
           realm_.host().find_operator(realm_.memory(), name);
}

/// (path path): a local variable that is given under its own name. As a call it would be applied to
/// itself, which nobody means.
bool analyzer::gives_itself(const form& clause) const {
    return clause[1].is_symbol() && clause[1].name() == clause[0].name() &&
           is_local(clause[0].name());
}

/// (read-file (path "a")): the tool of a builtin's name, when every argument is a clause of its
/// own and they cannot all be calls of functions. Null: the builtin is meant.
ast::node* analyzer::tool_behind_builtin(const form& f) {
    if (f.size() < 2 || request_.limits.closed) return nullptr;
    bool all_known = true;
    for (std::size_t i = 1; i < f.size(); ++i) {
        if (!is_clause(f[i])) return nullptr;
        all_known = all_known && is_known_function(f[i][0].name()) && !gives_itself(f[i]);
    }
    if (all_known) return nullptr;
    const auto info = realm_.host().find_operator(realm_.memory(), f[0].name());
    if (!info || !info->is_tool) return nullptr;
    for (std::size_t i = 1; i < f.size(); ++i) {
        const auto& inputs = info->inputs;
        if (std::find(inputs.begin(), inputs.end(), f[i][0].name()) == inputs.end()) return nullptr;
    }
    return clause_call(f, constant(info->callable, f[0].span), 1);
}

ast::node* analyzer::positional(const form& f, node* callee) {
    node* result = make(node_kind::call, f.span);
    result->from = ast::origin::call;
    result->children.push_back(callee);
    for (std::size_t i = 1; i < f.size(); ++i)
        result->children.push_back(expression(f[i], inner()));
    return result;
}

/// A call of a name that nothing defines yet. It is looked up before the arguments, so that the
/// error of (defun f (x) x) names 'defun', and not 'f'.
ast::node* analyzer::head_first(const form& f, node* callee) {
    node* call = positional(f, callee);
    if (f.size() == 1 || failed()) return call;
    node* result = make(node_kind::sequence, f.span);
    result->children = {reference(f[0]), call};
    return result;
}

/// (tool (first-input …) (second-input …)), for a hint.
std::string analyzer::clause_usage(const form& f, std::size_t first,
                                   std::span<const std::string> inputs) {
    constexpr std::size_t most = 6;
    if (inputs.empty()) return {};
    std::string usage = "write (" + shown(f[first - 1].content);
    for (std::size_t i = 0; i < inputs.size() && i < most; ++i) usage += " (" + inputs[i] + " …)";
    return usage + (inputs.size() > most ? " …)" : ")") +
           (inputs.size() > 1 ? ", with the clauses that are needed" : "");
}

/// A call whose arguments from `first` on are (name expression).
ast::node* analyzer::clause_call(const form& f, node* callee, std::size_t first,
                                 std::span<const std::string> inputs) {
    node* result = make(node_kind::clause_call, f.span);
    result->from = ast::origin::call;
    result->children.push_back(callee);
    std::vector<value> names;
    std::vector<source_span> spans;
    for (std::size_t i = first; i < f.size(); ++i) {
        const form clause = f[i];
        if (!is_clause(clause)) {
            return fail(clause.span,
                        "call of '" + shown(f[first - 1].content) +
                            "': each argument must be (name expression), not " +
                            shown(clause.content),
                        clause_usage(f, first, inputs));
        }
        names.push_back(clause[0].content);
        spans.push_back(clause.span);
        result->children.push_back(expression(clause[1], inner()));
    }
    result->constant = list_with_places(realm_.memory(), names, spans, f.span);
    return result;
}

ast::node* analyzer::task_call(const form& f, node* callee, const std::vector<std::string>& inputs,
                               bool declared, bool is_tool) {
    if (is_tool) return clause_call(f, callee, 1, inputs);
    std::size_t clauses = 0;
    std::size_t unknown = 0;
    bool misspelt = false; // some of these; all inputs are looked at for each
    constexpr std::size_t max_looked_at = 100;
    // With few arguments the inputs, which may be many, are not put into a set for each call.
    constexpr std::size_t few = 8;
    const bool many = f.size() > few;
    const std::unordered_set<std::string_view, name_hash> all(inputs.begin(),
                                                              many ? inputs.end() : inputs.begin());
    const auto takes = [&](std::string_view key) {
        return many ? all.contains(key)
                    : std::find(inputs.begin(), inputs.end(), key) != inputs.end();
    };
    for (std::size_t i = 1; i < f.size(); ++i) {
        const form argument = f[i];
        if (!is_clause(argument)) continue;
        const std::string_view key = argument[0].name();
        if (!declared || realm_.host().is_reserved_key(key) || takes(key)) {
            ++clauses;
        } else if (!is_known_function(key)) {
            if (++unknown <= max_looked_at && !misspelt)
                misspelt = !suggest_names(key, inputs).empty();
        }
    }
    // Names that are not a function's can only be meant as inputs; the call then lists the inputs.
    if (clauses != 0 || misspelt) clauses += unknown;
    if (clauses == f.size() - 1) return clause_call(f, callee, 1);
    if (clauses != 0) {
        return fail(f.span,
                    "call of task '" + shown(f[0].content) +
                        "' mixes clauses (name expression) and positions",
                    "write all arguments one way");
    }
    return positional(f, callee);
}

} // namespace heddle::lang
