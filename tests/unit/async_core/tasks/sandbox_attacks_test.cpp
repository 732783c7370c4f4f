// Ways that code in a sandbox may try to get at what is outside, by group. After each one the
// program around it is looked at: nothing of it may have changed, and nobody outside may have been
// asked.
#include "context_testing.hpp"

#include <heddle/host/import_port.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heddle::tasks::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Imports from a file port. Names of files are the names of sources: a path is relative to the
/// folder of the importing file. `files` outlives it.
class file_imports final : public host::import_port {
public:
    explicit file_imports(ports::file_port& files) : files_(files) {}

    coro::task<result<host::imported_source>> load(std::string path, std::string from,
                                                   coro::call_context context) override {
        const std::filesystem::path folder = std::filesystem::path(from).parent_path();
        const std::string name = (folder / path).lexically_normal().string();
        result<std::string> text = co_await files_.read(name, context);
        if (!text) co_return std::move(text).error();
        co_return host::imported_source{name, *std::move(text)};
    }

private:
    ports::file_port& files_;
};

/// A program with something to lose, on ports that keep what they are asked.
class guarded {
public:
    guarded() {
        models.add(llm);
        EXPECT_TRUE(models.set_default("usual"));
        llm.say("answer");
        task_system_parts tasks;
        tasks.models = &models;
        tasks.processes = &processes;
        files = fs::make_workspace_files(folder.path.string(), runner.loop).value();
        imports = std::make_unique<file_imports>(*files);
        folder.file("secret.txt", "of the disk");
        folder.file("lib.heddle", "(define imported 1)");
        host::engine_parts parts;
        parts.files = files.get();
        parts.imports = imports.get();
        parts.print = [this](std::string_view text) { printed += text; };
        parts.readable_environment = {"HOME"};
        parts.operators = operators(std::move(tasks));
        engine.emplace(runner.loop, std::move(parts));
        session = engine->new_session().value();
        const std::string out = json(
            "(import std/lists)"
            "(define secret \"of the program\") (define kept nil)"
            "(define (keep f) (set! kept f) 1) (define (call-it f) (f)) (define (id x) x)"
            "(define (bound f x) (lambda () (f x)))"
            "(define (write) (write-file \"out.txt\" \"x\"))"
            "(define (helper x) (* 2 x))"
            "(defmacro own-macro (x) (list '+ x 1))"
            "(defatom ask (params q) (instructions \"{{q}}\"))"
            "(defatom other (params q) (instructions \"other {{q}}\"))"
            "(deftool peek (params) (description \"reads\") (read-file \"secret.txt\"))"
            "(ask (q secret)) 'ready");
        EXPECT_EQ(out, "\"ready\"");
    }

    std::string json(const std::string& text) {
        host::run_options bounds;
        bounds.step_limit = 3'000'000;
        auto ended = runner.run(session->evaluate("test", text, bounds));
        if (!ended) return testing::shown(ended.error());
        auto result = lang::value_to_json(*ended);
        return result ? *std::move(result) : lang::print_value(*ended);
    }

    /// Runs code as a model would write it.
    std::string attack(const std::string& limits, const std::string& code) {
        session->define("attack-code", lang::make_string(session->memory(), code));
        return json("(sandbox ((steps 100000) (memory 20000000) (timeout 5) " + limits +
                    ") (eval (parse attack-code)))");
    }

    /// The program does what it did, and nobody has been asked.
    void expect_unharmed(const std::string& what) {
        EXPECT_FALSE(std::filesystem::exists(folder.path / "out.txt")) << what;
        EXPECT_TRUE(processes.asked.empty()) << what;
        EXPECT_EQ(printed, "") << what;
        EXPECT_EQ(json("(list secret (helper 2) (own-macro 1) (sum '(1 2)) (map helper '(1 2)) "
                       "(filter (lambda (x) (> x 1)) '(1 2)) (reduce + 0 '(1 2)))"),
                  R"(["of the program",4,2,3,[2,4],[2],3])")
            << what;
        EXPECT_EQ(json("(try (eval 'imported) (catch (e) 'none))"), "\"none\"") << what;
    }

