#include "lang/check/rules.hpp"

#include <heddle/lang/builtin.hpp>

#include <set>

namespace heddle::lang {

using ast::node_kind;

namespace {

class binding_rule {
public:
    explicit binding_rule(const rule_context& context) : context_(context) {}

    void run() {
        for (const ast::node* n : context_.facts.nodes()) {
            if (n->kind == node_kind::call && n->children[0]->kind == node_kind::local) {
                called_.insert(n->children[0]->var);
            }
        }
        for (const ast::node* n : context_.facts.nodes()) {
            for (const ast::variable* each : n->variables) check_local(*each, n->kind);
            for (const ast::variable* each : n->cleared) check_local(*each, n->kind);
            for (const ast::catch_clause& clause : n->catches) {
                check_shadowing(*clause.name);
                check_form_call(*clause.name);
            }
            if (n->kind == node_kind::named_loop) {
                for (const ast::variable* each : n->label->variables) check_local(*each, n->kind);
            }
            if (n->kind == node_kind::make_lambda) {
                for (const ast::variable* each : n->code->parameters) check_parameter(*each);
            }
            if (n->kind == node_kind::define_global) check_global(*n);
        }
    }

private:
    /// Written in the source under that name: what a macro made is nobody's to mend here.
    [[nodiscard]] bool is_written(const ast::variable& var) const {
        return var.place.known() && context_.realm.sources().text(var.place) == var.name;
    }

    void check_local(const ast::variable& var, node_kind where) {
        if (where == node_kind::eval_code || !is_written(var)) return;
        if (!seen_.insert(&var).second) return;
        // A form that was dropped because it is wrong may have been the one that reads it.
        // A task or tool is registered: a model may call it, and so may code outside of its scope.
        const bool called = check_form_call(var);
        const bool exempt =
            called || var.name.starts_with('_') || var.is_task || context_.lost_names;
        if (!exempt && !context_.facts.is_read(var)) {
            context_.add(severity::warning, "unused-binding", var.place,
                         "'" + var.name + "' is never used",
                         "remove it, or call it _" + var.name + " when that is meant");
        }
        check_shadowing(var);
    }

    /// (timeout 1 2) is the form, whatever `timeout` is bound to. Where the variable is read, and
    /// no function, the form may well be meant: (timeout timeout (ask)).
    bool check_form_call(const ast::variable& var) {
        if (!var.form_call.known()) return false;
        ast::node reading;
        reading.kind = node_kind::local;
        reading.var = const_cast<ast::variable*>(&var);
        const known_callee* known = context_.facts.callee_of(reading);
        const bool function = known && known->code;
        if (!function && (context_.facts.is_read(var) || context_.lost_names)) return false;
        context_.add(severity::warning, "form-not-variable", var.form_call,
                     "'" + var.name + "' is the special form here, not the variable of that name",
                     "rename the variable to call it");
        return true;
    }

    /// A parameter named `list` matters only where (list …) is meant to call the builtin.
    void check_parameter(const ast::variable& var) {
        if (is_written(var)) check_form_call(var);
        if (called_.contains(&var)) check_shadowing(var);
    }

    void check_shadowing(const ast::variable& var) {
        if (is_written(var) && is_builtin(var.name)) report_shadowing(var.name, var.place);
    }

    void check_global(const ast::node& n) {
        const std::string name(context_.realm.global_name(n.index));
        if (!is_builtin(name)) return;
        // The name within the definition.
        const std::string_view text = context_.realm.sources().text(n.span);
        const std::size_t blank = text.find_first_of(" \t\n");
        const std::size_t at = blank == text.npos ? text.npos : text.find(name, blank);
        source_span place = n.span;
        if (at != text.npos) {
            place.begin += static_cast<std::uint32_t>(at);
            place.end = place.begin + static_cast<std::uint32_t>(name.size());
        }
        report_shadowing(name, place);
    }

    [[nodiscard]] bool is_builtin(const std::string& name) const {
        const realm& realm = context_.realm;
        return find_builtin(name) || realm.host().find_effect(name) ||
               realm.find_prelude_global(name).has_value();
    }

    void report_shadowing(const std::string& name, source_span place) {
        context_.add(severity::warning, "shadowed-builtin", place,
                     "shadows the builtin '" + name + "'", "rename it, unless this is intended");
    }

    const rule_context& context_;
    std::set<const ast::variable*> seen_;
    std::set<const ast::variable*> called_;
};

} // namespace

void check_bindings(const rule_context& context) { binding_rule(context).run(); }

} // namespace heddle::lang
