#include "form_docs.hpp"

#include "lang/machine/with_settings.hpp"

#include <algorithm>
#include <iterator>

namespace heddle::lang {

namespace {

constexpr form_doc rows[] = {
    // ------------------------------------------------------------ data
    {"quote", "'x\n(quote x)", "x itself, as data: nothing in it is evaluated.",
     "'(a 1) => (list (quote a) 1)", "data"},
    {"quasiquote", "`x\n(quasiquote x)",
     "x as data, except for its parts behind a comma. ,e puts in the value of e, and ,@e the "
     "elements of the list that e gives.",
     "(let ((n 2) (more '(3 4))) `(1 ,n ,@more)) => '(1 2 3 4)", "data"},

    // ------------------------------------------------------------ binding
    {"let", "(let ((name value)…) body…)\n(let loop-name ((name value)…) body…)",
     "Names for the extent of the body, whose last value is the value. The values are evaluated "
     "outside of the scope they make, and none may rely on another being finished. With a name "
     "before the bindings the body can call it, to go round again with new values.",
     "(let ((x 1) (y 2)) (+ x y)) => 3\n"
     "(let next ((n 5) (product 1)) (if (= n 0) product (next (- n 1) (* n product)))) => 120",
     "binding"},
    {"let*", "(let* ((name value)…) body…)",
     "As let, one binding after the other. Each value sees the names before it.",
     "(let* ((x 2) (y (* x x))) (+ x y)) => 6", "binding"},
    {"letrec", "(letrec ((name value)…) body…)",
     "As let, for functions that call each other. Every value sees all the names.",
     "(letrec ((even? (lambda (n) (if (= n 0) true (odd? (- n 1)))))\n"
     "         (odd? (lambda (n) (if (= n 0) false (even? (- n 1))))))\n"
     "  (even? 10)) => true",
     "binding"},
    {"bind", "(bind name value)\n(bind name value body…)",
     "Defines a name in the current scope and gives its value. With a body the name is known in "
     "the "
     "body alone.",
     "(progn (bind x 2) (bind y (+ x 1)) (* x y)) => 6\n(bind x 3 (* x x)) => 9", "binding"},
    {"define", "(define name value)\n(define (name parameter…) body…)",
     "Defines a variable or a function in the current scope. A string at the beginning of a body "
     "of "
     "several expressions is its documentation, which help shows.",
     "(progn (define (double n) \"Twice n.\" (* 2 n)) (double 21)) => 42", "binding"},
    {"set!", "(set! name value)",
     "Gives a variable that exists a new value, which is also the value of the form. The nearest "
     "variable of that name is meant; without one it is an UnboundSymbolError. Branches of map, "
     "for-each and parallel that set the same variable may overwrite what the others have set: "
     "combine their results instead.",
     "(let ((n 1)) (set! n (+ n 1)) n) => 2", "binding"},
    {"lambda",
     "(lambda (parameter…) body…)\n(lambda (parameter… &optional parameter…) body…)\n"
     "(lambda (parameter… . rest) body…)",
     "A function. Optional parameters that are not given are nil; a rest parameter is the list of "
     "the arguments that are left.",
     "((lambda (x) (* x x)) 4) => 16\n((lambda (a &optional b &rest c) (list a b c)) 1) => '(1 nil "
     "())",
     "binding"},

    // ------------------------------------------------------------ control
    {"if", "(if condition then else)",
     "The value of then when the condition is true, else that of else. Exactly three parts: when "
     "and "
     "unless do without the other branch. False are nil, false, 0, \"\", () and the empty map.",
     "(if (> 2 1) 'more 'less) => 'more", "control"},
    {"cond", "(cond (condition expression…)… (else expression…))",
     "The first clause whose condition is true gives the value. A clause of a condition alone "
     "gives "
     "what the condition gives; without a clause that fits the value is nil.",
     "(cond ((< 5 3) 'small) ((< 5 7) 'middle) (else 'large)) => 'middle", "control"},
    {"case", "(case value (key expression…)… (else expression…))",
     "The clause whose key equals the value gives the value of the form. A key is data, or a list "
     "of "
     "such keys; without a clause that fits the value is nil.",
     "(case 'stop (go 1) ((stop halt) 2) (else 3)) => 2", "control"},
    {"when", "(when condition body…)", "The body, if the condition is true; else nil.",
     "(when (< 1 2) 'yes) => 'yes", "control"},
    {"unless", "(unless condition body…)", "The body, if the condition is false; else nil.",
     "(unless (< 1 2) 'no) => nil", "control"},
    {"and", "(and expression…)",
     "The first false value, else the last one. What comes after a false value is not evaluated; "
     "of "
     "nothing: true.",
     "(and 1 2) => 2\n(and 1 nil (error \"never\")) => nil", "control"},
    {"or", "(or expression…)",
     "The first true value, else the last one. What comes after a true value is not evaluated; of "
     "nothing: false.",
     "(or nil 2 (error \"never\")) => 2", "control"},
    {"progn", "(progn expression…)",
     "The expressions in order; the last one's value. Of nothing: ().", "(progn 1 2 3) => 3",
     "control"},
    {"begin", "(begin expression…)", "Another name of progn.", "(begin 1 2 3) => 3", "control"},
    {"do", "(do ((name first [next])…) (end? result…) body…)",
     "Goes round until end? is true: its value is then the last result, nil without one. Each turn "
     "evaluates the body, then every next, and gives the names those values; a name without next "
     "keeps its own.",
     "(do ((i 0 (+ i 1)) (sum 0 (+ sum i))) ((= i 4) sum)) => 6", "control"},
    {"loop", "(loop count body)",
     "Evaluates the body count times and gives its last value. The count is evaluated once and "
     "must "
     "be a non-negative integer; for 0 the value is ().",
     "(let ((n 1)) (loop 3 (set! n (* n 2)))) => 8", "control"},
    {"while", "(while condition body…)", "Evaluates the body as long as the condition is true.",
     "(let ((n 1)) (while (< n 100) (set! n (* n 2))) n) => 128", "control"},
    {"try",
     "(try body… (catch (e) handler…))\n(try body… (catch (e 'Kind) handler…)…)\n"
     "(try body… (finally expression…))",
     "The value of the body, or of the handler that catches its error. The name is bound to a map: "
     "kind, reason, message, span, stack, data, result, and causes, a list of such maps. A clause "
     "with a kind catches errors of that kind alone. What stands in finally runs in any case, on "
     "cancellation too.",
     "(try (/ 1 0) (catch (e) 'none)) => 'none\n"
     "(try (error \"bad\" 7) (catch (e 'TypeError) 1) (catch (e 'UserError) (get e 'data))) => "
     "'(7)",
     "control"},

    // ------------------------------------------------------------ concurrency
    {"parallel", "(parallel expression…)",
     "Evaluates all the expressions at the same time and gives the list of their values. The first "
     "error cancels the others, waits until they have ended, and is raised.",
     "(parallel (+ 1 2) (* 3 4)) => '(3 12)", "concurrency"},
    {"with", "(with ((setting value)…) body…)",
     "Settings for everything that happens while the body runs, in every branch that it starts.",
     "(with ((concurrency 2)) (map (lambda (x) (+ x 1)) '(1 2 3))) => '(2 3 4)", "concurrency"},
    {"race", "(race expression…)",
     "Evaluates all the expressions at the same time and gives the first value; the others are "
     "cancelled. An error and a FAILED task result are no success. When all fail, the last error "
     "is raised; what catch binds has the others as causes. A race counts as one branch.",
     "(race (error \"no\") (+ 1 2)) => 3", "concurrency"},
    {"timeout", "(timeout seconds expression [fallback])",
     "Cancels the expression when the time is over. Then the value is that of the fallback, or "
     "without one a TimeoutError is raised. No catch inside takes that error.",
     "(timeout 5 (+ 1 2)) => 3", "concurrency"},
    {"hedge", "(hedge seconds expression)",
     "Starts the expression a second time if it has not ended after so many seconds, and gives the "
     "first success of the two. The other one is cancelled.",
     "", "concurrency"},
    {"retry",
     "(retry attempts expression)\n(retry ((attempts n) (backoff seconds) (on 'name…)) expression)",
     "Evaluates the expression again after an error or a FAILED task result, up to so many times "
     "in "
     "all. With on only errors whose kind or reason is named. Between attempts it waits, at random "
     "up "
     "to a bound that begins with backoff (0.5 seconds) and doubles up to a minute.",
     "(let ((runs 0))\n"
     "  (retry ((attempts 3) (backoff 0)) (progn (set! runs (+ runs 1))\n"
     "                                           (if (< runs 3) (error \"no\") runs)))) => 3",
     "concurrency"},
    {"spawn", "(spawn expression)",
     "Starts the expression beside what follows, and gives a future at once: see await and cancel. "
     "It "
     "ends at the latest with the function (or branch, or program) that the spawn stands in.",
     "(let ((sum (spawn (+ 1 2)))) (* 2 (await sum))) => 6", "concurrency"},
    {"with-permit", "(with-permit semaphore body…)",
     "Waits for a permit of the semaphore, evaluates the body, and gives the permit back, however "
     "the "
     "body ends. First come, first served.",
     "(let ((s (semaphore 1))) (map (lambda (x) (with-permit s (* x x))) '(1 2 3))) => '(1 4 9)",
     "concurrency"},

    // ------------------------------------------------------------ tasks
    {"defatom", "(defatom name (params parameter…) (instructions \"…{{parameter}}…\") clause…)",
     "Defines a task: a question to a model. It is called as (name (parameter value)…) or "
     "(name value…) and gives a task result. Further clauses: description, subtype, model, "
     "provider, "
     "system, temperature, max-tokens, timeout, retries, output_format, history_config, "
     "context_management, file_paths, tools, and the settings of requests that with has.",
     "", "tasks"},
    {"deftool", "(deftool name (params parameter…) (description \"…\") body…)",
     "Defines a tool: a function that workflows call as (name (parameter value)…) and that models "
     "call when a task lists it in its tools. A parameter is written as in defatom; types are "
     "string, integer, number, boolean, array, string[], integer[], number[], object and any. The "
     "body sees its parameters and the names around the definition; an optional parameter that is "
     "not given is its default, or nil.",
     "", "tasks"},
    {"stream", "(stream (task (parameter value)…) function)",
     "Calls a task, and calls the function with each piece of its text as it arrives, one call at "
     "a "
     "time and in order; pieces that arrive meanwhile are given together. The value is the result "
     "of the task. An error in the function cancels the task and is raised.",
     "", "tasks"},
    {"call-atomic-task", "(call-atomic-task task (parameter value)…)",
     "Calls the task that an expression gives: a name or a task as a value.", "", "tasks"},
    {"director-evaluator-loop",
     "(director-evaluator-loop\n  (max-iterations n)\n  (initial-director-input value)\n"
     "  (director f)    ; (f input i) => plan\n  (executor f)    ; (f plan i) => result\n"
     "  (evaluator f)   ; (f result plan i) => feedback\n"
     "  (controller f)) ; (f feedback plan result i) => (list 'continue input) or (list 'stop "
     "value)",
     "Plans, does and judges until the controller stops it. The clauses may stand in any order; "
     "phases are functions, tasks or tools. When the iterations run out the value is the last "
     "result "
     "of the executor.",
     "(director-evaluator-loop (max-iterations 5) (initial-director-input 1)\n"
     "  (director (lambda (input i) (* input 2))) (executor (lambda (plan i) (+ plan 1)))\n"
     "  (evaluator (lambda (result plan i) (> result 8)))\n"
     "  (controller (lambda (good plan result i)\n"
     "    (if good (list 'stop result) (list 'continue result))))) => 15",
     "tasks"},
    {"iterative-loop",
     "(iterative-loop\n  (max-iterations n)\n  (initial-input value)\n  (test-command value)\n"
     "  (executor f)    ; (f input i) => result\n  (validator f)   ; (f command i) => validation\n"
     "  (controller f)) ; (f result validation input i) => (list 'continue input) or (list 'stop "
     "value)",
     "Does and checks until the controller stops it. The clauses may stand in any order; when the "
     "iterations run out the value is the last result of the executor.",
     "(iterative-loop (max-iterations 3) (initial-input 1) (test-command \"check\")\n"
     "  (executor (lambda (input i) (* input 10))) (validator (lambda (command i) (> i 1)))\n"
     "  (controller (lambda (result good input i)\n"
     "    (if good (list 'stop result) (list 'continue result))))) => 100",
     "tasks"},

    // ------------------------------------------------------------ code
    {"eval", "(eval code)\n(eval code names)",
     "Runs data as code in the scope where the form stands. With a map of names it runs over the "
     "primitives and the map alone.",
     "(let ((x 2)) (eval '(* x 21))) => 42\n(eval '(* x x) (dict 'x 7)) => 49", "code"},
    {"defmacro", "(defmacro name (parameter…) body…)",
     "Defines a form of your own: the body computes the code that stands for a call. It gets its "
     "arguments as data, before anything is evaluated; names that it makes up should come from "
     "gensym.",
     "(progn (defmacro twice (e) `(progn ,e ,e)) (let ((n 0)) (twice (set! n (+ n 1))) n)) => 2",
     "code"},
    {"sandbox", "(sandbox ((limit value)…) body…)",
     "Runs code that is not trusted, such as code that a model wrote. Inside it only pure "
     "builtins, what the body itself defines, and what (allow (name…)) names can be reached. "
     "Limits are allow, models, steps, memory (bytes), timeout (seconds) and calls; passing one is "
     "a LimitError, reaching for anything else a PermissionError, and no catch inside takes "
     "either. Only data leaves a sandbox.",
     "(sandbox ((steps 10000)) (eval '(+ 1 2))) => 3", "code"},
    {"import", "(import \"file.heddle\")\n(import std/name)",
     "Evaluates a file once per run, relative to the file that imports it, or a module of the "
     "standard library.",
     "", "code"},
};

/// The row's own words and the table of settings.
std::string summary_of_with() {
    const auto* row = std::find_if(std::begin(rows), std::end(rows),
                                   [](const form_doc& each) { return each.name == "with"; });
    std::string summary(row->summary);
    std::string between = " Known are ";
    for (const with_setting& each : with_settings()) {
        summary += between + std::string(each.name) + " (" + std::string(each.documentation) + ")";
        between = ", ";
    }
    return summary + ".";
}

} // namespace

std::span<const form_doc> form_docs() noexcept {
    static const std::string of_with = summary_of_with();
    static const std::vector<form_doc> all = [] {
        std::vector<form_doc> made(std::begin(rows), std::end(rows));
        for (form_doc& row : made) {
            if (row.name == "with") row.summary = of_with;
        }
        return made;
    }();
    return all;
}

const form_doc* find_form_doc(std::string_view name) noexcept {
    const auto all = form_docs();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const form_doc& row) { return row.name == name; });
    return found == all.end() ? nullptr : &*found;
}

} // namespace heddle::lang
