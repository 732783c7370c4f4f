// Values that calls give to tasks and tools.
#include "lang/check/known_values.hpp"
#include "lang/check/rules.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

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
            found->message.resize(shown);
            found->message += ", not " + given.noun;
        }
        return found;
    }

    const rule_context& context_;
    known_values values_;
};

} // namespace

void check_clause_values(const rule_context& context) { clause_rule(context).run(); }

} // namespace heddle::lang
