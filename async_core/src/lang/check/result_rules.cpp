// What a program reads from the result of a task that never has it.
#include "lang/check/rules.hpp"

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace heddle::lang {

using ast::node_kind;

namespace {

/// The clauses that may make the result of a task JSON. `ref` takes them from another task.
constexpr std::array<std::string_view, 3> json_clauses{"output_format", "returns", "ref"};

/// The fields that a result may have without JSON.
constexpr std::array<std::string_view, 4> plain_fields{"status", "content", "criteria", "notes"};

template <std::size_t Count>
[[nodiscard]] bool contains(const std::array<std::string_view, Count>& all, std::string_view one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

/// A clause that cannot be read is reported elsewhere: it may be the one that is missed.
[[nodiscard]] bool never_has_json(const value& definition) {
    const auto parts = list_items(definition);
    return std::all_of(parts.begin(), parts.end(), [](const value& part) {
        if (!part.is(kind::list)) return true;
        const auto clause = list_items(part);
        if (clause.empty() || !clause[0].is(kind::symbol)) return false;
        const std::string_view name = symbol_name(clause[0]);
        return !contains(json_clauses, name) && !name.starts_with("output");
    });
}

class result_rule {
public:
    explicit result_rule(const rule_context& context) : context_(context) {}

    void run() const {
        for (const ast::node* n : context_.facts.nodes()) {
            if (n->kind == node_kind::builtin_call && !n->children.empty()) check(*n);
        }
    }

private:
    void check(const ast::node& n) const {
        const std::string_view field = field_of(n);
        if (field.empty() || contains(plain_fields, field)) return;
        // A macro may read the JSON of other tasks in other calls of it.
        if (n.from != ast::origin::call || n.text == ast::written::nowhere) return;
        const known_callee* task = task_behind(*n.children[0], n.text);
        if (!task) return;
        const bool whole = field == "parsedContent";
        context_.add(severity::warning, "no-json", n.span,
                     "the task '" + task->name + "' has no JSON output: its result has no " +
                         (whole ? std::string("parsed content") : "'" + std::string(field) + "'"),
                     "add (output_format ((type \"json\"))) to its definition" +
                         std::string(whole ? ", or read its (content …)" : ""));
    }

    /// The field of a result that a call reads: of the result itself, or of its JSON. Empty: none,
    /// or not certain. A default is written for what is missing.
    [[nodiscard]] static std::string_view field_of(const ast::node& n) {
        const std::string_view reader = n.row->name;
        if (reader == "parsed") return "parsedContent";
        const bool in_json = reader == "get-field" || reader == "require-field";
        if (n.children.size() != 2 || (!in_json && reader != "get")) return {};
        const ast::node& key = *n.children[1];
        if (key.kind != node_kind::constant) return {};
        const std::string_view name = key.constant.is(kind::string)   ? string_bytes(key.constant)
                                      : key.constant.is(kind::symbol) ? symbol_name(key.constant)
                                                                      : std::string_view();
        return in_json || name == "parsedContent" ? name : std::string_view();
    }

    /// The task without JSON whose result an expression is, which is read in a text at `reader`;
    /// null: not certain.
    [[nodiscard]] const known_callee* task_behind(const ast::node& expression,
                                                  ast::written reader) const {
        std::vector<const ast::node*> names;
        const ast::node& call = context_.facts.source_of(expression, &names);
        if (call.kind != node_kind::clause_call && call.kind != node_kind::call) return nullptr;
        // The text of a macro reads a variable that has other values in other calls of the macro.
        if (reader == ast::written::in_macro && !names.empty()) return nullptr;
        const known_callee* callee = context_.facts.task_of(*call.children[0]);
        const bool certain = callee && !callee->task->is_tool && callee->definition;
        return certain && never_has_json(*callee->definition) ? callee : nullptr;
    }

    const rule_context& context_;
};

} // namespace

void check_results(const rule_context& context) { result_rule(context).run(); }

} // namespace heddle::lang
