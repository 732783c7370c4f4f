// A tokeniser and a stack of brackets: enough C++ to find what encloses a co_await.
#include "rules.hpp"

#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace heddle::checks {
namespace {

struct token {
    std::string_view text;
    int line = 0;
};

bool is_word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool one_of(std::string_view text, std::initializer_list<std::string_view> list) {
    for (const auto item : list) {
        if (item == text) return true;
    }
    return false;
}

// Preprocessor lines are left out: a macro is looked at where it is used.
std::vector<token> tokens_of(std::string_view code) {
    std::vector<token> tokens;
    int line = 1;
    bool line_start = true;
    for (std::size_t i = 0; i < code.size();) {
        const char c = code[i];
        if (c == '\n') {
            ++line;
            line_start = true;
            ++i;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            ++i;
        } else if (c == '#' && line_start) {
            while (i < code.size() && code[i] != '\n') {
                if (code[i] == '\\' && i + 1 < code.size() && code[i + 1] == '\n') ++line, ++i;
                ++i;
            }
        } else {
            std::size_t length = 1;
            if (is_word(c)) {
                while (i + length < code.size() && is_word(code[i + length])) ++length;
            } else if (one_of(code.substr(i, 2),
                              {"&&", "||", "->", "::", "==", "!=", "<=", ">="})) {
                length = 2;
            }
            tokens.push_back({code.substr(i, length), line});
            line_start = false;
            i += length;
        }
    }
    return tokens;
}

enum class bracket { block, condition, arguments, initialiser, group, square };

struct frame {
    bracket kind = bracket::block;
    bool lambda = false;          // a block that is the body of a lambda
    bool captures = false;        // which captures something
    bool await_seen = false;      // in the current statement, here or deeper
    bool logical_seen = false;    // in the current statement, here
    bool declares_type = false;   // struct, namespace and the like: the next { opens a block
    bool trailing_return = false; // `-> type` after a parameter list
    int lambda_pending = 0;       // [] was closed here: 1 without, 2 with captures

    void next_statement() {
        await_seen = logical_seen = declares_type = trailing_return = false;
        lambda_pending = 0;
    }
};

class coroutine_check {
public:
    coroutine_check(const source_file& file, std::vector<finding>& findings)
        : file_(file), findings_(findings), tokens_(tokens_of(file.code)) {}

    void run() {
        stack_.push_back({});
        for (at_ = 0; at_ < tokens_.size(); ++at_) step();
    }

private:
    [[nodiscard]] std::string_view text(std::size_t index) const {
        return index < tokens_.size() ? tokens_[index].text : std::string_view{};
    }
    [[nodiscard]] std::string_view now() const { return text(at_); }
    [[nodiscard]] std::string_view before() const {
        return at_ == 0 ? std::string_view{} : text(at_ - 1);
    }
    [[nodiscard]] std::string_view next() const { return text(at_ + 1); }

    void add(std::string rule, std::string what, std::string how) {
        findings_.push_back(
            {file_.path, tokens_[at_].line, std::move(rule), std::move(what), std::move(how)});
    }

    void step() {
        const auto t = now();
        auto& top = stack_.back();
        if (t == "(") push(paren_kind());
        else if (t == "[") open_square();
        else if (t == "{") open_brace();
        else if (t == ")" || t == "]" || t == "}") close();
        else if (t == ";") top.next_statement();
        else if (t == ",") top.trailing_return = false, top.lambda_pending = 0;
        else if (one_of(t, {"struct", "class", "union", "enum", "namespace", "extern"}))
            top.declares_type = true;
        else if (t == "->" && one_of(before(), {")", "mutable", "noexcept", "]"}))
            top.trailing_return = true;
        else if (one_of(t, {"||", "?", "and", "or"}) || (t == "&&" && !reference_declarator()))
            logical();
        else if (t == "co_await") await();
        else if (one_of(t,
                        {"detached", "use_future", "awaitable_operators", "make_parallel_group"}))
            starter();
        if (one_of(t, {"co_await", "co_return", "co_yield"})) lambda_coroutine();
    }

    void push(bracket kind) {
        frame pushed;
        pushed.kind = kind;
        stack_.push_back(pushed);
    }

    [[nodiscard]] bracket paren_kind() const {
        const auto previous = before();
        if (one_of(previous, {"if", "while", "switch", "for"}) ||
            (previous == "constexpr" && at_ >= 2 && text(at_ - 2) == "if")) {
            return bracket::condition;
        }
        if (one_of(previous, {"return", "co_return", "co_await", "co_yield", "throw", "case",
                              "else", "do", "and", "or", "not"})) {
            return bracket::group;
        }
        if (previous.empty()) return bracket::group;
        const char last = previous.back();
        const bool call =
            is_word(last) || last == ')' || last == ']' || last == '}' || previous == ">";
        return call ? bracket::arguments : bracket::group;
    }

