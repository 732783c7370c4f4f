#include "sandbox_generator.hpp"

#include "lang/compile/special_form.hpp"
#include "lang/machine/with_settings.hpp"

#include <heddle/lang/builtin.hpp>

#include <array>
#include <string_view>

namespace heddle::fuzzing {

namespace {

constexpr int deepest = 6;
constexpr std::size_t longest = 4000; ///< characters; then only atoms follow

/// Numbers out of bytes; 0 when they are used up.
class choices {
public:
    explicit choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
    [[nodiscard]] unsigned below(std::size_t count) {
        if (at_ + 1 >= bytes_.size()) return 0;
        const unsigned number = bytes_[at_] * 256U + bytes_[at_ + 1];
        at_ += count <= 256 ? 1 : 2;
        return static_cast<unsigned>((count <= 256 ? number >> 8 : number) % count);
    }
    [[nodiscard]] bool empty() const noexcept { return at_ + 1 >= bytes_.size(); }

private:
    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
};

sandbox_terms terms_from(choices& choose) {
    sandbox_terms terms;
    std::string allow;
    for (const std::string& name : sandbox_host::allowable()) {
        if (choose.below(2) == 0) continue;
        terms.allow.insert(name);
        allow += " " + name;
    }
    static constexpr std::array<std::size_t, 3> memories{100'000, 1'000'000, 8'000'000};
    terms.memory = memories[choose.below(memories.size())];
    terms.limits = "(allow (" + allow + ")) (steps " +
                   std::to_string(100 + 400 * choose.below(256)) + ") (memory " +
                   std::to_string(terms.memory) + ") (timeout " +
                   std::to_string(1 + choose.below(5)) + ")";
    if (choose.below(2) == 0) terms.limits += " (calls " + std::to_string(choose.below(6)) + ")";
    if (choose.below(4) == 0) {
        terms.models = {"m", "p"};
        terms.limits += " (models (m p))";
    }
    return terms;
}

/// The text as a string literal.
std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

class generator {
public:
    generator(std::span<const std::uint8_t> bytes, const std::vector<std::string>& names)
        : choose_(bytes), names_(names) {
        for (const auto family : lang::builtin_families()) {
            for (const lang::builtin& row : family) builtins_.push_back(&row);
        }
        for (const lang::special_form& row : lang::special_forms()) forms_.push_back(row.name);
    }

    sandbox_case run() {
        sandbox_case result;
        result.terms = terms_from(choose_);
        result.code = "(progn";
        const unsigned count = 1 + choose_.below(4);
        for (unsigned i = 0; i < count; ++i) {
            // Most are compiled by themselves, so that one that cannot be does not end the others.
            const bool alone = choose_.below(4) != 0;
            result.code +=
                alone ? " (try (eval '" + expression(0) + ") (catch (e) 0))" : " " + expression(0);
        }
        result.code += ")";
        return result;
    }

private:
    [[nodiscard]] bool tired(int depth) const {
        return depth >= deepest || written_ > longest || choose_.empty();
    }
    std::string put(std::string text) {
        written_ += text.size();
        return text;
    }

    // ------------------------------------------------------------ names and atoms

    std::string any_name() {
        switch (choose_.below(6)) {
        case 0: return std::string(builtins_[choose_.below(builtins_.size())]->name);
        case 1: return std::string(forms_[choose_.below(forms_.size())]);
        case 2: return allowable();
        case 3: return local();
        default: {
            const std::string& name = names_[choose_.below(names_.size())];
            // Those of the implementation end every program that is compiled with them.
            return name.starts_with('%') && choose_.below(8) != 0 ? local() : name;
        }
        }
    }
    static std::string_view plain(std::size_t i) {
        static constexpr std::array<std::string_view, 8> locals{"a", "b", "f", "g",
                                                                "x", "y", "e", "go"};
        return locals[i % locals.size()];
    }
    std::string local() { return std::string(plain(choose_.below(8))); }
    std::string allowable() {
        const auto& names = sandbox_host::allowable();
        return names[choose_.below(names.size())];
    }
    /// A name that code builds when it runs; also those of the compiler's own variables.
    std::string built_symbol() {
        static constexpr std::array<std::string_view, 7> hidden{
            "the sandbox", "eval scope",     "parallel group", "case value",
            "bound value", "assigned value", "*loop-config*"};
        std::string name =
            choose_.below(4) == 0 ? std::string(hidden[choose_.below(hidden.size())]) : any_name();
        const std::size_t half = name.size() / 2;
        return "(string->symbol (string-append " + quoted(name.substr(0, half)) + " " +
               quoted(name.substr(half)) + "))";
    }
    std::string atom() {
        static constexpr std::array<std::string_view, 18> literals{"0",
                                                                   "1",
                                                                   "-7",
                                                                   "nil",
                                                                   "true",
                                                                   "\"\"",
                                                                   "\"x\"",
                                                                   "2.5",
                                                                   "'()",
                                                                   "'symbol",
                                                                   "'(1 2)",
                                                                   "(dict 'k 1)",
                                                                   "1e308",
                                                                   "\"(+ 1 2)\"",
                                                                   "9223372036854775807",
                                                                   "'(lambda () 1)",
                                                                   "(list 1 \"x\")",
                                                                   "(semaphore 1)"};
        switch (choose_.below(4)) {
        case 0: return put(any_name());
        case 1: return put(local());
        default: return put(std::string(literals[choose_.below(literals.size())]));
        }
    }

    // ------------------------------------------------------------ expressions

    std::string expressions(unsigned count, int depth) {
        std::string text;
        for (unsigned i = 0; i < count; ++i) text += " " + expression(depth);
        return text;
    }
    std::string lambda(int depth) {
        static constexpr std::array<std::string_view, 5> parameters{"()", "(x)", "(x y)",
                                                                    "(x &optional y)", "(x . y)"};
        return put("(lambda " + std::string(parameters[choose_.below(parameters.size())]) +
                   expressions(1 + choose_.below(2), depth + 1) + ")");
    }
    std::string thunk(int depth) { return put("(lambda ()" + expressions(1, depth + 1) + ")"); }

    std::string expression(int depth) {
        if (tired(depth)) return atom();
        switch (choose_.below(20)) {
        case 0: return atom();
        case 1:
        case 2: return builtin_call(depth);
        case 3:
        case 4: return named_call(depth);
        case 5:
        case 6: return any_form(depth);
        case 7:
        case 8: return good_form(depth);
        case 9:
        case 10: return code_as_data(depth);
        case 11:
        case 12: return handing_out(depth);
        case 13: return task_call(depth);
        case 14: return with_settings(depth);
        case 15: return concurrent(depth);
        case 16: return errors(depth);
        case 17: return assignment(depth);
        case 18: return higher_order(depth);
        default: return nested_sandbox(depth);
        }
    }

    std::string builtin_call(int depth) {
        const lang::builtin& row = *builtins_[choose_.below(builtins_.size())];
        const unsigned least = row.min_arguments;
        const unsigned most = row.max_arguments == lang::builtin::any_number
                                  ? least + 3
                                  : std::min<unsigned>(row.max_arguments, 6);
        const unsigned count = least + choose_.below(most - std::min(least, most) + 2);
        return put("(" + std::string(row.name) + expressions(count, depth + 1) + ")");
    }
    std::string named_call(int depth) {
        return put("(" + any_name() + expressions(choose_.below(4), depth + 1) + ")");
    }
    /// Any form of the table, with parts of every shape.
    std::string any_form(int depth) {
        std::string text = "(" + std::string(forms_[choose_.below(forms_.size())]);
        const unsigned count = choose_.below(5);
        for (unsigned i = 0; i < count; ++i) {
            switch (choose_.below(4)) {
            case 0: text += " ((" + local() + " " + expression(depth + 1) + "))"; break;
            case 1: text += " (" + local() + " " + local() + ")"; break;
            case 2: text += " " + any_name(); break;
            default: text += " " + expression(depth + 1); break;
            }
        }
        return put(text + ")");
    }
    std::string good_form(int depth) {
        const std::string e = expression(depth + 1);
        const std::string other = expression(depth + 1);
        switch (choose_.below(12)) {
        case 0: return put("(let ((" + local() + " " + e + ")) " + other + ")");
        case 1: return put("(let* ((a " + e + ") (b a)) " + other + ")");
        case 2: return put("(letrec ((f " + lambda(depth + 1) + ")) " + other + ")");
        case 3:
            return put("(let go ((i 0)) (if (< i 5) (progn " + e + " (go (+ i 1))) " + other +
                       "))");
        case 4: return put("(if " + e + " " + other + " " + atom() + ")");
        case 5: return put("(loop 3 " + e + ")");
        case 6: return put("(while " + e + " " + other + ")");
        case 7: return put("(case " + e + " (1 " + other + ") (else " + e + "))");
        case 8: return put("(define (" + local() + " x) " + e + ")");
        case 9: return put("(bind " + local() + " " + e + ")");
        case 10: return put("`(" + local() + " ,@(list " + e + ") ," + other + ")");
        default:
            return put("(director-evaluator-loop (max-iterations 2) (initial-director-input " + e +
                       ") (director (lambda (x i) " + other +
                       ")) (executor (lambda (x i) *loop-config*)) (evaluator (lambda (a b c) a)) "
                       "(controller (lambda (a b c d) (list 'continue a))))");
        }
    }
    std::string code_as_data(int depth) {
        const std::string e = expression(depth + 1);
        switch (choose_.below(12)) {
        case 0: return put("(eval (parse " + quoted(e) + "))");
        case 1: return put("(eval '" + e + ")");
        case 2: return put("(eval (list " + built_symbol() + " " + e + "))");
        case 3: return put("(eval " + built_symbol() + ")");
        case 4: return put("(eval '" + e + " (dict 'x " + expression(depth + 1) + "))");
        case 5: return put("(map eval (list '" + e + "))");
        case 6: return put("(eval (list 'quote " + e + "))");
        case 7: return put("(macroexpand '" + e + ")");
        case 8: return put("(defmacro m (a) " + e + ")");
        case 9: return put("(eval (first (read-all " + quoted(e) + ")))");
        case 10: return put("(eval (list 'set! " + built_symbol() + " " + e + "))");
        default: return put("(apply eval (list '" + e + "))");
        }
    }
    /// To functions of the program that keep or call what they are given.
    std::string handing_out(int depth) {
        switch (choose_.below(7)) {
        case 0:
        case 1: return put("(store " + lambda(depth) + ")");
        case 2: return put("(store (keep-arg " + expression(depth + 1) + "))");
        case 3: return put("(store " + expression(depth + 1) + ")");
        case 4: return put("(call-it " + thunk(depth) + ")");
        case 5: return put("(apply-it " + any_name() + " " + expression(depth + 1) + ")");
        default: return put("(map store (list " + thunk(depth) + "))");
        }
    }
    std::string task_call(int depth) {
        const std::string e = expression(depth + 1);
        static constexpr std::array<std::string_view, 8> clauses{
            "(model \"m\")",    "(provider \"p\")",
            "(files '(\"a\"))", "(temperature 1)",
            "(timeout 1)",      "(context '((fresh_context enabled)))",
            "(retries 1)",      "(history_config '((use_session_history true)))"};
        const std::string clause(clauses[choose_.below(clauses.size())]);
        switch (choose_.below(9)) {
        case 0: return put("(ask (q " + e + "))");
        case 1: return put("(ask (q \"x\") " + clause + ")");
        case 2: return put("(other " + e + ")");
        case 3: return put("(call-atomic-task '" + any_name() + " (q " + e + "))");
        case 4: return put("(host-tool (x \"a\"))");
        case 5: return put("(forbidden-tool (x \"a\"))");
        case 6: return put("(stream (ask (q \"x\")) (lambda (x) " + e + "))");
        case 7: return put("(system:run_script (command \"ls\"))");
        default: return put("(call-atomic-task " + built_symbol() + " (q 1))");
        }
    }
    std::string with_settings(int depth) {
        const auto rows = lang::with_settings();
        std::string text = "(with (";
        const unsigned count = 1 + choose_.below(2);
        static constexpr std::array<std::string_view, 6> good{"1",      "\"m\"", "\"p\"",
                                                              "'raise", "0.5",   "'(\"a\")"};
        for (unsigned i = 0; i < count; ++i) {
            text += "(" + std::string(rows[choose_.below(rows.size())].name) + " " +
                    (choose_.below(4) == 0 ? expression(depth + 1)
                                           : std::string(good[choose_.below(good.size())])) +
                    ")";
        }
        return put(text + ")" + expressions(1 + choose_.below(2), depth + 1) + ")");
    }
    std::string concurrent(int depth) {
        const std::string e = expression(depth + 1);
        const std::string other = expression(depth + 1);
        switch (choose_.below(10)) {
        case 0: return put("(parallel " + e + " " + other + ")");
        case 1: return put("(race " + e + " " + other + ")");
        case 2: return put("(timeout 0.5 " + e + " " + other + ")");
        case 3: return put("(hedge 0.1 " + e + ")");
        case 4: return put("(retry 2 " + e + ")");
        case 5: return put("(await (spawn " + e + "))");
        case 6: return put("(let ((f (spawn " + e + "))) (cancel f) " + other + ")");
        case 7: return put("(with-permit (semaphore 1) " + e + ")");
        case 8: return put("(progn (sleep 1) " + e + ")");
        default: return put("(store (spawn " + e + "))");
        }
    }
    std::string errors(int depth) {
        const std::string e = expression(depth + 1);
        const std::string other = expression(depth + 1);
        switch (choose_.below(8)) {
        case 0: return put("(try " + e + " (catch (e) " + other + "))");
        case 1: return put("(try " + e + " (finally " + other + "))");
        case 2: return put("(try " + e + " (catch (e 'LimitError) 1) (finally " + other + "))");
        case 3: return put("(error \"m\" " + e + " " + lambda(depth) + ")");
        case 4:
            return put("(raise (dict \"kind\" \"LimitError\" \"message\" \"m\" \"data\" " + e +
                       " \"result\" " + other + "))");
        case 5: return put("(map-settled (lambda (x) " + e + ") '(1 2))");
        case 6: return put("(try " + e + " (catch (e) (raise e)))");
        default: return put("(try (error \"m\" " + e + ") (catch (e) (store e)))");
        }
    }
    std::string assignment(int depth) {
        static constexpr std::array<std::string_view, 6> heads{"set!",    "define",   "bind",
                                                               "defatom", "defmacro", "deftool"};
        return put("(" + std::string(heads[choose_.below(heads.size())]) + " " + any_name() + " " +
                   expression(depth + 1) + ")");
    }
    std::string higher_order(int depth) {
        static constexpr std::array<std::string_view, 10> heads{
            "map",  "for-each",  "filter",   "reduce",  "any?",
            "all?", "partition", "group-by", "sort-by", "map-settled"};
        const std::string head(heads[choose_.below(heads.size())]);
        const std::string f = choose_.below(2) == 0 ? any_name() : lambda(depth);
        const std::string list = choose_.below(2) == 0 ? "'(1 2 3)" : expression(depth + 1);
        return put("(" + head + " " + f + (head == "reduce" ? " 0 " : " ") + list + ")");
    }
    std::string nested_sandbox(int depth) {
        const sandbox_terms terms = terms_from(choose_);
        return put("(sandbox (" + terms.limits + ")" +
                   expressions(1 + choose_.below(2), depth + 1) + ")");
    }

    choices choose_;
    const std::vector<std::string>& names_;
    std::vector<const lang::builtin*> builtins_;
    std::vector<std::string_view> forms_;
    std::size_t written_ = 0;
};

} // namespace

sandbox_case generate_sandbox_case(std::span<const std::uint8_t> bytes,
                                   const std::vector<std::string>& names) {
    return generator(bytes, names).run();
}

sandbox_terms generate_sandbox_terms(std::span<const std::uint8_t> bytes) {
    choices choose(bytes);
    return terms_from(choose);
}

} // namespace heddle::fuzzing
