// Definitions that replace each other, values that nobody uses, and keys that are given twice.
#include "lang/check/rules.hpp"
#include "lang/print/form_text.hpp"

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/text.hpp>

#include <array>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace heddle::lang {

using ast::node_kind;

namespace {

/// The definition of a global that a form of the top level is; null: none.
const ast::node* definition_in(const ast::node& form) {
    const ast::node* at = &form;
    // defatom and deftool give their name after they have bound it.
    if (at->kind == node_kind::sequence && at->children.size() == 2 &&
        at->children[1]->kind == node_kind::constant)
        at = at->children[0];
    return at->kind == node_kind::define_global ? at : nullptr;
}

class duplicate_rule {
public:
    explicit duplicate_rule(const rule_context& context) : context_(context) {}

    void run() {
        const auto& nodes = context_.facts.nodes();
        if (nodes.empty()) return;
        check_top_level(*nodes.front());
        for (const ast::node* n : nodes) {
            if (n->kind == node_kind::sequence) check_unused(*n);
            if (n->kind == node_kind::builtin_call && n->row->name == "dict") check_keys(*n);
        }
    }

private:
    void check_top_level(const ast::node& program) {
        if (program.kind != node_kind::sequence) return;
        std::unordered_map<std::uint32_t, const ast::node*> first;
        for (const ast::node* form : program.children) {
            if (const ast::node* defined = definition_in(*form)) {
                const auto [place, fresh] = first.try_emplace(defined->index, defined);
                if (!fresh) report_second(*place->second, *defined);
            } else if (form->kind == node_kind::call) {
                check_main(*form);
            }
        }
    }

    void report_second(const ast::node& before, const ast::node& now) {
        const std::uint32_t line = context_.line_of(before.span);
        context_.add(severity::warning, "redefined", now.span,
                     "'" + std::string(context_.realm.global_name(now.index)) +
                         "' is defined a second time: it replaces the definition on line " +
                         std::to_string(line),
                     "use set! to change a variable; otherwise choose another name");
    }

    /// `heddle run` calls main itself.
    void check_main(const ast::node& call) const {
        const ast::node& callee = *call.children[0];
        if (callee.kind != node_kind::global ||
            context_.realm.global_name(callee.index) != "main" ||
            !context_.facts.defines_global(callee.index))
            return;
        context_.add(severity::warning, "runs-twice", call.span,
                     "'main' is called here, and 'heddle run' calls it once more",
                     "remove the call: what main returns is the value of the program");
    }

    /// A lone atom that is not the last expression. Strings may be meant as remarks.
    void check_unused(const ast::node& n) const {
        if (n.text == ast::written::nowhere) return;
        for (std::size_t i = 0; i + 1 < n.children.size(); ++i) {
            const ast::node& part = *n.children[i];
            const bool atom = part.kind == node_kind::local || part.kind == node_kind::global ||
                              (part.kind == node_kind::constant && !part.constant.is(kind::string));
            if (!atom || part.from != ast::origin::atom || !part.span.known()) continue;
            // What follows the body of a `do` is not in the text: the part is the last one of it.
            if (n.children[i + 1]->from == ast::origin::composed) continue;
            const std::string_view text = context_.realm.sources().text(part.span);
            context_.add(severity::warning, "unused-value", part.span,
                         "this value is unused: " + std::string(text), hint_at(n, i));
        }
    }

    /// (dict "a" 1 'a 2). A macro may put keys together that differ in other calls of it.
    void check_keys(const ast::node& n) const {
        if (n.from != ast::origin::call || n.text == ast::written::nowhere) return;
        std::unordered_set<std::string_view> seen;
        for (std::size_t i = 0; i + 1 < n.children.size(); i += 2) {
            const ast::node& key = *n.children[i];
            const bool named = key.kind == node_kind::constant &&
                               (key.constant.is(kind::string) || key.constant.is(kind::symbol));
            if (!named) continue;
            const std::string_view name = key.constant.is(kind::string) ? string_bytes(key.constant)
                                                                        : symbol_name(key.constant);
            if (seen.insert(name).second) continue;
            context_.add(severity::warning, "duplicate-key", key.span,
                         "the key " + shown(key.constant) +
                             " is given twice: the map has only the last value",
                         "remove one of the two, or rename it");
        }
    }

    /// 1 + 2: an operator between others.
    [[nodiscard]] std::string hint_at(const ast::node& n, std::size_t i) const {
        constexpr std::array<std::string_view, 10> operators{"+", "-", "*",  "/",  "=",
                                                             "<", ">", "<=", ">=", "and"};
        for (std::size_t k = i; k < n.children.size() && k < i + 2; ++k) {
            const std::string_view text = context_.realm.sources().text(n.children[k]->span);
            for (const std::string_view each : operators) {
                if (text == each) return "operators come first: (" + std::string(each) + " 1 2)";
            }
        }
        return "to call a function write (function argument…)";
    }

    const rule_context& context_;
};

} // namespace

void check_duplicates(const rule_context& context) { duplicate_rule(context).run(); }

} // namespace heddle::lang