    scratch_folder folder;
    loopback::runner runner;
    fake_processes processes;
    scripted_llm llm;
    model_registry models;
    std::shared_ptr<ports::file_port> files;
    std::unique_ptr<host::import_port> imports;
    std::string printed;
    std::optional<host::engine> engine;
    std::unique_ptr<host::session> session;
};

struct attempt {
    const char* limits;
    const char* code;
    const char* expected; ///< beginning of the value or error
};

void expect_all(const std::vector<attempt>& attempts) {
    guarded w;
    const std::size_t asked = w.llm.asked.size();
    for (const attempt& one : attempts) {
        EXPECT_THAT(w.attack(one.limits, one.code), StartsWith(one.expected)) << one.code;
        EXPECT_EQ(w.llm.asked.size(), asked) << one.code;
        w.expect_unharmed(one.code);
    }
}

constexpr auto internal = "PermissionError: '%";
constexpr auto unreachable = "PermissionError: '";
constexpr auto refused = "PermissionError: ";

TEST(sandbox_attacks, names_of_the_implementation) {
    expect_all({
        {"", R"((%eval-source "(define (helper x) 0) 7" "x"))", internal},
        {"", R"((%eval-source "(set! secret 99) 7" "x"))", internal},
        {"", "(%eval-rest '((set! secret 99)) false)", internal},
        {"", R"((%eval-source "(define (map f xs) 5) 1" "x"))", internal},
        {"", R"((%eval-source "(defmacro own-macro (x) 0) 1" "x"))", internal},
        {"", "(%import-library 'std/maps \"x\")", internal},
        {"", "(%library-done 'std/lists 5)", internal},
        {"", "(%run-library 'std/maps)", internal},
        {"", "(%second-run (semaphore 1))", internal},
        {"", R"((eval (list (string->symbol (string-append "%eval" "-source")) "1" "x")))",
         internal},
        {"", R"((apply (eval (string->symbol "%eval-source")) (list "1" "x")))", internal},
        {"", R"((map (eval (string->symbol "%library")) '(5)))", internal},
        {"", "(%library 5)", internal},
        {"", "(%out-of-reach 5 5)", internal},
        {"", "(%type-error \"a\" \"b\" 3 4)", internal},
        {"", "(%import-begin '(1 2 3) 1)", internal},
        {"", "(%import-end \"lib.heddle\" \"\" true 42)", internal},
        {"", "(%defatom '(defatom x))", internal},
        {"", "(%map (lambda (x) x) '(1))", internal},
        {"", "(%join-scope g 0 \"\" 1 2)", internal},
        {"", "(%within-sandbox 1 2)", internal},
        {"", "(%in-its-sandbox 1 2)", internal},
        {"", "(sandbox ((allow (%eval-source))) 1)", internal},
    });
}

TEST(sandbox_attacks, builtins_that_reach_outside) {
    expect_all({
        {"", "(read-file \"secret.txt\")", unreachable},
        {"", "(write-file \"out.txt\" \"x\")", unreachable},
        {"", "(file-exists? \"secret.txt\")", unreachable},
        {"", "(list-directory \".\")", unreachable},
        {"", "(getenv \"HOME\")", unreachable},
        {"", "(print 1)", unreachable},
        {"", "(log-message 1)", unreachable},
        {"", "(now)", unreachable},
        {"", "(uuid)", unreachable},
        {"", "(random)", unreachable},
        {"", "(apply write-file '(\"out.txt\" \"x\"))", unreachable},
        {"", "(map read-file '(\"secret.txt\"))", unreachable},
        {"", "(reduce write-file \"out.txt\" '(\"x\"))", unreachable},
        {"", "(sort-by read-file '(\"secret.txt\" \"b\"))", unreachable},
        {"", R"((eval (list (string->symbol (string-append "write" "-file")) "out.txt" "x")))",
         unreachable},
        {"", "(eval '(write-file \"out.txt\" \"x\") (dict))", unreachable},
        {"", "(sandbox ((allow (write-file))) (write-file \"out.txt\" \"x\"))", unreachable},
        {"", "(try 1 (finally (write-file \"out.txt\" \"x\")))", unreachable},
        {"", "(try (/ 1 0) (catch (e) (write-file \"out.txt\" \"x\")))", unreachable},
        {"", "(await (spawn (write-file \"out.txt\" \"x\")))", unreachable},
        {"", "(race (write-file \"out.txt\" \"x\") 1)", unreachable},
        {"", "(retry 3 (write-file \"out.txt\" \"x\"))", unreachable},
        {"", "(timeout 0 (sleep 1) (write-file \"out.txt\" \"x\"))", unreachable},
        {"(allow (call-it))", "(call-it (lambda () (write-file \"out.txt\" \"x\")))", unreachable},
        {"(allow (write))", "(write)", "PermissionError: the sandbox does not allow 'write-file'"},
        {"(allow (write))", "(try (write) (catch (e) 'caught))",
         "PermissionError: the sandbox does not allow 'write-file'"},
        {"(allow (write))", "(map-settled (lambda (x) (write)) '(1))",
         "PermissionError: the sandbox does not allow 'write-file'"},
    });
}

