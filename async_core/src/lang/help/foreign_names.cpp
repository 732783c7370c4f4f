#include "lang/help/foreign_names.hpp"

#include "lang/stdlib/stdlib_sources.hpp"

#include <algorithm>
#include <array>

namespace heddle::lang {

namespace {

struct foreign_name {
    std::string_view name;
    std::string_view here; ///< what to write
};

constexpr std::array table{
    foreign_name{"!=", "(not (= a b))"},
    foreign_name{"==", "(= a b), for any two values (equal? a b)"},
    foreign_name{"None", "nil"},
    foreign_name{"True", "true"},
    foreign_name{"False", "false"},
    foreign_name{"assoc", "(put map key value)"},
    foreign_name{"car", "(first list)"},
    foreign_name{"cdr", "(rest list)"},
    foreign_name{"concat", "(append list …) for lists, (string-append text …) for strings"},
    foreign_name{"conj", "(append list (list item))"},
    foreign_name{"count", "(length items)"},
    foreign_name{"def", "(define name value)"},
    foreign_name{"defn", "(define (name parameter…) body…)"},
    foreign_name{"defparameter", "(define name value)"},
    foreign_name{"defun", "(define (name parameter…) body…)"},
    foreign_name{"defvar", "(define name value)"},
    foreign_name{"display", "(print value)"},
    foreign_name{"else", "else as the last clause of cond or case"},
    foreign_name{"elseif", "(cond (test value) … (else value))"},
    foreign_name{"fn", "(lambda (parameter…) body…)"},
    foreign_name{"foreach", "(for-each function list)"},
    foreign_name{"hash-map", "(dict 'key value …)"},
    foreign_name{"hash-ref", "(get map key)"},
    foreign_name{"head", "(first list)"},
    foreign_name{"inc", "(+ n 1)"},
    foreign_name{"dec", "(- n 1)"},
    foreign_name{"len", "(length items)"},
    foreign_name{"let-fn", "(letrec ((name (lambda (parameter…) body…))) …)"},
    foreign_name{"list-ref", "(nth list index)"},
    foreign_name{"mapcar", "(map function list)"},
    foreign_name{"nil?", "(null? value)"},
    foreign_name{"null", "nil"},
    foreign_name{"println", "(print value)"},
    foreign_name{"printf", "(print (format \"…\" value…))"},
    foreign_name{"puts", "(print value)"},
    foreign_name{"return", "the value itself: the last expression of a body is its value"},
    foreign_name{"setf", "(set! name value)"},
    foreign_name{"setq", "(define name value), or (set! name value) to change it"},
    foreign_name{"str", "(string-append text …) or (format \"…\" value…)"},
    foreign_name{"t", "true; the last clause of cond is (else value)"},
    foreign_name{"tail", "(rest list)"},
    foreign_name{"undefined", "nil"},
    foreign_name{"var", "(define name value)"},
    foreign_name{"vector", "(list value …)"},
};

/// The library whose text defines `name` at its top level; empty: none does.
std::string_view library_of(std::string_view name) {
    const std::string head = "\n(define (" + std::string(name);
    for (const library_source& each : stdlib_sources()) {
        for (std::size_t at = each.text.find(head); at != each.text.npos;
             at = each.text.find(head, at + 1)) {
            const std::size_t end = at + head.size();
            if (end < each.text.size() && (each.text[end] == ' ' || each.text[end] == ')'))
                return each.name;
        }
    }
    return {};
}

/// What characters of other languages are written as here; a symbol may hold any of them.
std::string advice_for_characters(std::string_view name) {
    if (name == ".") return "there are no dotted pairs: write (list a b)";
    if (name == "#") {
        return "# means nothing here: a list is (list value …) or '(…), and a function is given by "
               "its name";
    }
    if (name.starts_with("#\\"))
        return "a character is a string: \"" + std::string(name.substr(2)) + "\"";
    if (name.front() == '{' || name.back() == '}')
        return "{ and } mean nothing here: a map is (dict 'key value …)";
    for (const std::string_view quote : {"“", "”", "„", "‘", "’", "«", "»"}) {
        if (name.starts_with(quote) || name.ends_with(quote))
            return "a string stands between straight quotes: \"…\"";
    }
    return {};
}

} // namespace

std::string advice_for_name(std::string_view name) {
    if (name.empty() || name.size() > 100) return {};
    if (std::string advice = advice_for_characters(name); !advice.empty()) return advice;
    const auto known = std::find_if(table.begin(), table.end(),
                                    [&](const foreign_name& row) { return row.name == name; });
    if (known != table.end()) return "write " + std::string(known->here);
    if (const std::string_view library = library_of(name); !library.empty())
        return "(import std/" + std::string(library) + ") defines it";
    if (name.size() > 1 && name.front() == ':') {
        const std::string key(name.substr(1));
        return "keys are strings or symbols: \"" + key + "\" or '" + key;
    }
    return {};
}

} // namespace heddle::lang
