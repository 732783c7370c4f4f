#include "program_generator.hpp"

#include "program_writer.hpp"

#include <heddle/lang/builtin.hpp>

#include <array>
#include <string_view>
#include <vector>

namespace heddle::fuzzing {

namespace {

class generator : program_writer {
public:
    explicit generator(std::span<const std::uint8_t> bytes) : program_writer(bytes) {
        for (const auto family :
             {lang::number_builtins(), lang::string_builtins(), lang::list_builtins(),
              lang::map_builtins(), lang::data_builtins(), lang::regex_builtins()}) {
            for (const lang::builtin& row : family) {
                if (row.how == lang::builtin_kind::pure && row.name.front() != '%')
                    builtins_.push_back(&row);
            }
        }
    }

    std::string run() {
        const unsigned forms = 1 + choose(6);
        for (unsigned i = 0; i < forms; ++i) {
            if (i + 1 < forms && choose(2) == 0) definition(0);
            else expression(0);
            out_ += '\n';
        }
        return std::move(out_);
    }

private:
    void expressions(unsigned count, int depth) {
        for (unsigned i = 0; i < count; ++i) {
            text(" ");
            expression(depth);
        }
    }
    void body(int depth) {
        const std::size_t outer = scope_.size();
        if (choose(6) == 5) {
            text(" ");
            definition(depth);
        }
        expressions(1 + choose(2), depth);
        scope_.resize(outer);
    }

    void definition(int depth) {
        if (tired(depth)) return atom();
        if (choose(2) == 0) {
            const std::string name = fresh("v");
            text("(define " + name + " ");
            expression(depth + 1);
            text(")");
            scope_.push_back(name);
            return;
        }
        // Recursion that ends: the first argument counts down.
        const std::string name = fresh("f");
        text("(define (" + name + " n x) (if (and (integer? n) (> n 0)) ");
        const std::size_t outer = scope_.size();
        scope_.insert(scope_.end(), {"n", "x"});
        const bool tail = choose(2) == 0;
        text(tail ? "(" + name + " (- n 1) " : "(list (" + name + " (- (min n 5) 1) ");
        expression(depth + 2);
        text(tail ? ") " : ")) ");
        expression(depth + 2);
        text("))");
        scope_.resize(outer);
        scope_.push_back(name);
    }

    void bindings(std::string_view form, int depth, bool sequential) {
        text("(");
        text(form);
        text(" (");
        const std::size_t outer = scope_.size();
        std::vector<std::string> names;
        const unsigned count = choose(4);
        for (unsigned i = 0; i < count; ++i) {
            const std::string name = fresh("x");
            text("(" + name + " ");
            if (form == "letrec") {
                scope_.push_back(name);
                lambda(depth + 1);
            } else {
                expression(depth + 1);
            }
            text(")");
            if (sequential) scope_.push_back(name);
            else names.push_back(name);
        }
        scope_.insert(scope_.end(), names.begin(), names.end());
        text(")");
        body(depth + 1);
        text(")");
        scope_.resize(outer);
    }

    void lambda(int depth, int parameters = -1) {
        const unsigned count = parameters >= 0 ? static_cast<unsigned>(parameters) : choose(3);
        const std::size_t outer = scope_.size();
        text("(lambda (");
        for (unsigned i = 0; i < count; ++i) {
            scope_.push_back(fresh("p"));
            text((i == 0 ? "" : " ") + scope_.back());
        }
        if (parameters < 0 && choose(5) == 4) {
            scope_.push_back(fresh("r"));
            text(" . " + scope_.back());
        }
        text(")");
        body(depth + 1);
        text(")");
        scope_.resize(outer);
    }

    void builtin(int depth) {
        const lang::builtin& row = *builtins_[choose(static_cast<unsigned>(builtins_.size()))];
        unsigned count = row.min_arguments;
        const unsigned most =
            row.max_arguments == lang::builtin::any_number ? count + 2 : row.max_arguments;
        count += choose(most - count + 1);
        if (choose(40) == 39) ++count;
        text("(");
        text(row.name);
        expressions(count, depth + 1);
        text(")");
    }