TEST(sandbox_attacks, tasks_and_tools) {
    expect_all({
        {"", "(ask (q \"x\"))", unreachable},
        {"", "(ask \"x\")", unreachable},
        {"", "(call-atomic-task 'ask (q \"x\"))", refused},
        {"", "(call-atomic-task (string->symbol \"ask\") (q \"x\"))", refused},
        {"", "(call-atomic-task \"ask\" (q \"x\"))", refused},
        {"(allow (ask))", "(other (q \"x\"))", unreachable},
        {"(allow (ask))", "(call-atomic-task 'other (q \"x\"))", refused},
        {"", "(stream (ask (q \"x\")) (lambda (p) p))", unreachable},
        {"", "(system:run_script (command \"ls\"))", unreachable},
        {"", "(system:execute_shell_command (command \"ls\"))", unreachable},
        {"", "(call-atomic-task 'system:run_script (command \"ls\"))", refused},
        {"", "(system:read_files (file_paths '(\"secret.txt\")))", unreachable},
        {"", "(read-file (path \"secret.txt\"))", unreachable},
        {"", "(peek)", unreachable},
        {"(allow (ask))", "(ask (q \"x\") (model \"dear:m\"))",
         "PermissionError: the sandbox does not let code choose the model or provider 'dear:m'"},
        {"(allow (ask))", "(ask (q \"x\") (provider \"dear\"))", refused},
        {"(allow (ask))", "(with ((model \"dear:m\")) (ask (q \"x\")))", refused},
        {"(allow (ask))", "(with ((files '(\"secret.txt\"))) (ask (q \"x\")))", refused},
        {"(allow (ask)) (models (cheap))", "(ask (q \"x\") (model \"dear:m\"))", refused},
    });
}

TEST(sandbox_attacks, definitions_that_would_outlive_it) {
    expect_all({
        {"", "(defatom ask (params q) (instructions \"mine\"))", refused},
        {"", "(deftool peek (params) (description \"d\") 1)", refused},
        {"", "(defmacro own-macro (x) 0)", refused},
        {"", "(import \"lib.heddle\")", refused},
        {"", "(import std/maps)", refused},
        {"", "(define (helper x) 0)", "PermissionError: sandbox: only data may leave"},
        {"", "(progn (define (map f xs) 5) (map 1 2))", "5"},
        {"", "(progn (define secret 1) (set! secret 2) secret)", "2"},
    });
}

TEST(sandbox_attacks, names_around_it) {
    expect_all({
        {"", "secret", unreachable},
        {"", "(list helper)", unreachable},
        {"", "(own-macro 1)", "UnboundSymbolError"},
        {"", "(set! secret 1)", refused},
        {"(allow (secret))", "(set! secret \"changed\")", refused},
        {"(allow (helper))", "(set! helper (lambda (x) 0))", refused},
        {"(allow (ask))", "(set! ask (lambda (q) (eval '(write-file \"out.txt\" \"x\"))))",
         refused},
        {"(allow (helper))", "(eval (list 'set! (string->symbol \"helper\") 5))", refused},
        {"(allow (helper))", "(eval '(set! helper 5) (dict))", refused},
        {"", "*loop-config*", "UnboundSymbolError"},
        {"", "(eval (string->symbol \"the sandbox\"))", "UnboundSymbolError"},
        {"", "(eval (string->symbol \"eval scope\"))", "UnboundSymbolError"},
        {"", "(eval (list 'parallel (list 'set! (string->symbol \"parallel group\") 5)))",
         "UnboundSymbolError"},
        {"", "(eval (list 'case 1 (list 1 (list 'set! (string->symbol \"case value\") 2))))",
         "UnboundSymbolError"},
        {"", "attack-code", unreachable},
    });
}

