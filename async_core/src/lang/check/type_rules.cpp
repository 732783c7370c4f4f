// Constants, and results whose kind is certain, where something else is needed.
#include "lang/check/known_values.hpp"
#include "lang/check/rules.hpp"
#include "lang/compile/analyzer.hpp"
#include "lang/machine/with_settings.hpp"
#include "lang/print/described.hpp"
#include "lang/print/form_text.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/sandbox_policy.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>

namespace heddle::lang {

using ast::node_kind;

namespace {

constexpr const char* decision_hint = "write (list 'continue input) or (list 'stop value)";

/// The names that the kinds of errors have.
std::vector<std::string> error_kinds() {
    std::vector<std::string> names{"Error", "HttpError", "ModelError", "SexpEvaluationError"};
    const auto add = [&](boost::system::error_code code) {
        std::string name(error_kind_name(error(code, "")));
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    };
    for (const errc each : {errc::evaluation, errc::syntax, errc::unbound, errc::arity, errc::type,
                            errc::limit, errc::permission, errc::timeout, errc::user, errc::task})
        add(make_error_code(each));
    for (const heddle::errc each :
         {heddle::errc::cancelled, heddle::errc::invalid_argument, heddle::errc::limit_exceeded,
          heddle::errc::not_found, heddle::errc::io_error, heddle::errc::internal})
        add(heddle::make_error_code(each));
    return names;
}

class type_rule {
public:
    explicit type_rule(const rule_context& context) : context_(context), values_(context) {}

    void run() {
        const auto& nodes = context_.facts.nodes();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const ast::node& n = *nodes[i];
            values_.look_from(i);
            for (const ast::catch_clause& clause : n.catches) check_kind(clause);
            if (context_.facts.is_guarded(i)) continue; // the program may want to see the error
            switch (n.kind) {
            case node_kind::builtin_call: check_builtin(*n.row, n, n.children); break;
            case node_kind::repeat:
                check_builtin(*find_builtin("%loop-count"), n, {n.children.data(), 1});
                break;
            case node_kind::with_settings: check_settings(n); break;
            case node_kind::call: check_library_call(n); break;
            default: break;
            }
        }
    }

private:
    void check_builtin(const builtin& row, const ast::node& n,
                       std::span<ast::node* const> arguments) {
        // Those of the prelude that check what a form was given.
        const bool checks = row.name == "%loop-count" || row.name == "%seconds" ||
                            row.name == "%attempts" || row.name == "%spliced";
        if (row.name.starts_with('%') && !checks) return;
        std::vector<known_value> given;
        const auto refused = values_.refused(row, arguments, given);
        if (!refused) return;
        const std::size_t at = refused->argument;
        std::string message = refused->message;
        const std::size_t sample = message.rfind(", not ");
        if (at != 0 && !given[at - 1].constant && sample != message.npos) {
            // heddle-check: allow cut-text: an ASCII comma begins there
            message.resize(sample);
            message += ", not " + given[at - 1].noun;
        }
        context_.add(severity::error, "wrong-type", at != 0 ? arguments[at - 1]->span : n.span,
                     std::move(message));
    }

    /// (with ((name value)…) …) and (sandbox ((name value)…) …)
    void check_settings(const ast::node& n) const {
        const auto opens = static_cast<scope_kind>(n.flag);
        const ast::node& operand = *n.children[0];
        if (operand.kind != node_kind::builtin_call) return;
        if (opens != scope_kind::settings && opens != scope_kind::sandbox) return;
        for (std::size_t i = 0; i + 1 < operand.children.size(); i += 2) {
            const ast::node& name = *operand.children[i];
            const ast::node& given = values_.source_of(*operand.children[i + 1]);
            if (given.kind != node_kind::constant || !name.constant.is(kind::string)) continue;
            free_work work;
            std::string wrong =
                opens == scope_kind::settings
                    ? wrong_setting(string_bytes(name.constant), given.constant, work)
                    : wrong_limit(name.constant, given.constant);
            if (!wrong.empty()) {
                context_.add(severity::error, "wrong-type", operand.children[i + 1]->span,
                             std::move(wrong));
            }
        }
    }

