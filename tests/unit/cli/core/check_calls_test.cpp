// What a check finds in calls of tasks and tools, with all names that the program knows.
#include "offline_session.hpp"

#include <heddle/lang/check.hpp>
#include <heddle/tasks/tools/definition_check.hpp>

#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

using lines = std::vector<std::string>;

/// The problems of a program as lines "code line:column message".
lines problems(const std::string& text) {
    auto harness = offline_session::create();
    EXPECT_TRUE(harness);
    lang::realm& realm = (*harness)->realm();
    const std::uint32_t position = realm.sources().add("p", text);
    const tasks::definition_check definitions;
    lang::check_options options;
    options.tasks = &definitions;
    lines result;
    for (const lang::problem& each : lang::check_program(realm, text, position, options)) {
        const source_location place = realm.sources().locate(each.span);
        result.push_back(std::string(each.code) + " " + std::to_string(place.line) + ":" +
                         std::to_string(place.column) + " " + each.message);
    }
    return result;
}

const std::string greet = "(defatom greet (params who) (instructions \"{{who}}\"))\n";
const std::string twice = "(deftool twice (params (n integer)) (description \"d\") (* 2 n))\n";

TEST(check_calls, tools_of_the_host_need_their_clauses) {
    EXPECT_EQ(problems("(system:run_script)"),
              (lines{"task-inputs 1:1 the tool 'system:run_script' needs 'command'"}));
    EXPECT_EQ(problems("(get_context (limit 3))"),
              (lines{"task-inputs 1:1 the tool 'get_context' needs 'query'"}));
    EXPECT_EQ(problems("(define (f p) (write-file (path p)))").size(), 1U);
    EXPECT_EQ(problems("(call-atomic-task 'system:run_script (timeout 5))").size(), 1U);
    EXPECT_EQ(problems("(define (f x) (list (system:run_script (command x)) (get-context (query x))"
                       "(system:list_directory) (match-tasks (text x))))"),
              lines{});
}

TEST(check_calls, a_task_that_is_named_in_quotes_is_there) {
    EXPECT_EQ(problems(greet + "(call-atomic-task 'gret (who 1))"),
              (lines{"unknown-name 2:19 there is no task or tool 'gret'"}));
    for (const char* good :
         {"(call-atomic-task 'greet (who 1))", "(call-atomic-task \"greet\" (who 1))",
          "(define (f t) (call-atomic-task t (who 1)))",
          "(try (call-atomic-task 'gret (who 1)) (catch (e) 1))",
          "(define (f) (defatom inner (params q) (instructions \"{{q}}\")))"
          " (define (g) (call-atomic-task 'inner (q 1)))"})
        EXPECT_EQ(problems(greet + good), lines{}) << good;
}

TEST(check_calls, effects_that_a_sandbox_does_not_allow) {
    EXPECT_EQ(problems("(sandbox ((allow ())) (read-file \"a\"))"),
              (lines{"permission 1:23 the sandbox does not allow 'read-file'"}));
    EXPECT_EQ(problems("(sandbox ((allow (read-fil))) 1)"),
              (lines{"unknown-name 1:19 the sandbox allows 'read-fil', which nothing defines"}));
    for (const char* good :
         {"(sandbox ((allow (read-file))) (read-file \"a\"))", "(sandbox ((steps 100)) (sleep 0))",
          "(try (sandbox ((allow ())) (read-file \"a\")) (catch (e) 1))",
          "(sandbox ((allow ())) (let ((read-file2 (lambda (x) x))) (read-file2 1)))"})
        EXPECT_EQ(problems(good), lines{}) << good;
}

TEST(check_calls, effects_that_return_nil) {
    EXPECT_EQ(problems("(timeout (sleep 1) 3)").size(), 1U);
    EXPECT_EQ(problems("(define (f xs) (map (sleep 1) xs))"),
              (lines{"wrong-type 1:21 map: 'f' must be a function, not nil"}));
    EXPECT_EQ(problems("(define (f xs) (list (timeout 1 (sleep 2)) (map sleep xs)))"), lines{});
}

