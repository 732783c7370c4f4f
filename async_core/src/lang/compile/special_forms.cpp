// The table of special forms, and quotation.
#include "analyzer.hpp"
#include "form_docs.hpp"
#include "lang/print/form_text.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace heddle::lang {

using ast::node_kind;

/// The table of special forms, sorted by name.
struct special_form_table {
    static constexpr bool sorted() {
        for (std::size_t i = 1; i < rows.size(); ++i) {
            if (!(rows[i - 1].name < rows[i].name)) return false;
        }
        return true;
    }

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
        {"do", &analyzer::form_do},
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

    static bool contains(std::string_view name) noexcept {
        return analyzer::find_special(name) != nullptr;
    }

    static std::vector<std::string_view> names() {
        std::vector<std::string_view> found;
        found.reserve(rows.size());
        for (const analyzer::special_form& row : rows) found.push_back(row.name);
        return found;
    }
};

static_assert(special_form_table::sorted());

std::vector<std::string_view> special_form_names() { return special_form_table::names(); }

bool is_special_form(std::string_view name) noexcept { return special_form_table::contains(name); }

analyzer::handler analyzer::find_special(std::string_view name) noexcept {
    const auto& rows = special_form_table::rows;
    const auto found = std::lower_bound(
        rows.begin(), rows.end(), name,
        [](const special_form& row, std::string_view wanted) { return row.name < wanted; });
    return found == rows.end() || found->name != name ? nullptr : found->analyse;
}

ast::node* analyzer::form_quote(const form& f, position) {
    if (f.size() != 2) return fail(f.span, "quote: expects 1 part, got " + count_of(f.size() - 1));
    return constant(f[1].content, f.span);
}

ast::node* analyzer::form_quasiquote(const form& f, position) {
    if (f.size() != 2)
        return fail(f.span, "quasiquote: expects 1 part, got " + count_of(f.size() - 1));
    // A table of its own: macros that run in between make lists that are gone when they have run.
    window_table<bool> outer = std::exchange(unquotes_, {});
    node* made = quasi(f[1], 1);
    unquotes_ = std::move(outer);
    return made;
}

/// Each part is walked once, however many places share it.
bool analyzer::has_unquotes(const value& data) {
    struct visit {
        value list;
        std::size_t next = 0;
        bool found = false;
    };
    const auto known = [&](const value& part) -> std::optional<bool> {
        if (!part.is(kind::list) || list_items(part).empty()) return false;
        if (auto at = unquotes_.find(window_of(part)); at != unquotes_.end()) return at->second;
        return std::nullopt;
    };
    std::vector<visit> open;
    std::optional<bool> answer = known(data);
    if (!answer) open.push_back({data});
    while (!open.empty() && !failed()) {
        visit& at = open.back();
        const auto items = list_items(at.list);
        spend(1, sizeof(visit));
        if (items[0].is(kind::symbol)) {
            const std::string_view head = symbol_name(items[0]);
            at.found = at.found || head == "unquote" || head == "unquote-splicing";
        }
        std::optional<bool> inside = false;
        while (at.next < items.size() && !at.found && inside) {
            inside = known(items[at.next]);
            if (!inside) break;
            at.found = *inside;
            ++at.next;
        }
        if (!inside) {
            open.push_back({items[at.next]});
            continue;
        }
        answer = at.found;
        unquotes_.emplace(window_of(at.list), at.found);
        open.pop_back();
    }
    return answer.value_or(false);
}

/// `depth` counts the quasiquotes that are open.
ast::node* analyzer::quasi(const form& f, std::size_t depth) {
    if (failed() || !has_unquotes(f.content)) return constant(f.content, f.span);
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
    for (std::size_t i = 0; i < f.size() && !failed(); ++i) {
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