/// What the code hands out is called by the program, when the sandbox has ended.
TEST(sandbox_attacks, functions_handed_out) {
    guarded w;
    const std::size_t asked = w.llm.asked.size();
    for (const auto& [code, call] : std::vector<std::pair<const char*, const char*>>{
             {"(keep (lambda () (eval '(write-file \"out.txt\" \"x\"))))", "(kept)"},
             {"(keep (lambda () (eval '(set! secret 1))))", "(kept)"},
             {"(keep (lambda () (eval 'secret)))", "(kept)"},
             {"(keep (lambda () (lambda () (eval '(write-file \"out.txt\" \"x\")))))", "((kept))"},
             {"(keep (lambda (f) (f \"out.txt\" \"x\")))", "(kept write-file)"},
             {"(keep (lambda (f) (f)))", "(kept write)"},
             {"(keep (lambda (e) (e '(write-file \"out.txt\" \"x\"))))", "(kept eval)"},
             {"(keep (bound eval '(write-file \"out.txt\" \"x\")))", "(kept)"},
             {"(keep (lambda (x) (eval '(write-file \"out.txt\" \"x\"))))", "(map kept '(1))"},
             {"(keep (lambda (x) (eval '(write-file \"out.txt\" \"x\"))))",
              "(sort-by kept '(1 2))"},
             {"(keep (lambda () (eval '(write-file \"out.txt\" \"x\"))))",
              "(await (spawn (kept)))"},
             {"(keep (lambda () (eval '(write-file \"out.txt\" \"x\"))))", "(parallel (kept) 1)"},
             {"(keep (lambda () (try (/ 1 0) (finally (eval '(write-file \"out.txt\" \"x\"))))))",
              "(kept)"},
             {"(keep (lambda () (eval '(defatom ask (params q) (instructions \"mine\")))))",
              "(kept)"},
             {"(keep (lambda () (eval '(ask (q \"x\")))))", "(kept)"},
             {"(keep (lambda () (call-atomic-task 'ask (q \"x\"))))", "(kept)"},
             {"(keep (lambda () (eval '(defmacro own-macro (x) 0))))", "(kept)"},
         }) {
        EXPECT_EQ(w.attack("(allow (keep bound))", code), "1") << code;
        EXPECT_THAT(w.json(call), StartsWith(refused)) << code;
        EXPECT_EQ(w.llm.asked.size(), asked) << code;
        w.expect_unharmed(code);
    }
    EXPECT_EQ(w.attack("(allow (keep)) (steps 2000)", "(keep (lambda () (while true 1)))"),
              "SexpEvaluationError: sandbox: the limit 'steps' is repeated");
    EXPECT_EQ(w.attack("(allow (keep))", "(keep (lambda () (while true 1)))"), "1");
    EXPECT_THAT(w.json("(kept)"), StartsWith("LimitError: the sandbox allows 100000 steps"));
    EXPECT_EQ(w.attack("(allow (keep))", "(keep (lambda () (sleep 1000)))"), "1");
}

TEST(sandbox_attacks, data_that_leaves) {
    expect_all({
        {"", "(lambda () 1)", "PermissionError: sandbox: only data may leave"},
        {"", "(list (dict 'f map))", "PermissionError: sandbox: only data may leave"},
        {"", "(semaphore 1)", "PermissionError: sandbox: only data may leave"},
        {"", "(spawn 1)", "PermissionError: sandbox: only data may leave"},
        {"", "(error \"m\" (lambda () 1) map)", "UserError: m"},
        {"", "(raise (dict \"kind\" \"CancelledError\" \"message\" \"m\"))",
         "SexpEvaluationError: m"},
        {"", R"((raise (dict "kind" "UserError" "message" "m" "data" (dict "f" (lambda () 1)))))",
         "UserError: m"},
        {"", R"((raise (dict "kind" "UserError" "message" "m" "data" "text" "result" map)))",
         "UserError: m"},
        {"", "(length (let n ((i 0) (x (list))) (if (< i 60) (n (+ i 1) (list x x)) x)))", "2"},
    });
}

