// (import "…") in a session, over files in memory.
#include "evaluation.hpp"

#include <heddle/coro/spawn.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/host/engine.hpp>
#include <heddle/host/session.hpp>

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

namespace heddle::host {
namespace {

/// Files that take their time, so that branches meet while one is being read.
class slow_files final : public import_port {
public:
    coro::task<result<imported_source>> load(std::string path, std::string from,
                                             coro::call_context context) override {
        ++loads;
        const std::string name =
            (std::filesystem::path(from).parent_path() / path).lexically_normal().string();
        const result<void> slept =
            co_await coro::sleep_until(context, context.loop->now() + std::chrono::milliseconds(2));
        if (!slept) co_return slept.error();
        const auto found = files.find(name);
        if (found == files.end())
            co_return error(heddle::errc::not_found, "there is no file \"" + name + "\"");
        co_return imported_source{name, found->second};
    }

    std::map<std::string, std::string> files;
    int loads = 0;
};

class imports : public ::testing::Test {
protected:
    imports() : loop_(io_) {
        engine_parts parts;
        parts.imports = &files_;
        parts.print = [this](std::string_view text) { printed_ += text; };
        engine_ = std::make_unique<engine>(loop_, std::move(parts));
        session_ = *engine_->new_session();
    }

    std::string shown(const std::string& program) {
        result<lang::value> ended = error(heddle::errc::internal, "did not end");
        coro::spawn(loop_, await(session_->evaluate("flows/main.heddle", program), &ended),
                    [](std::exception_ptr thrown) { EXPECT_FALSE(thrown); });
        io_.restart();
        io_.run_for(std::chrono::seconds(10));
        return host::shown(ended);
    }

    static coro::task<void> await(coro::task<result<lang::value>> work, result<lang::value>* into) {
        *into = co_await std::move(work);
    }

