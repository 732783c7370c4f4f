#include "lang/dump/ast_text.hpp"

#include "lang/print/form_text.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

namespace heddle::lang {

using ast::node_kind;

std::string_view kind_text(node_kind kind) noexcept {
    switch (kind) {
    case node_kind::constant: return "constant";
    case node_kind::local: return "local";
    case node_kind::global: return "global";
    case node_kind::dynamic: return "setting";
    case node_kind::bind_local: return "bind";
    case node_kind::set_local: return "set";
    case node_kind::define_global: return "define-global";
    case node_kind::update_global: return "set-global";
    case node_kind::branch_if: return "if";
    case node_kind::sequence: return "sequence";
    case node_kind::all_of: return "and";
    case node_kind::any_of: return "or";
    case node_kind::scope: return "scope";
    case node_kind::make_lambda: return "lambda";
    case node_kind::call: return "call";
    case node_kind::builtin_call: return "builtin";
    case node_kind::effect_call: return "effect";
    case node_kind::clause_call: return "clause-call";
    case node_kind::either_call: return "either-call";
    case node_kind::repeat: return "repeat";
    case node_kind::while_loop: return "while";
    case node_kind::named_loop: return "loop";
    case node_kind::loop_again: return "loop-again";
    case node_kind::protect: return "try";
    case node_kind::within: return "within";
    case node_kind::with_settings: return "with";
    case node_kind::join_scope: return "join";
    case node_kind::branch: return "branch";
    case node_kind::spawn: return "spawn";
    case node_kind::with_permit: return "with-permit";
    case node_kind::eval_code: return "eval";
    }
    return "unknown";
}

std::string_view home_of(const ast::variable& var) noexcept {
    if (var.in_cell()) return "cell";
    return var.captured ? "captured" : "register";
}

std::string parameters_text(const ast::lambda& code) {
    std::string text = "(";
    for (std::size_t i = 0; i < code.parameters.size(); ++i) {
        if (i != 0) text += ' ';
        if (i == code.required && code.optional != 0) text += "&optional ";
        if (code.has_rest && i + 1 == code.parameters.size()) text += "&rest ";
        text += code.parameters[i]->name;
    }
    return text + ")";
}

std::string subject_text(const ast::node& n, const realm& realm) {
    switch (n.kind) {
    case node_kind::constant:
    case node_kind::dynamic:
    case node_kind::clause_call: return shown(n.constant);
    case node_kind::local:
    case node_kind::bind_local:
    case node_kind::set_local: return n.var->name;
    case node_kind::global:
    case node_kind::define_global:
    case node_kind::update_global: return std::string(realm.global_name(n.index));
    case node_kind::builtin_call:
    case node_kind::effect_call: return std::string(n.row->name);
    case node_kind::named_loop:
    case node_kind::loop_again: return n.label->name;
    case node_kind::make_lambda:
        return (n.code->name.empty() ? "" : n.code->name + " ") + parameters_text(*n.code);
    case node_kind::join_scope:
    case node_kind::within: return n.constant.is_nil() ? "" : shown(n.constant);
    default: return {};
    }
}

std::string_view subject_home(const ast::node& n, const realm& realm) noexcept {
    switch (n.kind) {
    case node_kind::local:
    case node_kind::bind_local:
    case node_kind::set_local: return home_of(*n.var);
    case node_kind::global: return realm.is_prelude_global(n.index) ? "library" : "program";
    default: return {};
    }
}

namespace {

/// What the children of a node are called, in order; the last name goes for all that follow.
std::vector<std::string_view> labels_of(const ast::node& n) {
    switch (n.kind) {
    case node_kind::local: return {"else"};
    case node_kind::branch_if: return {"test", "then", "else"};
    case node_kind::call:
    case node_kind::clause_call: return {"callee", ""};
    case node_kind::either_call: return {"by clauses", "by position"};
    case node_kind::repeat: return {"count", "body"};
    case node_kind::while_loop: return {"test", "body"};
    case node_kind::protect: return {"body"};
    case node_kind::within: return {"body", "number"};
    case node_kind::with_settings: return {"settings", "body"};
    case node_kind::join_scope: return {"count", "body"};
    case node_kind::branch: return {"join", "slot", "callee", ""};
    default: return {""};
    }
}

std::string label_of(const ast::node& n, std::size_t i, const std::vector<std::string_view>& all) {
    const auto bound = [](const ast::variable& var) {
        return var.name + " in " + std::string(home_of(var));
    };
    if (n.kind == node_kind::scope && i < n.variables.size()) return bound(*n.variables[i]);
    if (n.kind == node_kind::named_loop) {
        return i < n.label->variables.size() ? bound(*n.label->variables[i]) : "body";
    }
    if (n.kind == node_kind::clause_call && i != 0) {
        const auto names = list_items(n.constant);
        if (i - 1 < names.size()) return shown(names[i - 1]);
    }
    return std::string(all[std::min(i, all.size() - 1)]);
}

} // namespace

std::vector<ast_part> parts_of(const ast::node& n) {
    std::vector<ast_part> parts;
    const auto labels = labels_of(n);
    for (std::size_t i = 0; i < n.children.size(); ++i) {
        parts.push_back({label_of(n, i, labels), n.children[i]});
    }
    if (n.kind == node_kind::make_lambda && n.code->body) parts.push_back({"body", n.code->body});
    for (const ast::catch_clause& clause : n.catches) {
        if (clause.wanted_kind) parts.push_back({"catches", clause.wanted_kind});
        if (clause.guard) parts.push_back({"when", clause.guard});
        parts.push_back({"catch " + clause.name->name, clause.body});
    }
    if (n.cleanup) parts.push_back({"finally", n.cleanup});
    return parts;
}

} // namespace heddle::lang
