// What a sandbox is certain to refuse, and names in its `allow` that mean nothing.
#include "lang/check/rules.hpp"
#include "lang/compile/analyzer.hpp"

#include <heddle/base/keyed_hash.hpp>
#include <heddle/lang/builtin.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace heddle::lang {

using ast::node_kind;

namespace {

class sandbox_rule {
public:
    explicit sandbox_rule(const rule_context& context) : context_(context) {}

    void run() {
        for (const ast::node* n : context_.facts.nodes()) {
            if (is_sandbox(*n)) check(*n);
        }
    }

private:
    [[nodiscard]] static bool is_sandbox(const ast::node& n) {
        return n.kind == node_kind::with_settings &&
               static_cast<scope_kind>(n.flag) == scope_kind::sandbox;
    }

    void check(const ast::node& sandbox) {
        const ast::node& limits = *sandbox.children[0];
        form allowed{value::empty_list(), sandbox.span};
        for (std::size_t i = 0; i + 1 < limits.children.size(); i += 2) {
            if (string_bytes(limits.children[i]->constant) == "allow")
                allowed = {limits.children[i + 1]->constant, limits.children[i + 1]->span};
        }
        std::unordered_set<std::string_view, name_hash> names;
        for (std::size_t i = 0; i < allowed.size(); ++i) {
            check_name(allowed[i]);
            names.insert(allowed[i].name());
        }
        check_effects(*sandbox.children[1], names);
    }

    /// A name that may be misspelt. What eval and imports define is not known here, so there must
    /// be a name that it resembles.
    void check_name(const form& allowed) {
        realm& realm = context_.realm;
        const std::string name(allowed.name());
        const auto& externs = context_.options.externs;
        const bool known = find_builtin(name) || realm.host().find_effect(name) ||
                           realm.host().find_operator(realm.memory(), name) ||
                           realm.find_global(name) || realm.find_macro(name) ||
                           context_.facts.defines_task(name) || context_.facts.is_imported(name) ||
                           context_.facts.local_names().contains(name) ||
                           context_.facts.defines_global(realm.global_index(name)) ||
                           (context_.lost_names && context_.lost_names->contains(name)) ||
                           name.starts_with("atomic:") ||
                           std::find(externs.begin(), externs.end(), name) != externs.end();
        if (known) return;
        std::string hint = context_.suggest(name, candidates());
        if (hint.empty()) return;
        context_.add(severity::warning, "unknown-name", allowed.span,
                     "the sandbox allows '" + name + "', which nothing defines", std::move(hint));
    }

    const std::vector<std::string>& candidates() {
        if (!names_.empty()) return names_;
        realm& realm = context_.realm;
        realm.collect_names(names_);
        for (const known_callee* each : context_.facts.tasks()) names_.push_back(each->name);
        for (std::uint32_t i = 0; i < realm.global_count(); ++i) {
            if (context_.facts.defines_global(i)) names_.emplace_back(realm.global_name(i));
        }
        return names_;
    }

    /// Builtins with effects that stand in the text of the sandbox. One inside of it has its own.
    void check_effects(const ast::node& body,
                       const std::unordered_set<std::string_view, name_hash>& allowed) {
        std::vector<const ast::node*> open{&body};
        while (!open.empty()) {
            const ast::node& n = *open.back();
            open.pop_back();
            if (is_sandbox(n)) continue;
            if (n.kind == node_kind::effect_call) check_effect(n, allowed);
            open.insert(open.end(), n.children.begin(), n.children.end());
            if (n.kind == node_kind::make_lambda && n.code->body) open.push_back(n.code->body);
            for (const ast::catch_clause& clause : n.catches) open.push_back(clause.body);
            if (n.cleanup) open.push_back(n.cleanup);
        }
    }

    void check_effect(const ast::node& n,
                      const std::unordered_set<std::string_view, name_hash>& allowed) {
        const std::string name(n.row->name);
        if (name == "sleep" || name.starts_with('%')) return; // they reach nothing
        if (allowed.contains(name)) return;
        if (places_.empty()) {
            const auto& nodes = context_.facts.nodes();
            for (std::size_t i = 0; i < nodes.size(); ++i) places_.emplace(nodes[i], i);
        }
        const auto found = places_.find(&n);
        // The program may want to see the refusal.
        if (found == places_.end() || context_.facts.is_guarded(found->second)) return;
        const bool certain = !context_.facts.is_conditional(found->second);
        context_.add(certain ? severity::error : severity::warning, "permission", n.span,
                     "the sandbox does not allow '" + name + "'",
                     "add it to the sandbox: (allow (" + name + "))");
    }

    const rule_context& context_;
    std::vector<std::string> names_;                           ///< that may be meant
    std::unordered_map<const ast::node*, std::size_t> places_; ///< numbers of the nodes
};

} // namespace

void check_sandboxes(const rule_context& context) { sandbox_rule(context).run(); }

} // namespace heddle::lang