    void open_square() {
        const auto previous = before();
        const bool subscript = !previous.empty() &&
                               (is_word(previous.back()) || previous == ")" || previous == "]") &&
                               !one_of(previous, {"return", "co_return", "co_await"});
        const bool attribute = next() == "[" || previous == "[";
        if (!subscript && !attribute) {
            stack_.back().lambda_pending = next() == "]" ? 1 : 2;
            const bool trivial = one_of(next(), {"]", "this", "&"}); // pointers die twice unharmed
            if (!trivial) awaited_lambda();
        }
        push(bracket::square);
    }

    // What it captures is destroyed twice (g++ 12).
    void awaited_lambda() {
        if (file_.path.starts_with("tests/") && !file_.path.starts_with("tests/support/")) return;
        for (auto at = stack_.rbegin(); at != stack_.rend(); ++at) {
            if (at->await_seen) {
                add("co_await", "a lambda with copies in an awaited call",
                    "bind it to a named local, or build it in a function (g++ 12 destroys what it "
                    "captures twice)");
                return;
            }
            if (at->kind == bracket::block) return;
        }
    }

    void open_brace() {
        auto& top = stack_.back();
        const auto previous = before();
        const bool statement =
            top.declares_type || top.trailing_return || top.lambda_pending != 0 ||
            previous.empty() ||
            one_of(previous, {")", ";", "{", "}", ":", "else", "do", "try", "const", "noexcept",
                              "override", "final", "mutable", "&", "&&"});
        frame opened;
        opened.kind = statement ? bracket::block : bracket::initialiser;
        if (statement) {
            opened.lambda = top.lambda_pending != 0;
            opened.captures = top.lambda_pending == 2;
            top.lambda_pending = 0;
            top.trailing_return = false;
        }
        stack_.push_back(opened);
    }

    void close() {
        if (stack_.size() < 2) return;
        const bool ends_statement = stack_.back().kind == bracket::block && !stack_.back().lambda;
        stack_.pop_back();
        if (ends_statement && stack_.back().kind == bracket::block) stack_.back().next_statement();
    }

    // `auto&& x`, `T&& x = …`: not the operator.
    [[nodiscard]] bool reference_declarator() const {
        if (one_of(before(), {"auto", "operator", ">"}) ||
            !is_word_start(next().empty() ? '0' : next()[0]))
            return true;
        return text(at_ + 2) == "=";
    }

    void logical() {
        auto& top = stack_.back();
        if (top.await_seen) await_in("an operand of &&, || or ?:");
        top.logical_seen = true;
    }

    void await() {
        if (next() == ")" || before() == "operator") return; // operator co_await()
        for (auto at = stack_.rbegin(); at != stack_.rend(); ++at) {
            if (at->kind == bracket::condition)
                return await_in("a condition or the head of a loop");
            if (at->kind == bracket::arguments) return await_in("an argument list");
            if (at->kind == bracket::initialiser) return await_in("an initialiser list");
            if (at->kind == bracket::square) return await_in("a subscript or a capture");
            if (at->logical_seen) return await_in("an operand of &&, || or ?:");
            if (at->kind == bracket::block) {
                if (at->await_seen) return await_in("a statement that has one already");
                break;
            }
        }
        for (auto at = stack_.rbegin(); at != stack_.rend(); ++at) {
            at->await_seen = true;
            if (at->kind == bracket::block) break;
        }
    }

    void await_in(std::string where) {
        add("co_await", "co_await in " + std::move(where),
            "bind the result to a named local in a statement of its own (g++ 12 miscompiles the "
            "rest)");
    }

    void lambda_coroutine() {
        if (file_.path.starts_with("tests/") && !file_.path.starts_with("tests/support/")) return;
        for (auto at = stack_.rbegin(); at != stack_.rend(); ++at) {
            if (!at->lambda) continue;
            if (at->captures) {
                at->captures = false; // once for each lambda
                add("lambda-coroutine", "a coroutine that is a lambda with captures",
                    "make it a function and pass what it needs by value: captures die before the "
                    "coroutine");
            }
            return;
        }
    }

    void starter() {
        // What users of the embedding library write.
        for (const std::string_view mine :
             {"examples/embedding/", "tests/unit/embed/", "tests/perf/embed", "tests/install/"}) {
            if (file_.path.starts_with(mine)) return;
        }
        const bool coro = file_.path.find("/coro/") != std::string::npos;
        if (now() == "use_future") {
            if (file_.path.starts_with("cli/") || file_.path.starts_with("tests/")) return;
            add("coroutine-start", "use_future blocks a thread",
                "start it in a nursery and await join()");
        } else if (!coro) {
            add("coroutine-start", std::string(now()) + " outside coro/",
                "start it in a nursery and await join()");
        }
    }

    const source_file& file_;
    std::vector<finding>& findings_;
    std::vector<token> tokens_;
    std::vector<frame> stack_;
    std::size_t at_ = 0;
};

} // namespace

void check_coroutines(const source_file& file, std::vector<finding>& findings) {
    if (file.is_cpp()) coroutine_check(file, findings).run();
}

} // namespace heddle::checks