    boost::asio::io_context io_;
    coro::event_loop loop_;
    slow_files files_;
    std::string printed_;
    std::unique_ptr<engine> engine_;
    std::unique_ptr<session> session_;
};

TEST_F(imports, a_file_defines_names_and_macros_for_what_follows) {
    files_.files["flows/lib.heddle"] =
        "(define (double x) (* 2 x)) (defmacro twice (x) (list 'double x)) 'loaded";
    EXPECT_EQ(shown("(define got (import \"lib.heddle\")) (list got (double 4))"), "(loaded 8)");
    EXPECT_EQ(shown("(import \"lib.heddle\") (list (double 4) (twice 5))"), "(8 10)");
}

TEST_F(imports, paths_are_relative_to_the_importing_file) {
    files_.files["lib/a.heddle"] = "(import \"deep/b.heddle\") (define a (+ b 1))";
    files_.files["lib/deep/b.heddle"] = "(define b 1)";
    EXPECT_EQ(shown("(import \"../lib/a.heddle\") (list a b)"), "(2 1)");
}

TEST_F(imports, a_file_is_evaluated_once_per_run) {
    files_.files["flows/lib.heddle"] = "(print \"once\") 7";
    files_.files["flows/other.heddle"] = "(import \"lib.heddle\")";
    EXPECT_EQ(
        shown("(list (import \"lib.heddle\") (import \"lib.heddle\") (import \"other.heddle\"))"),
        "(7 7 7)");
    EXPECT_EQ(printed_, "once\n");
    printed_.clear();
    EXPECT_EQ(shown("(import \"lib.heddle\")"), "7");
    EXPECT_EQ(printed_, "once\n") << "the next run reads it anew";
}

// It was read in one go, and the timer fired after that.
TEST_F(imports, a_long_file_is_read_in_turns) {
    std::string text;
    for (int i = 0; i < 200'000; ++i) text += "(a b c d)\n";
    files_.files["flows/lib.heddle"] = text + ")";
    const std::string read = "(try (import \"lib.heddle\") (catch (e) ";
    EXPECT_EQ(shown("(race (progn (sleep 0.02) 'timer) " + read + "'read)))"), "timer");
    EXPECT_EQ(shown(read + "(get-in e '(span line))))"), "200001");
}

TEST_F(imports, branches_that_import_at_once_wait_for_one_evaluation) {
    files_.files["flows/lib.heddle"] = "(print \"once\") (sleep 0.01) 7";
    EXPECT_EQ(shown("(map (lambda (i) (import \"lib.heddle\")) (range 20))"),
              "(7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7)");
    EXPECT_EQ(printed_, "once\n");
}

// They had the permits that the file needed to go on after branches of its own.
TEST_F(imports, branches_that_wait_for_a_file_leave_it_their_permits) {
    files_.files["flows/lib.heddle"] = "(length (map (lambda (i) (sleep 0.001)) (range 5)))";
    for (const char* bound : {"1", "2", "3"}) {
        EXPECT_EQ(shown("(with ((concurrency " + std::string(bound) +
                        ")) (map (lambda (i) (import \"lib.heddle\")) (range 6)))"),
                  "(5 5 5 5 5 5)");
    }
    EXPECT_EQ(shown("(length (map (lambda (i) (import \"lib.heddle\")) (range 100)))"), "100");
}

TEST_F(imports, a_failed_import_is_tried_again_by_the_next) {
    files_.files["flows/lib.heddle"] = "(print \"try\") (error \"broken\")";
    EXPECT_EQ(shown("(map-settled (lambda (i) (import \"lib.heddle\")) '(1 2))").substr(0, 11),
              "((dict \"ok\"");
    EXPECT_EQ(printed_, "try\ntry\n");
}

TEST_F(imports, circles_are_named) {
    files_.files["flows/a.heddle"] = "(import \"b.heddle\") 1";
    files_.files["flows/b.heddle"] = "(import \"c.heddle\") 1";
    files_.files["flows/c.heddle"] = "(import \"a.heddle\") 1";
    EXPECT_EQ(shown("(import \"a.heddle\")"),
              "SexpEvaluationError: import: files import each other in a circle: flows/a.heddle -> "
              "flows/b.heddle -> flows/c.heddle -> flows/a.heddle");
    files_.files["flows/me.heddle"] = "(import \"me.heddle\")";
    EXPECT_EQ(
        shown("(import \"me.heddle\")"),
        "SexpEvaluationError: import: files import each other in a circle: flows/me.heddle -> "
        "flows/me.heddle");
    // Two branches that would wait for each other for ever.
    files_.files["flows/x.heddle"] = "(sleep 0.01) (import \"y.heddle\") 1";
    files_.files["flows/y.heddle"] = "(sleep 0.01) (import \"x.heddle\") 1";
    EXPECT_EQ(shown("(parallel (import \"x.heddle\") (import \"y.heddle\"))").substr(0, 71),
              "SexpEvaluationError: import: files import each other in a circle: flows");
}

TEST_F(imports, errors_name_the_file) {
    EXPECT_EQ(shown("(import \"none.heddle\")"),
              "SexpEvaluationError: import: there is no file \"flows/none.heddle\"");
    files_.files["flows/bad.heddle"] = "(define x 1)\n(define y";
    result<lang::value> ended = error(heddle::errc::internal, "did not end");
    coro::spawn(loop_,
                await(session_->evaluate("flows/main.heddle", "(import \"bad.heddle\")"), &ended),
                [](std::exception_ptr thrown) { EXPECT_FALSE(thrown); });
    io_.restart();
    io_.run_for(std::chrono::seconds(10));
    ASSERT_FALSE(ended);
    const std::string text = session_->render(ended.error());
    EXPECT_NE(text.find("--> flows/bad.heddle:2:1"), std::string::npos) << text;
    EXPECT_NE(text.find("(flows/main.heddle:1:1)"), std::string::npos) << text;
}

TEST_F(imports, a_library_is_found_by_name) {
    EXPECT_EQ(shown("(import std/results) (procedure? content-or)"), "true");
    EXPECT_EQ(shown("(import 'std/results) (procedure? content-or)"), "true");
    EXPECT_EQ(shown("(import std/resluts)"),
              "SexpEvaluationError: import: there is no library 'std/resluts'");
    EXPECT_EQ(
        shown("(import lists)"),
        "SexpEvaluationError: import: expects the path of a file as a string, or std/NAME, not "
        "lists");
}

TEST_F(imports, a_sandbox_cannot_import) {
    files_.files["flows/lib.heddle"] = "1";
    EXPECT_EQ(shown("(sandbox () (import \"lib.heddle\"))"),
              "PermissionError: import: a sandbox cannot import");
    EXPECT_EQ(shown("(sandbox () (eval '(import std/results)))"),
              "PermissionError: import: a sandbox cannot import");
    EXPECT_EQ(shown("(define (sneak) (import \"lib.heddle\")) (sandbox () (sneak))"),
              "PermissionError: the sandbox does not allow '%import-begin'");
}

TEST_F(imports, a_file_whose_import_was_cut_can_be_imported_again) {
    // Large enough that the answer comes after the deadline of the branch that asked.
    files_.files["flows/big.heddle"] = "; " + std::string(100'000, 'x') + "\n'read";
    for (const char* cut :
         {"(timeout 0.0021 (import \"big.heddle\") 'late)",
          "(race (import \"big.heddle\") (progn (sleep 0.002) (reverse (range 100000)) 1))",
          "(parallel (import \"big.heddle\") (progn (sleep 0.002) (error \"sibling\")))",
          "(let ((f (spawn (import \"big.heddle\")))) (sleep 0.002) (cancel f))"}) {
        EXPECT_EQ(shown("(try " + std::string(cut) + " (catch (e) 1)) (import \"big.heddle\")"),
                  "read")
            << cut;
    }
}

TEST_F(imports, a_cut_import_leaves_no_circle_behind) {
    files_.files["flows/a.heddle"] = "(import \"b.heddle\")";
    files_.files["flows/b.heddle"] = "(sleep 0.05) (if again (import \"c.heddle\") 'b)";
    files_.files["flows/c.heddle"] = "(import \"a.heddle\")";
    EXPECT_EQ(shown("(define again false) (timeout 0.02 (import \"a.heddle\") 'late) (import "
                    "\"c.heddle\")"),
              "b");
}

} // namespace
} // namespace heddle::host
