// quote and quasiquote.
#include "analyzer.hpp"
#include "lang/print/form_text.hpp"
#include "special_form.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace heddle::lang {

namespace {

/// The code of one quasiquote.
class quotation {
public:
    explicit quotation(analyzer& a) : a_(a) {}

    /// `depth` counts the quasiquotes that are open.
    ast::node* quasi(const form& f, std::size_t depth);

private:
    /// Of a list with unquotes.
    ast::node* code_of(const form& f, std::size_t depth);
    [[nodiscard]] bool has_unquotes(const value& data);

    analyzer& a_;
    window_table<bool> unquotes_; ///< of the parts seen so far
};

/// Each part is walked once, however many places share it.
bool quotation::has_unquotes(const value& data) {
    struct visit {
        value list;
        std::size_t next = 0;
        bool found = false;
    };
    const auto known = [&](const value& part) -> std::optional<bool> {
        if (!part.is(kind::list) || list_items(part).empty()) return false;
        if (const bool* at = unquotes_.find(window_of(part))) return *at;
        return std::nullopt;
    };
    std::vector<visit> open;
    std::optional<bool> answer = known(data);
    if (!answer) open.push_back({data});
    while (!open.empty() && !a_.failed()) {
        visit& at = open.back();
        const auto items = list_items(at.list);
        a_.spend(1, sizeof(visit));
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

ast::node* quotation::quasi(const form& f, std::size_t depth) {
    if (a_.failed() || !has_unquotes(f.content)) return a_.constant(f.content, f.span);
    if (!a_.enter(f)) return a_.constant({}, f.span); // a macro may have made it
    ast::node* result = code_of(f, depth);
    a_.leave();
    return result;
}

ast::node* quotation::code_of(const form& f, std::size_t depth) {
    if (f[0].is_symbol() && f.size() == 2) {
        const std::string_view head = f[0].name();
        if (head == "unquote" && depth == 1) return a_.expression(f[1], a_.inner());
        if (head == "unquote-splicing" && depth == 1) {
            return a_.fail(f.span, ",@ has no list around it to put the elements in",
                           "write `(,@x), or `,x for the list itself");
        }
        if (head == "unquote" || head == "unquote-splicing" || head == "quasiquote") {
            const std::size_t next = head == "quasiquote" ? depth + 1 : depth - 1;
            return a_.builtin_node("list", f.span,
                                   {a_.constant(f[0].content, f[0].span), quasi(f[1], next)});
        }
    }
    std::vector<ast::node*> parts; // lists to append
    std::vector<ast::node*> run;   // elements of the list under way
    const auto flush = [&] {
        if (!run.empty()) parts.push_back(a_.builtin_node("list", f.span, std::exchange(run, {})));
    };
    for (std::size_t i = 0; i < f.size() && !a_.failed(); ++i) {
        const form element = f[i];
        const bool splices = depth == 1 && element.is_list() && element.size() == 2 &&
                             element[0].is_symbol() && element[0].name() == "unquote-splicing";
        if (splices) {
            flush();
            parts.push_back(
                a_.builtin_node("%spliced", element.span, {a_.expression(element[1], a_.inner())}));
        } else {
            run.push_back(quasi(element, depth));
        }
    }
    flush();
    return a_.builtin_node("append", f.span, std::move(parts));
}

ast::node* form_quote(analyzer& a, const form& f, analyzer::position) {
    if (f.size() != 2)
        return a.fail(f.span, "quote: expects 1 part, got " + count_of(f.size() - 1));
    return a.constant(f[1].content, f.span);
}

ast::node* form_quasiquote(analyzer& a, const form& f, analyzer::position) {
    if (f.size() != 2)
        return a.fail(f.span, "quasiquote: expects 1 part, got " + count_of(f.size() - 1));
    return quotation(a).quasi(f[1], 1);
}

constexpr special_form rows[] = {
    {.name = "quote",
     .analyse = &form_quote,
     .encloses_from = 1,
     .quotes = true,
     .usage = "'x\n"
              "(quote x)",
     .summary = "x as data: nothing in it is evaluated.",
     .example = "'(a 1) => (list (quote a) 1)",
     .family = "data"},
    {.name = "quasiquote",
     .analyse = &form_quasiquote,
     .encloses_from = 1,
     .quotes = true,
     .usage = "`x\n"
              "(quasiquote x)",
     .summary = "x as data, except for its parts after a comma: ,e inserts the value of e, and "
                ",@e the elements of the list that e returns.",
     .example = "(let ((n 2) (more '(3 4))) `(1 ,n ,@more)) => '(1 2 3 4)",
     .family = "data"},
};

} // namespace

std::span<const special_form> data_forms() noexcept { return rows; }

} // namespace heddle::lang
