#include "lang/help/foreign_names.hpp"

#include "lang/stdlib/stdlib_sources.hpp"

#include <algorithm>
#include <array>

namespace heddle::lang {

namespace {

struct foreign_name {
    std::string_view name;
    std::string_view here; ///< what to write
    bool is_form = false;  ///< it defines or binds names, or leaves its parts as they are
};

constexpr std::array table{
    foreign_name{"!=", "(not (= a b))"},
    foreign_name{"==", "(= a b), for any two values (equal? a b)"},
    foreign_name{"False", "false"},
    foreign_name{"None", "nil"},
    foreign_name{"True", "true"},
    foreign_name{"assert", "(unless test (error \"message\"))"},
    foreign_name{"assoc", "(get map key) to look a key up, (put map key value) to add one"},
    foreign_name{"assq", "(get map key)"},
    foreign_name{"assv", "(get map key)"},
    foreign_name{"caddr", "(third list)"},
    foreign_name{"cadr", "(second list)"},
    foreign_name{"call-with-current-continuation",
                 "(try … (catch (e) …)) to leave early: there are no continuations"},
    foreign_name{"call/cc", "(try … (catch (e) …)) to leave early: there are no continuations"},
    foreign_name{"car", "(first list)"},
    foreign_name{"cddr", "(drop list 2)"},
    foreign_name{"cdr", "(rest list)"},
    foreign_name{"concat", "(append list …) for lists, (string-append text …) for strings"},
    foreign_name{"concatenate", "(append list …) for lists, (string-append text …) for strings"},
    foreign_name{"conj", "(append list (list item))"},
    foreign_name{"count", "(length items)"},
    foreign_name{"dec", "(- n 1)"},
    foreign_name{"def", "(define name value)", true},
    foreign_name{"defconst", "(define name value)", true},
    foreign_name{"defconstant", "(define name value)", true},
    foreign_name{"define-macro", "(defmacro name (parameter…) body…)", true},
    foreign_name{"define-syntax", "(defmacro name (parameter…) body…)", true},
    foreign_name{"defn", "(define (name parameter…) body…)", true},
    foreign_name{"defparameter", "(define name value)", true},
    foreign_name{"deftask", "(defatom name (params parameter…) (instructions \"…\"))", true},
    foreign_name{"defun", "(define (name parameter…) body…)", true},
    foreign_name{"defvar", "(define name value)", true},
    foreign_name{"display", "(print value)"},
    foreign_name{"dolist", "(for-each (lambda (item) body…) list)", true},
    foreign_name{"dotimes", "(do ((i 0 (+ i 1))) ((= i count)) body…)", true},
    foreign_name{"downcase", "(string-downcase text)"},
    foreign_name{"else", "else as the last clause of cond or case"},
    foreign_name{"elseif", "(cond (test value) … (else value))"},
    foreign_name{"even?", "(= 0 (modulo n 2))"},
    foreign_name{
        "exit",
        "(error \"message\") to end with an error; otherwise the last form ends the program"},
    foreign_name{"fn", "(lambda (parameter…) body…)", true},
    foreign_name{"for", "(for-each (lambda (item) body…) list)", true},
    foreign_name{"foreach", "(for-each function list)", true},
    foreign_name{"funcall", "(function argument…)"},
    foreign_name{"handler-case", "(try expression (catch (e 'Kind) …))", true},
    foreign_name{"hash-map", "(dict 'key value …)"},
    foreign_name{"hash-ref", "(get map key)"},
    foreign_name{"hash-set!", "(put map key value), which returns a new map"},
    foreign_name{"head", "(first list)"},
    foreign_name{"if-let", "(let ((name value)) (if name then else))", true},
    foreign_name{"inc", "(+ n 1)"},
    foreign_name{"join", "(string-join list separator)"},
    foreign_name{"len", "(length items)"},
    foreign_name{"let-fn", "(letrec ((name (lambda (parameter…) body…))) …)", true},
    foreign_name{"let-values", "(let ((all call)) … (first all) … (second all) …)", true},
    foreign_name{"list->string", "(string-join list \"\")"},
    foreign_name{"list-ref", "(nth list index)"},
    foreign_name{"list-tail", "(drop list count)"},
    foreign_name{"lower", "(string-downcase text)"},
    foreign_name{"mapcar", "(map function list)"},
    foreign_name{"member", "(contains? list item)"},
    foreign_name{"memq", "(contains? list item)"},
    foreign_name{"mod", "(modulo a b)"},
    foreign_name{"negative?", "(< n 0)"},
    foreign_name{"newline", "(print \"\")"},
    foreign_name{"nil?", "(null? value)"},
    foreign_name{"null", "(null? value) to test, nil for the value"},
    foreign_name{"odd?", "(= 1 (modulo n 2))"},
    foreign_name{"positive?", "(> n 0)"},
    foreign_name{"printf", "(print (format \"…\" value…))"},
    foreign_name{"println", "(print value)"},
    foreign_name{"push", "(append list (list item)), which returns a new list"},
    foreign_name{"puts", "(print value)"},
    foreign_name{
        "quit",
        "(error \"message\") to end with an error; otherwise the last form ends the program"},
    foreign_name{"rem", "(remainder a b)"},
    foreign_name{"replace", "(string-replace text from to)"},
    foreign_name{"return", "the value itself: the last expression of a body is its value"},
    foreign_name{"setf", "(set! name value)", true},
    foreign_name{"setq", "(define name value), or (set! name value) to change it", true},
    foreign_name{"size", "(length items)"},
    foreign_name{"split", "(string-split text separator)"},
    foreign_name{"str", "(string-append text …) or (format \"…\" value…)"},
    foreign_name{"string->list", "(string-split text \"\")"},
    foreign_name{"string-concat", "(string-append text …)"},
    foreign_name{"string-ref", "(substring text index (+ index 1))"},
    foreign_name{"t", "true; the last clause of cond is (else value)"},
    foreign_name{"tail", "(rest list)"},
    foreign_name{"throw", "(error \"message\" data…), or (raise e) for what catch has bound"},
    foreign_name{"trim", "(string-trim text)"},
    foreign_name{"undefined", "nil"},
    foreign_name{"upcase", "(string-upcase text)"},
    foreign_name{"upper", "(string-upcase text)"},
    foreign_name{"var", "(define name value)", true},
    foreign_name{"vector", "(list value …)"},
    foreign_name{"vector-ref", "(nth list index)"},
    foreign_name{"when-let", "(let ((name value)) (when name body…))", true},
    foreign_name{"zero?", "(= n 0)"},
    foreign_name{"λ", "(lambda (parameter…) body…)", true},
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
            return "write a string between straight quotes: \"…\"";
    }
    return {};
}

} // namespace

bool looks_like_form(std::string_view name) {
    const auto known = std::find_if(table.begin(), table.end(),
                                    [&](const foreign_name& row) { return row.name == name; });
    if (known != table.end()) return known->is_form;
    return defines_by_name(name) || name.starts_with("let-") || name.starts_with("with-");
}

bool defines_by_name(std::string_view name) {
    return name.starts_with("def") && !name.starts_with("default");
}

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
