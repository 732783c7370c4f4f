// The table of special forms, and quotation.
#include "analyzer.hpp"
#include "form_docs.hpp"
#include "lang/text/form_text.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>

namespace heddle::lang {

using ast::node_kind;

/// The table of special forms, sorted by name.
struct special_form_table {
    static constexpr std::array<analyzer::special_form, 47> rows{{
        {"%branch", &analyzer::form_branch},
        {"%free-branch", &analyzer::form_branch},
        {"%join-scope", &analyzer::form_join_scope},
        {"%try-when", &analyzer::form_try_when},
        {"%with-config", &analyzer::form_with_config},
        {"%within", &analyzer::form_within},
        {"%within-sandbox", &analyzer::form_within_sandbox},
        {"and", &analyzer::form_and},
        {"begin", &analyzer::form_progn},
        {"bind", &analyzer::form_bind},
        {"call-atomic-task", &analyzer::form_call_atomic_task},
        {"case", &analyzer::form_case},
        {"cond", &analyzer::form_cond},
        {"defatom", &analyzer::form_defatom},
        {"define", &analyzer::form_define},
        {"defmacro", &analyzer::form_defmacro},
        {"deftool", &analyzer::form_deftool},
        {"director-evaluator-loop", &analyzer::form_director_loop},
        {"do", &analyzer::form_progn},
        {"eval", &analyzer::form_eval},
        {"hedge", &analyzer::form_hedge},
        {"if", &analyzer::form_if},
        {"import", &analyzer::form_import},
        {"iterative-loop", &analyzer::form_iterative_loop},
        {"lambda", &analyzer::form_lambda},
        {"let", &analyzer::form_let},
        {"let*", &analyzer::form_let_star},
        {"letrec", &analyzer::form_letrec},
        {"loop", &analyzer::form_loop},
        {"or", &analyzer::form_or},
        {"parallel", &analyzer::form_parallel},
        {"progn", &analyzer::form_progn},
        {"quasiquote", &analyzer::form_quasiquote},
        {"quote", &analyzer::form_quote},
        {"race", &analyzer::form_race},
        {"retry", &analyzer::form_retry},
        {"sandbox", &analyzer::form_sandbox},
        {"set!", &analyzer::form_set},
        {"spawn", &analyzer::form_spawn},
        {"stream", &analyzer::form_stream},
        {"timeout", &analyzer::form_timeout},
        {"try", &analyzer::form_try},
        {"unless", &analyzer::form_unless},
        {"when", &analyzer::form_when},
        {"while", &analyzer::form_while},
        {"with", &analyzer::form_with},
        {"with-permit", &analyzer::form_with_permit},
    }};

    static std::vector<std::string_view> names() {
        std::vector<std::string_view> found;
        found.reserve(rows.size());
        for (const analyzer::special_form& row : rows) found.push_back(row.name);
        return found;
    }
};

std::vector<std::string_view> special_form_names() { return special_form_table::names(); }

analyzer::handler analyzer::find_special(std::string_view name) noexcept {
    const auto& rows = special_form_table::rows;
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const special_form& row) { return row.name == name; });
    return found == rows.end() || name.empty() ? nullptr : found->analyse;
}

ast::node* analyzer::form_quote(const form& f, position) {
    if (f.size() != 2) return fail(f.span, "quote: expects 1 part, got " + count_of(f.size() - 1));
    return constant(f[1].content, f.span);
}

ast::node* analyzer::form_quasiquote(const form& f, position) {
    if (f.size() != 2)
        return fail(f.span, "quasiquote: expects 1 part, got " + count_of(f.size() - 1));
    return quasi(f[1], 1);
}

/// `depth` counts the quasiquotes that are open.
ast::node* analyzer::quasi(const form& f, std::size_t depth) {
    if (!f.is_list() || f.size() == 0) return constant(f.content, f.span);
    if (f[0].is_symbol() && f.size() == 2) {
        const std::string_view head = f[0].name();
        if (head == "unquote" && depth == 1) return expression(f[1], inner());
        if (head == "unquote" || head == "quasiquote") {
            const std::size_t next = head == "unquote" ? depth - 1 : depth + 1;
            return builtin_node("list", f.span,
                                {constant(f[0].content, f[0].span), quasi(f[1], next)});
        }
        if (head == "unquote-splicing" && depth == 1) {
            return fail(f.span, "unquote-splicing: there is no list around it to splice into");
        }
    }
    std::vector<node*> parts; // lists to append
    std::vector<node*> run;   // elements of the list under way
    const auto flush = [&] {
        if (!run.empty()) parts.push_back(builtin_node("list", f.span, std::exchange(run, {})));
    };
    for (std::size_t i = 0; i < f.size(); ++i) {
        const form element = f[i];
        const bool splices = depth == 1 && element.is_list() && element.size() == 2 &&
                             element[0].is_symbol() && element[0].name() == "unquote-splicing";
        if (splices) {
            flush();
            parts.push_back(expression(element[1], inner()));
        } else {
            run.push_back(quasi(element, depth));
        }
    }
    flush();
    return builtin_node("append", f.span, std::move(parts));
}

} // namespace heddle::lang