TEST(check_calls, reserved_clauses_have_types_and_ranges) {
    EXPECT_EQ(problems(greet + "(greet (who 1) (files \"a\"))"),
              (lines{"wrong-type 2:23 task greet: files must be a list of strings, not \"a\""}));
    for (const char* wrong :
         {"(files '(1))", "(model 4)", "(provider 'p)", "(temperature 90)", "(max-tokens 0)",
          "(timeout \"30s\")", "(timeout 0)", "(retries -1)", "(context \"x\")",
          "(context '((inherit_context sometimes)))", "(history_config '((turns 1)))",
          "(files (string-append \"a\" \"b\"))", "(model (list \"a\"))"})
        EXPECT_EQ(problems(greet + "(greet (who 1) " + wrong + ")").size(), 1U) << wrong;
    EXPECT_EQ(problems(greet + "(define (f x) (greet (who 1) (files (list \"a\" x)) (model x) "
                               "(temperature 0.5) (max-tokens 10) (timeout 5) (retries 2) "
                               "(context '((inherit_context none)))))"),
              lines{});
    EXPECT_EQ(
        problems("(defatom t (params files) (instructions \"{{files}}\"))\n(t (files \"a\"))"),
        lines{})
        << "an input of that name takes anything";
    EXPECT_EQ(problems(greet + "(try (greet (who 1) (files \"a\")) (catch (e) 1))"), lines{});
}

TEST(check_calls, inputs_of_tools_have_the_types_of_their_schema) {
    const auto found = problems(twice + "(twice (n \"a\"))");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0],
              "wrong-type 2:11 twice: its input does not match the schema: 'n' must be an "
              "integer, not the string \"a\"");
    EXPECT_EQ(problems(greet + twice + "(twice (n (greet (who 1))))").size(), 1U);
    EXPECT_EQ(problems("(system:run_script (command 5))"),
              (lines{"wrong-type 1:29 system:run_script: command must be a command line or a list "
                     "of strings, not 5"}));
    EXPECT_EQ(problems("(get_context (query \"q\") (limit 0))").size(), 1U);
    EXPECT_EQ(problems("(match-tasks (text \"q\") (threshold 2))").size(), 1U);
    EXPECT_EQ(problems(twice + "(define (f x) (list (twice (n 5)) (twice (n x))\n"
                               "(system:run_script (command '(\"ls\")) (cwd nil) (timeout 1.5))\n"
                               "(get_context (query \"q\") (inputs '((a 1))) "
                               "(matching_strategy 'content))))"),
              lines{});
}

TEST(check_calls, placeholders_in_commands_are_not_filled) {
    const auto found = problems("(system:run_script (command \"ls {{dir}}\"))");
    EXPECT_EQ(found, (lines{"placeholder-in-command 1:29 {{dir}} in a command is not replaced"}));
    EXPECT_EQ(
        problems("(system:run_script (command \"docker ps --format '{{.Names}} {{json .}}'\"))"),
        lines{});
}

TEST(check_calls, variables_that_hide_tasks) {
    EXPECT_EQ(problems(greet + "(let ((greet 5)) (+ 1 greet))"), lines{});
    EXPECT_EQ(problems(greet + "(define (f x) (let ((greet (greet (who x)))) (content greet)))"),
              lines{});
    EXPECT_EQ(problems(greet + "(define (f greet) (greet \"x\")) (f greet)"), lines{})
        << "a task may be handed on under its name";
    const std::string reported =
        "'greet' is the variable of line 2 here, not the task of that name";
    const auto has = [&](const std::string& text) {
        const auto found = problems(greet + text);
        return std::any_of(found.begin(), found.end(), [&](const std::string& each) {
            return each.find(reported) != std::string::npos;
        });
    };
    EXPECT_TRUE(has("(define (f x) (let ((greet (list x))) (greet (who 1))))"));
    EXPECT_TRUE(has("(define (f x) (let ((greet (greet (who x)))) (greet (who 1))))"));
    EXPECT_TRUE(has("(map (lambda (greet) (greet (who greet))) '(1 2))"));
    EXPECT_TRUE(has("(define (f x) (let loop ((greet x)) (greet x)))"));
    EXPECT_FALSE(has("(define (f x) (let ((greet (lambda (y) y))) (greet x)))"));
}