TEST(sandbox_attacks, limits) {
    expect_all({
        {"", "(while true 1)", "LimitError: the sandbox allows 100000 steps"},
        {"", "(try (while true 1) (catch (e) 1))", "LimitError: the sandbox allows 100000 steps"},
        {"", "(map-settled (lambda (x) (while true 1)) '(1 2))",
         "LimitError: the sandbox allows 100000 steps"},
        {"", "(let f ((n 1)) (try (f (+ n 1)) (catch (e) (f n)) (finally (f n))))", "LimitError"},
        {"", "(letrec ((f (lambda () (parallel (f) (f))))) (f))", "LimitError"},
        {"", "(letrec ((f (lambda (x) (map f (list 1 2))))) (f 1))", "LimitError"},
        {"", "(let go ((l '())) (go (cons (semaphore 1) l)))", "LimitError"},
        {"", "(let go ((l '())) (go (cons (spawn 1) l)))", "LimitError"},
        {"", "(let n ((i 0) (x 1)) (if (< i 60) (n (+ i 1) (list 'progn x x)) (eval x)))",
         "LimitError"},
        {"",
         "(let ((body (map (lambda (i) (list '+ i 1)) (range 3000))))"
         " (let n ((l '())) (n (cons (eval (append (list 'lambda '()) body)) l))))",
         "LimitError"},
        {"(allow (id)) (calls 2)", "(loop 9 (try (id 1) (catch (e) 1)))", "1"},
        {"(allow (ask)) (calls 0)", "(try (ask (q \"x\")) (catch (e) 'caught))",
         "LimitError: the sandbox allows 0 calls"},
        {"(allow (ask)) (calls 0)", "(map-settled (lambda (x) (ask (q \"x\"))) '(1 2))",
         "LimitError: the sandbox allows 0 calls"},
        {"", "(sleep 100)", "TimeoutError"},
        {"", "(try (sleep 100) (catch (e) 1))", "TimeoutError"},
    });
}

TEST(sandbox_attacks, an_allowed_task_learns_nothing_of_outside) {
    guarded w;
    w.llm.asked.clear();
    w.session->define(
        "attack-code",
        lang::make_string(w.session->memory(),
                          "(progn (ask (q \"alone\")) (with ((conversation true)) (ask "
                          "(q \"first\")) (parallel (ask (q \"second\")) 1) (content "
                          "(ask (q \"third\")))))"));
    EXPECT_EQ(w.json("(with ((conversation true)) (ask (q secret)) (let ((made (sandbox ((steps "
                     "100000) (memory 20000000) (timeout 5) (allow (ask))) (eval (parse "
                     "attack-code))))) (ask (q \"afterwards\")) made))"),
              "\"answer\"");
    ASSERT_EQ(w.llm.asked.size(), 6U);
    const auto reported = [&](std::size_t request) {
        std::string text;
        for (const ports::chat_message& message : w.llm.asked[request].messages)
            text += message.text + "|";
        return text;
    };
    for (std::size_t i = 1; i < 5; ++i) {
        EXPECT_THAT(reported(i), ::testing::Not(HasSubstr("of the program")));
        EXPECT_EQ(w.llm.asked[i].model, "usual");
    }
    EXPECT_EQ(reported(2), "first|") << "a conversation that was opened outside is not seen";
    // It receives its own turns; the program receives none of them.
    EXPECT_THAT(reported(4), ::testing::AllOf(HasSubstr("first"), HasSubstr("second")));
    EXPECT_THAT(reported(5),
                ::testing::AllOf(HasSubstr("of the program"), ::testing::Not(HasSubstr("third"))));
    w.expect_unharmed("a conversation");
}

} // namespace
} // namespace heddle::tasks::testing