    void counted_loop(int depth) {
        const std::string name = fresh("i");
        const unsigned rounds = choose(6);
        const unsigned shape = choose(3);
        if (shape == 0) {
            text("(loop ");
            number(rounds);
            text(" ");
            expression(depth + 1);
            text(")");
            return;
        }
        const std::size_t outer = scope_.size();
        if (shape == 1) {
            text("(let ((" + name + " 0)) (while (< " + name + " ");
            number(rounds);
            text(") (set! " + name + " (+ " + name + " 1))");
            // Read only: what the loop counts with must not be set by its body.
            body(depth + 1);
            text(") " + name + ")");
        } else {
            const std::string next = fresh("next");
            scope_.push_back(name);
            text("(let " + next + " ((" + name + " ");
            number(rounds);
            text(") (acc nil)) (if (> " + name + " 0) (" + next + " (- " + name + " 1) ");
            expression(depth + 1);
            text(") (list acc");
            expressions(1, depth + 1);
            text(")))");
        }
        scope_.resize(outer);
    }

    void elements(int depth) {
        switch (choose(3)) {
        case 0:
            text("(range ");
            number(choose(9));
            text(")");
            break;
        case 1:
            text("(list");
            expressions(choose(5), depth + 1);
            text(")");
            break;
        default: expression(depth + 1);
        }
    }

    void higher_order(int depth) {
        static constexpr std::array<std::string_view, 10> names{
            "map",  "map-settled", "for-each", "filter",  "any?",
            "all?", "partition",   "group-by", "sort-by", "map"};
        const unsigned which = choose(names.size() + 2);
        if (which >= names.size()) {
            text(which == names.size() ? "(reduce " : "(fold ");
            lambda(depth + 1, 2);
            expressions(1, depth + 1);
            text(" ");
        } else {
            text("(");
            text(names[which]);
            text(" ");
            lambda(depth + 1, 1);
            text(" ");
        }
        elements(depth);
        text(")");
    }

    void attempt(int depth) {
        text("(try");
        expressions(1 + choose(2), depth + 1);
        const unsigned shape = choose(4);
        if (shape != 3) {
            const std::string name = fresh("e");
            static constexpr std::array<std::string_view, 4> kinds{
                "", " 'TypeError", " 'SexpEvaluationError", " 'UserError"};
            text(" (catch (" + name);
            text(kinds[choose(kinds.size())]);
            text(")");
            scope_.push_back(name);
            body(depth + 1);
            scope_.pop_back();
            text(")");
        }
        if (shape >= 2) {
            text(" (finally");
            body(depth + 1);
            text(")");
        }
        text(")");
    }

    void code_as_data(int depth) {
        switch (choose(6)) {
        case 0:
            text("(eval '");
            expression(depth + 1);
            text(")");
            break;
        case 1: {
            text("(eval '");
            std::vector<std::string> hidden;
            hidden.swap(scope_);
            scope_.push_back("given");
            expression(depth + 1);
            scope_.swap(hidden);
            text(" (dict \"given\"");
            expressions(1, depth + 1);
            text("))");
            break;
        }
        case 2:
            text("`(a ,");
            expression(depth + 1);
            text(" ,@(list");
            expressions(choose(3), depth + 1);
            text("))");
            break;
        case 3:
            text("(sandbox ((steps 500) (memory 100000)");
            if (choose(2) == 0) text(" (allow (note))");
            text(")");
            body(depth + 1);
            text(")");
            break;
        case 4: {
            const std::string name = "m" + std::to_string(choose(4));
            text("(progn (defmacro " + name + " (a) `(list ,a ");
            expression(depth + 2);
            text(")) (" + name + " ");
            expression(depth + 1);
            text("))");
            break;
        }
        default:
            text("(eval (parse (string-append \"(list\" \" ");
            number(choose(100));
            text(")\")))");
        }
    }

