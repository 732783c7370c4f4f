#include "lang/check/rules.hpp"
#include "lang/help/foreign_names.hpp"

#include <heddle/lang/builtin.hpp>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace heddle::lang {

namespace {

class name_rule {
public:
    explicit name_rule(const rule_context& context) : context_(context) {}

    void run() {
        const auto& nodes = context_.facts.nodes();
        in_unknown_form_.resize(nodes.size());
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            note_unknown_form(i);
            note_clauses_of_variable(*nodes[i]);
        }
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const ast::node& n = *nodes[i];
            const bool names =
                n.kind == ast::node_kind::global || n.kind == ast::node_kind::update_global;
            if (names && !is_known(n.index) && !in_unknown_form_[i]) report(n);
        }
        check_order();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (nodes[i]->kind == ast::node_kind::sequence && !context_.facts.is_guarded(i))
                check_bindings_in_order(*nodes[i]);
        }
    }

private:
    /// (defun f (x) x): when the form is not known, neither is what it makes of its parts.
    void note_unknown_form(std::size_t node) {
        const ast::node& n = *context_.facts.nodes()[node];
        const bool call = n.kind == ast::node_kind::call || n.kind == ast::node_kind::clause_call;
        if (!call || n.children[0]->kind != ast::node_kind::global) return;
        const ast::node& head = *n.children[0];
        const std::string_view name = context_.realm.global_name(head.index);
        if (!looks_like_form(name) || is_known(head.index)) return;
        if (head.text == ast::written::nowhere) return;
        // Parts come after the form around them.
        if (in_unknown_form_[node]) return;
        const std::size_t first_part = context_.facts.end_of(node + 1); // behind the head
        std::fill(
            in_unknown_form_.begin() + static_cast<std::ptrdiff_t>(first_part),
            in_unknown_form_.begin() + static_cast<std::ptrdiff_t>(context_.facts.end_of(node)),
            true);
        if (!defines_by_name(name) || n.children.size() < 2) return;
        const ast::node* defined = n.children[1];
        while (!defined->children.empty() && defined->kind != ast::node_kind::global)
            defined = defined->children.front(); // (f x…)
        if (defined->kind == ast::node_kind::global)
            defined_.emplace(context_.realm.global_name(defined->index));
    }

    /// (define (f ask) (ask (x 1))): a variable is called by position, also when it holds a task.
    void note_clauses_of_variable(const ast::node& n) {
        if (n.kind != ast::node_kind::call || n.children[0]->kind != ast::node_kind::local) return;
        for (std::size_t i = 1; i < n.children.size(); ++i) {
            const ast::node* argument = n.children[i];
            const ast::node* looked_at = nullptr; // an unknown head is, before the call of it
            if (argument->kind == ast::node_kind::sequence && argument->children.size() == 2) {
                looked_at = argument->children.front();
                argument = argument->children.back();
            }
            const bool one_part =
                argument->kind == ast::node_kind::call && argument->children.size() == 2;
            const ast::node* head = one_part ? argument->children[0] : nullptr;
            if (!head || head->kind != ast::node_kind::global) continue;
            clauses_of_.emplace(head, n.children[0]->var);
            if (looked_at) clauses_of_.emplace(looked_at, n.children[0]->var);
        }
    }

    [[nodiscard]] bool is_known(std::uint32_t index) const {
        realm& realm = context_.realm;
        if (context_.facts.defines_global(index)) return true;
        if (!realm.global(index).is_unbound()) return true;
        const std::string name(realm.global_name(index));
        if (name.front() == '%' || context_.facts.is_imported(name)) return true;
        // A definition inside of a function registers it for all.
        if (context_.facts.defines_task(name)) return true;
        if (context_.lost_names && context_.lost_names->contains(name)) return true;
        if (defined_.contains(name)) return true;
        const auto& externs = context_.options.externs;
        if (std::find(externs.begin(), externs.end(), name) != externs.end()) return true;
        return realm.host().find_operator(realm.memory(), name).has_value();
    }

    /// A global that the top level reads before the definition of it has run. What a function reads
    /// is not looked at: the function may be called later.
    void check_order() const {
        const auto& nodes = context_.facts.nodes();
        std::unordered_map<std::uint32_t, std::size_t> definitions; // the first of each
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (nodes[i]->kind == ast::node_kind::define_global)
                definitions.try_emplace(nodes[i]->index, i);
        }
        std::unordered_set<std::uint32_t> reported;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const ast::node& n = *nodes[i];
            const bool reads =
                n.kind == ast::node_kind::global || n.kind == ast::node_kind::update_global;
            if (!reads || context_.facts.is_conditional(i) || context_.facts.is_guarded(i))
                continue;
            const auto found = definitions.find(n.index);
            if (found == definitions.end()) continue;
            if (found->second < i && !is_part_of(i, found->second)) continue;
            if (has_value_before(n.index) || !reported.insert(n.index).second) continue;
            report_order(n, *nodes[found->second]);
        }
    }

    /// (letrec ((a b) (b 1)) a): what is bound further down has no value yet. Only where no name of
    /// an outer scope may be meant, and not in what may not be evaluated.
    void check_bindings_in_order(const ast::node& body) const {
        std::unordered_map<const ast::variable*, std::size_t> bound; // by the first binding
        for (std::size_t i = 0; i < body.children.size(); ++i) {
            if (body.children[i]->kind == ast::node_kind::bind_local)
                bound.try_emplace(body.children[i]->var, i);
        }
        if (bound.empty()) return;
        for (std::size_t i = 0; i < body.children.size(); ++i) {
            const ast::node& one = *body.children[i];
            if (one.kind != ast::node_kind::bind_local) continue;
            std::vector<const ast::node*> open{one.children.front()};
            while (!open.empty()) {
                const ast::node& now = *open.back();
                open.pop_back();
                switch (now.kind) {
                case ast::node_kind::local: {
                    const auto later = bound.find(now.var);
                    if (later != bound.end() && later->second >= i) report_unbound(now);
                    break;
                }
                case ast::node_kind::call:
                case ast::node_kind::builtin_call:
                case ast::node_kind::effect_call:
                    open.insert(open.end(), now.children.begin(), now.children.end());
                    break;
                default: break;
                }
            }
        }
    }

    void report_unbound(const ast::node& n) const {
        if (n.children.size() != 1 || n.children[0]->kind != ast::node_kind::global ||
            is_known(n.children[0]->index))
            return;
        context_.add(severity::error, "used-before-definition", n.span,
                     "'" + n.var->name + "' is used here before it has a value",
                     "move its definition up, or use it in a function");
    }

    /// Not as part of a function in it, or of a `finally`. What is in a function is conditional.
    [[nodiscard]] bool is_part_of(std::size_t node, std::size_t definition) const {
        const program_facts& facts = context_.facts;
        return node >= definition && node < facts.end_of(definition) &&
               facts.cleanup_around(node) == facts.cleanup_around(definition);
    }

    /// The global has a value of another origin, or may have one.
    [[nodiscard]] bool has_value_before(std::uint32_t index) const {
        realm& realm = context_.realm;
        if (!realm.global(index).is_unbound() || context_.facts.has_open_names()) return true;
        const std::string name(realm.global_name(index));
        const auto& externs = context_.options.externs;
        return context_.facts.count_of_definitions(name) > 1 || context_.facts.is_imported(name) ||
               find_builtin(name) || realm.find_prelude_global(name) ||
               std::find(externs.begin(), externs.end(), name) != externs.end() ||
               realm.host().find_operator(realm.memory(), name).has_value();
    }

    void report_order(const ast::node& n, const ast::node& definition) const {
        const std::string name(context_.realm.global_name(n.index));
        const std::uint32_t line = context_.line_of(definition.span);
        context_.add(severity::error, "used-before-definition", n.span,
                     "'" + name + "' is used here before its definition at line " +
                         std::to_string(line) + " has run",
                     "move the definition up, or this below it");
    }

    void report(const ast::node& n) {
        const std::string name(context_.realm.global_name(n.index));
        const bool open = context_.facts.has_open_names();
        // Suggestions cost a look at every name.
        std::string hint;
        if (suggestions_ < max_suggestions) {
            hint = advice_for_name(name);
            if (const auto called = clauses_of_.find(&n); called != clauses_of_.end()) {
                const std::string& task = called->second->name;
                hint = "if '" + task + "' holds a task, write (call-atomic-task " + task + " (" +
                       name + " …))";
            }
            if (hint.empty()) hint = suggest_names(name, candidates());
        }
        ++suggestions_;
        if (hint.empty()) {
            hint = context_.hint_to_define(name);
        }
        context_.add(open ? severity::warning : severity::error, "unknown-name", n.span,
                     "unknown name '" + name + "'" +
                         (open ? " (it may come from an import or from eval)" : ""),
                     std::move(hint));
    }

    const std::vector<std::string>& candidates() {
        if (!names_.empty()) return names_;
        realm& realm = context_.realm;
        std::set<std::string> all(context_.facts.local_names());
        all.insert(context_.facts.imported().begin(), context_.facts.imported().end());
        for (std::uint32_t i = 0; i < realm.global_count(); ++i) {
            if (is_known(i)) all.emplace(realm.global_name(i));
        }
        for (const auto family :
             {number_builtins(), string_builtins(), regex_builtins(), list_builtins(),
              map_builtins(), data_builtins(), control_builtins()}) {
            for (const builtin& row : family) all.emplace(row.name);
        }
        std::vector<std::string> of_host;
        realm.host().collect_names(of_host);
        all.insert(of_host.begin(), of_host.end());
        for (const std::string& name : all) {
            const bool hidden = name.front() == '%' || name.find(' ') != std::string::npos;
            if (!hidden) names_.push_back(name);
        }
        return names_;
    }

    static constexpr std::size_t max_suggestions = 100;

    const rule_context& context_;
    std::size_t suggestions_ = 0;
    std::vector<std::string> names_;
    std::vector<bool> in_unknown_form_; ///< of each node: what it means is not known
    std::set<std::string> defined_;     ///< by unknown forms
    /// By the heads of what a variable is called with.
    std::unordered_map<const ast::node*, const ast::variable*> clauses_of_;
};

} // namespace

void check_names(const rule_context& context) { name_rule(context).run(); }

} // namespace heddle::lang