TEST(check_calls, a_variable_with_the_name_of_a_clause) {
    EXPECT_EQ(problems("(define (f path text) (write-file (path path) (text text)))"),
              (lines{"misread-clause 1:35 this calls the local variable 'path' with itself: the "
                     "arguments are not the clauses of the tool 'write-file'"}));
    EXPECT_EQ(problems("(define (f path text) (write-file (path path) (content text)))"), lines{})
        << "read as the clauses that they are";
    EXPECT_EQ(problems("(define (path x) x) (define (f x) (read-file (path x)))"), lines{});
    EXPECT_EQ(problems("(define (f path x) (read-file (path x)))"), lines{});
}

TEST(check_calls, phases_are_callables_or_their_names) {
    const auto loop = [](const std::string& executor, const std::string& validator) {
        return problems(twice + "(define (both x i) x)(define name 'twice)" +
                        "(iterative-loop (max-iterations 1) (initial-input 1) (test-command "
                        "\"t\")\n(executor " +
                        executor + ")\n(validator " + validator +
                        ")\n(controller (lambda (r v x i) (list 'stop v))))");
    };
    const std::string any = "(lambda (x i) x)";
    EXPECT_EQ(loop(any, any), lines{});
    EXPECT_EQ(loop("'both", "'both"), lines{});
    EXPECT_EQ(loop("'twice", any).size(), 1U) << "it takes one input";
    EXPECT_EQ(loop("name", any),
              (lines{"wrong-type 3:1 a phase must be something to call, not the symbol twice"}));
    EXPECT_EQ(loop("\"twice\"", any).size(), 1U);
    EXPECT_EQ(loop("twice", any).size(), 1U) << "it takes one input";
    EXPECT_EQ(loop(any, "system:run_script").size(), 1U) << "the number is not an input for it";
    EXPECT_EQ(loop(any, "get_context").size(), 1U);
}

TEST(check_calls, a_future_is_not_its_value) {
    EXPECT_EQ(problems(greet + "(define (f x) (content (spawn (greet (who x)))))"),
              (lines{"wrong-type 2:24 content: argument 1 must be a task result, not a future"}));
    EXPECT_EQ(problems(greet + "(define (f x) (content (await (spawn (greet (who x))))))"),
              lines{});
}

TEST(check_calls, json_of_tasks_that_have_none) {
    const std::string parsed =
        "the task 'greet' has no JSON output: its result has no parsed content";
    EXPECT_EQ(problems(greet + "(define (f x) (parsed (greet (who x))))"),
              (lines{"no-json 2:15 " + parsed}));
    EXPECT_EQ(problems(greet + "(define (f x) (let ((r (greet x))) (if (ok? r) (parsed r) 1)))"),
              (lines{"no-json 2:48 " + parsed}));
    EXPECT_EQ(problems(greet + "(get (call-atomic-task 'greet (who 1)) 'parsedContent)"),
              (lines{"no-json 2:1 " + parsed}));
    EXPECT_EQ(problems(greet + "(get-field (greet (who 1)) \"name\")"),
              (lines{"no-json 2:1 the task 'greet' has no JSON output: its result has no 'name'"}));
}

TEST(check_calls, json_of_tasks_that_may_have_some) {
    const std::string head = "(defatom ask (params q) (instructions \"{{q}}\") ";
    for (const char* clause : {"(output_format ((type \"json\")))", "(returns \"object\")"})
        EXPECT_EQ(problems(head + clause + ") (parsed (ask (q 1)))"), lines{}) << clause;
    for (const char* good :
         {"(get-field (greet (who 1)) \"content\")", "(get (greet (who 1)) 'parsedContent 5)",
          "(define (f greet) (parsed (greet 1)))", "(define (f r) (parsed r)) (f (greet (who 1)))",
          "(let ((r (greet (who 1)))) (set! r 5) (parsed r))",
          "(defmacro read-it (call) `(let ((r ,call)) (list r (parsed r)))) "
          "(read-it (greet (who 1)))",
          "(defmacro read-it (call) `(parsed ,call)) (read-it (greet (who 1)))"})
        EXPECT_EQ(problems(greet + good), lines{}) << good;
    for (const char* replaced : {"(set! greet ask) (parsed (greet (who 1)))",
                                 "(define (parsed r) r) (parsed (greet 1))"}) {
        for (const std::string& each :
             problems(greet + head + "(returns \"object\"))\n" + replaced))
            EXPECT_FALSE(each.starts_with("no-json")) << each << "\n" << replaced;
    }
}

} // namespace
} // namespace heddle::cli