    /// What no compiler should take, or what fails when it runs.
    void nonsense(int depth) {
        static constexpr std::array<std::string_view, 16> parts{"(if)",
                                                                "(if 1 2)",
                                                                "(let ((x)) x)",
                                                                "(lambda (x x) x)",
                                                                "(set! nowhere 1)",
                                                                "(1 2)",
                                                                "(error \"raised\" 1 2)",
                                                                "(quote)",
                                                                "(loop -1 2)",
                                                                "(let next)",
                                                                "(cond (else))",
                                                                "(nth '() 0)",
                                                                "(try)",
                                                                "(lambda)",
                                                                "(car 1)",
                                                                "(catch (e) 1)"};
        if (choose(2) == 0) return text(parts[choose(parts.size())]);
        text("(");
        expressions(choose(4), depth + 1);
        text(")");
    }

    void effect(int depth) {
        switch (choose(3)) {
        case 0:
            text("(pause ");
            number(choose(4));
            text(")");
            break;
        case 1:
            text("(note ");
            expression(depth + 1);
            text(")");
            break;
        default:
            text("(fail-after ");
            number(choose(4));
            text(" \"late\")");
        }
    }

    void branching(int depth) {
        switch (choose(6)) {
        case 0:
            text("(if");
            expressions(3, depth + 1);
            text(")");
            break;
        case 1:
            text("(cond (");
            expressions(2, depth + 1);
            text(") (else");
            body(depth + 1);
            text("))");
            break;
        case 2:
            text(choose(2) == 0 ? "(when" : "(unless");
            expressions(2, depth + 1);
            text(")");
            break;
        case 3:
            text("(case");
            expressions(1, depth + 1);
            text(" (0 1) (\"text\"");
            expressions(1, depth + 1);
            text(") (else");
            expressions(1, depth + 1);
            text("))");
            break;
        case 4:
            text(choose(2) == 0 ? "(and" : "(or");
            expressions(choose(4), depth + 1);
            text(")");
            break;
        default:
            text("(progn");
            body(depth + 1);
            text(")");
        }
    }

    void call(int depth) {
        switch (choose(4)) {
        case 0:
            text("(");
            name_in_scope();
            text(" ");
            number(choose(5));
            expressions(choose(3), depth + 1);
            text(")");
            break;
        case 1: {
            const unsigned count = choose(3);
            text("(");
            lambda(depth + 1, static_cast<int>(count));
            expressions(count, depth + 1);
            text(")");
            break;
        }
        case 2:
            text("(apply ");
            if (choose(2) == 0) text("+");
            else lambda(depth + 1, 2);
            expressions(1, depth + 1);
            text(" (list");
            expressions(1, depth + 1);
            text("))");
            break;
        default:
            if (scope_.empty()) return atom();
            text("(set! ");
            // Counters of loops are called i…; to set them could make a loop endless (bounded by
            // the step limit, but then nothing else is seen).
            for (unsigned k = choose(static_cast<unsigned>(scope_.size())), tried = 0;;
                 k = (k + 1) % scope_.size()) {
                if (scope_[k].front() != 'i' && scope_[k] != "n") {
                    text(scope_[k]);
                    break;
                }
                if (++tried > scope_.size()) {
                    text("nowhere");
                    break;
                }
            }
            expressions(1, depth + 1);
            text(")");
        }
    }

    void expression(int depth) {
        if (tired(depth)) return atom();
        switch (choose(24)) {
        case 0:
        case 1:
        case 2: return atom();
        case 3:
        case 4:
        case 5:
        case 6: return builtin(depth);
        case 7:
        case 8: return branching(depth);
        case 9: return bindings("let", depth, false);
        case 10: return bindings("let*", depth, true);
        case 11: return bindings("letrec", depth, true);
        case 12: return lambda(depth);
        case 13:
        case 14: return call(depth);
        case 15: return counted_loop(depth);
        case 16:
        case 17: return higher_order(depth);
        case 18: return attempt(depth);
        case 19: return code_as_data(depth);
        case 20: return effect(depth);
        case 21:
            text("(parallel");
            expressions(choose(4), depth + 1);
            text(")");
            return;
        case 22:
            text("(with ((concurrency ");
            number(1 + choose(3));
            text("))");
            body(depth + 1);
            text(")");
            return;
        default:
            if (choose(3) == 0) return nonsense(depth);
            return builtin(depth);
        }
    }

    std::vector<const lang::builtin*> builtins_;
};

} // namespace

std::string generate_program(std::span<const std::uint8_t> bytes) { return generator(bytes).run(); }

} // namespace heddle::fuzzing
