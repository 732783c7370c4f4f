// Values that calls give to tasks and tools, and arguments that are meant as clauses.
#include "lang/check/known_values.hpp"
#include "lang/check/rules.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>

namespace heddle::lang {

using ast::node_kind;

namespace {

class clause_rule {
public:
    explicit clause_rule(const rule_context& context) : context_(context), values_(context) {}

    void run() {
        const auto& nodes = context_.facts.nodes();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const ast::node& n = *nodes[i];
            if (n.kind == node_kind::clause_call && !context_.facts.is_guarded(i)) check_values(n);
            if (n.kind == node_kind::effect_call) check_misread(n);
            if (n.kind == node_kind::call && n.children[0]->kind == node_kind::local)
                check_shadowed(n);
        }
    }

private:
    void check_values(const ast::node& n) {
        const known_callee* callee = context_.facts.task_of(*n.children[0]);
        if (!callee || !callee->task->refuses) return;
        const auto names = list_items(n.constant);
        for (std::size_t i = 0; i < names.size(); ++i) {
            const known_value given = values_.of(*n.children[i + 1]);
            if (auto wrong = refusal_of(*callee->task, symbol_name(names[i]), given)) {
                context_.add(wrong->level, wrong->code, n.children[i + 1]->span,
                             std::move(wrong->message), std::move(wrong->hint));
            }
        }
    }

    /// Of a kind alone: only when every value of the kind is refused.
    [[nodiscard]] std::optional<value_refusal> refusal_of(const task_signature& task,
                                                          std::string_view clause,
                                                          const known_value& given) const {
        if (given.constant) return task.refuses(clause, *given.constant);
        // A function has no data to try.
        if (!given.type || *given.type == kind::closure) return std::nullopt;
        std::optional<value_refusal> found;
        for (const value& each : values_.samples_of(given)) {
            auto wrong = task.refuses(clause, each);
            if (!wrong || wrong->level != severity::error) return std::nullopt;
            if (!found) found = std::move(wrong);
        }
        if (!found) return found;
        // The message may show the sample.
        const std::size_t shown = found->message.rfind(", not ");
        if (shown != std::string::npos) {
            // heddle-check: allow cut-text: an ASCII comma begins there
            found->message.resize(shown);
            found->message += ", not " + given.noun;
        }
        return found;
    }

    /// The name of (name expression); empty for anything else.
    [[nodiscard]] std::string_view clause_name(const ast::node& argument) const {
        const ast::node* call = &argument;
        if (call->kind == node_kind::sequence && call->children.size() == 2)
            call = call->children.back(); // an unknown head is looked at first
        if (call->kind == node_kind::either_call) call = call->children.front();
        const bool builtin =
            call->kind == node_kind::builtin_call || call->kind == node_kind::effect_call;
        const bool named = call->kind == node_kind::call || call->kind == node_kind::clause_call;
        const bool one_part =
            builtin ? call->children.size() == 1 : named && call->children.size() == 2;
        if (!one_part || call->from != ast::origin::call || call->text == ast::written::nowhere)
            return {};
        if (builtin) return call->row->name;
        const ast::node& head = *call->children[0];
        if (head.kind == node_kind::local) return head.var->name;
        if (head.kind == node_kind::global) return context_.realm.global_name(head.index);
        const bool is_builtin = head.kind == node_kind::constant && head.constant.is(kind::builtin);
        return is_builtin ? head.constant.as_builtin().name : std::string_view();
    }

    [[nodiscard]] bool takes(const task_signature& task, std::string_view name) const {
        const auto& inputs = task.inputs;
        return std::find(inputs.begin(), inputs.end(), name) != inputs.end() ||
               (!task.is_tool && context_.realm.host().is_reserved_key(name));
    }

    /// (write-file (path path) (text text)): the builtin, whose argument calls a local variable
    /// with itself. Nobody means that; the tool of that name has such a clause.
    void check_misread(const ast::node& n) const {
        const known_callee* tool = context_.facts.host_task_named(n.row->name);
        if (!tool || !tool->task->is_tool) return;
        for (const ast::node* each : n.children) {
            const std::string_view name = clause_name(*each);
            if (name.empty()) return;
            if (each->kind != node_kind::call || !takes(*tool->task, name)) continue;
            const ast::node& head = *each->children[0];
            const ast::node& given = *each->children[1];
            if (head.kind != node_kind::local || given.kind != node_kind::local ||
                head.var != given.var)
                continue;
            context_.add(severity::error, "misread-clause", each->span,
                         "this calls the local variable '" + std::string(name) +
                             "' with itself: the arguments are not the clauses of the tool '" +
                             tool->name + "'",
                         "its clauses are '" + ascii::join(tool->task->inputs, "', '") + "'");
            return;
        }
    }

    /// A local variable with the name of a task, called where the task seems to be meant.
    void check_shadowed(const ast::node& n) {
        const ast::node& head = *n.children[0];
        const ast::variable& var = *head.var;
        if (var.is_task || var.hidden || var.names_let || !var.place.known()) return;
        const known_callee* task = context_.facts.task_named(var.name);
        if (!task) task = context_.facts.host_task_named(var.name);
        if (!task || context_.facts.source_of(head).kind == node_kind::global) return;
        const bool may_be_meant = context_.facts.is_parameter(var) || calls_function(head);
        if (may_be_meant && !has_clauses_of(*task->task, n)) return;
        const std::uint32_t line = context_.line_of(var.place);
        context_.add(severity::warning, "shadowed-task", head.span,
                     "'" + var.name + "' is the variable of line " + std::to_string(line) +
                         " here, not the " + (task->task->is_tool ? "tool" : "task") +
                         " of that name",
                     "give the variable another name");
    }

    /// The variable is certain to hold a function.
    [[nodiscard]] bool calls_function(const ast::node& head) {
        const known_value held = values_.of(head);
        if (held.constant)
            return held.constant->is(kind::closure) || held.constant->is(kind::builtin);
        return held.type == kind::closure;
    }

    [[nodiscard]] bool has_clauses_of(const task_signature& task, const ast::node& n) const {
        if (n.children.size() < 2) return false;
        return std::all_of(n.children.begin() + 1, n.children.end(), [&](const ast::node* each) {
            const std::string_view name = clause_name(*each);
            return !name.empty() && takes(task, name);
        });
    }

    const rule_context& context_;
    known_values values_;
};

} // namespace

void check_clause_values(const rule_context& context) { clause_rule(context).run(); }

} // namespace heddle::lang