    [[nodiscard]] std::string wrong_limit(const value& name, const value& given) const {
        heap& memory = context_.realm.memory();
        const value one = map_put(memory, value::empty_map(), string_bytes(name), given);
        const auto created = sandbox_policy::create(memory, one, {});
        return created ? std::string() : created.error().message();
    }

    /// Lists and counts that functions of the prelude and the libraries ask for.
    void check_library_call(const ast::node& n) {
        const library_function* called = context_.facts.library_function_of(*n.children[0]);
        if (!called) return;
        const std::string_view who = context_.realm.global_name(n.children[0]->index);
        for (const std::size_t index : called->lists) {
            if (index + 1 >= n.children.size()) continue;
            const known_value given = values_.of(*n.children[index + 1]);
            if (given.may_be(kind::list)) continue;
            context_.add(severity::error, "wrong-type", n.children[index + 1]->span,
                         std::string(who) + ": argument " + std::to_string(index + 1) +
                             " must be a list, not " +
                             (given.constant ? described(*given.constant) : given.noun),
                         called->callbacks.contains(0) && index > 0 &&
                                 (given.type == kind::closure || given.may_be(kind::builtin))
                             ? "the function comes first"
                             : "");
        }
        if (who == "%director-evaluator-loop" || who == "%iterative-loop") check_loop(n);
        if (who == "%retry" && n.children.size() > 3) check_retried(*n.children[3]);
    }

    void check_loop(const ast::node& n) {
        if (n.children.size() != 7) return;
        const known_value count = values_.of(*n.children[1]);
        if (count.constant &&
            !(count.constant->is_integer() && count.constant->as_integer() >= 0)) {
            context_.add(
                severity::error, "wrong-type", n.children[1]->span,
                "max-iterations must be a non-negative integer, not " + described(*count.constant));
        }
        const bool iterative =
            context_.realm.global_name(n.children[0]->index) == "%iterative-loop";
        for (std::size_t i = iterative ? 4 : 3; i < n.children.size(); ++i) check_phase(n, i);
        const known_callee* controller =
            context_.facts.callee_of(context_.facts.source_of(*n.children[6]));
        if (controller && controller->code && controller->code->body)
            check_decisions(*controller->code->body);
    }

    /// A symbol is not what it names, except in quotes in the clause itself. A tool gets the number
    /// of the iteration as an input too.
    void check_phase(const ast::node& n, std::size_t index) const {
        const ast::node& source = context_.facts.source_of(*n.children[index]);
        const source_span place = n.children[index]->span;
        if (source.kind == node_kind::constant && source.constant.is(kind::symbol)) {
            const std::string name(symbol_name(source.constant));
            const bool known = context_.facts.task_named(name) != nullptr ||
                               context_.facts.host_task_named(name) != nullptr;
            context_.add(severity::error, "wrong-type", place,
                         "a phase must be something to call, not " + described(source.constant),
                         "write " + name + " without the quote" +
                             (known ? ": the name refers to the tool or task" : ""));
            return;
        }
        const known_callee* tool = context_.facts.task_of(source);
        if (!tool || !tool->task->is_tool || !tool->task->refuses) return;
        const library_function* loop = context_.facts.library_function_of(*n.children[0]);
        const auto counted = loop->callbacks.find(index - 1);
        if (counted == loop->callbacks.end() || counted->second > tool->task->inputs.size()) return;
        const std::string& input = tool->task->inputs[counted->second - 1];
        const auto wrong = tool->task->refuses(input, value::integer(1));
        if (!wrong || wrong->level != severity::error) return;
        context_.add(severity::error, "wrong-type", place,
                     "the tool '" + tool->name +
                         "' is called with the number of the iteration as '" + input +
                         "': " + wrong->message,
                     "call it in a function: (lambda (x i) (" + tool->name + " (" +
                         tool->task->inputs.front() + " x)))");
    }

    /// The values that a controller may end with, as far as they are written out.
    void check_decisions(const ast::node& body) const {
        std::vector<const ast::node*> ends{&body};
        while (!ends.empty()) {
            const ast::node& n = *ends.back();
            ends.pop_back();
            if (n.kind == node_kind::branch_if && n.children.size() == 3) {
                ends.push_back(n.children[1]);
                ends.push_back(n.children[2]);
            } else if ((n.kind == node_kind::scope || n.kind == node_kind::sequence) &&
                       !n.children.empty()) {
                ends.push_back(n.children.back());
            } else if (n.kind == node_kind::builtin_call && n.row->name == "list" &&
                       !n.children.empty() && n.children[0]->kind == node_kind::constant) {
                check_decision(n.children[0]->constant, n.children[0]->span);
                check_parts(n, n.children.size());
            } else if (n.kind == node_kind::builtin_call && n.row->name == "append" &&
                       n.children.size() == 1) {
                ends.push_back(n.children[0]); // `(done ,r) is (append (list 'done r))
            } else if (n.kind == node_kind::constant) {
                check_constant_decision(n);
            }
        }
    }

    void check_constant_decision(const ast::node& n) const {
        const value& given = n.constant;
        if (given.is(kind::list)) {
            if (given.length() != 0) check_decision(list_items(given)[0], n.span);
            return check_parts(n, given.length());
        }
        // Nil and booleans are what an if without an else returns: it may always hold.
        const bool certain = given.is(kind::symbol) || given.is(kind::string) ||
                             given.is_integer() || given.is_real();
        if (!certain || !n.span.known()) return;
        context_.add(severity::error, "wrong-type", n.span,
                     "a controller must return a list of two elements, not " + described(given),
                     decision_hint);
    }

    void check_parts(const ast::node& decision, std::size_t count) const {
        if (count == 2 || !decision.span.known()) return;
        context_.add(
            severity::error, "wrong-type", decision.span,
            "a controller must return a list of two elements, not " + std::to_string(count),
            decision_hint);
    }

    void check_decision(const value& given, source_span span) const {
        const std::string_view name =
            given.is(kind::symbol) ? symbol_name(given) : std::string_view();
        if (name == "continue" || name == "stop") return;
        context_.add(severity::error, "wrong-type", span,
                     "a controller decides 'continue or 'stop, not " + described(given),
                     suggest_names(name, {"continue", "stop"}));
    }

    void check_kind(const ast::catch_clause& clause) const {
        if (!clause.wanted_kind || clause.wanted_kind->kind != node_kind::constant) return;
        const value& given = clause.wanted_kind->constant;
        std::string_view name;
        if (given.is(kind::symbol)) name = symbol_name(given);
        else if (given.is(kind::string)) name = string_bytes(given);
        else return;
        if (name == "CancelledError") {
            context_.add(severity::warning, "unknown-kind", clause.wanted_kind->span,
                         "catch never takes a CancelledError",
                         "write what must run on cancellation in (finally …)");
            return;
        }
        report_unknown_kind(name, clause.wanted_kind->span, "; this clause never matches");
    }

    /// (retry ((on 'name…)) …): kinds, and reasons of failures, which begin with a small letter.
    void check_retried(const ast::node& names) const {
        if (names.kind != node_kind::constant || !names.constant.is(kind::list)) return;
        for (std::size_t i = 0; i < names.constant.length(); ++i) {
            const form each = form{names.constant, names.span}[i];
            const std::string_view name =
                each.content.is(kind::string) ? string_bytes(each.content) : std::string_view();
            if (!name.empty() && ascii::is_upper(name.front()))
                report_unknown_kind(name, each.span, {});
        }
    }

    void report_unknown_kind(std::string_view name, source_span span,
                             std::string_view consequence) const {
        static const std::vector<std::string> known = error_kinds();
        if (std::find(known.begin(), known.end(), name) != known.end()) return;
        context_.add(
            severity::warning, "unknown-kind", span,
            "no error kind is called '" + std::string(name) + "'" + std::string(consequence),
            suggest_names(name, known));
    }

    const rule_context& context_;
    known_values values_;
};

} // namespace

void check_types(const rule_context& context) { type_rule(context).run(); }

} // namespace heddle::lang
