#include "running_programs.hpp"
#include "tools_testing.hpp"

#include "tasks/tools/process_result_value.hpp"

#include <heddle/coro/wait_point.hpp>
#include <heddle/lang/map.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace heddle::tasks {
namespace {

using ::testing::HasSubstr;
using testing::tool_harness;

TEST(run_script, returns_a_result_with_notes) {
    tool_harness w;
    EXPECT_EQ(w.json("(bind r (system:run_script (command \"echo out; echo err >&2\")))"
                     "(list (get-field r 'status) (content r) (ok? r) (get-in r '(notes stdout))"
                     "  (get-in r '(notes stderr)) (get-in r '(notes exit_code))"
                     "  (get-in r '(notes success)) (has-key? (notes r) 'error))"),
              R"(["COMPLETE","out\n",true,"out\n","err\n",0,true,false])");
    EXPECT_EQ(w.json("(content (system:execute_shell_command (command \"echo $((6 * 7))\")))"),
              R"("42\n")");
}

// Output that is not UTF-8 was converted in one go: 0.5 s for 16 MB.
TEST(run_script, output_becomes_a_value_in_turns) {
    loopback::runner on;
    lang::heap_owner memory(lang::heap::create());
    ports::process_result ended;
    ended.out = ended.err = std::string(1'000'000, '\xFF');
    bool is_over = false;
    int turns = 0;
    coro::spawn(
        on.loop,
        [](coro::event_loop* loop, const bool* over, int* count) -> coro::task<void> {
            for (; !*over; ++*count) co_await coro::yield_now(*loop);
        }(&on.loop, &is_over, &turns),
        [](std::exception_ptr) {});
    const result<lang::value> notes =
        on.run(process_notes_in_turns(*memory, std::move(ended), on.context(), "p"));
    is_over = true;
    ASSERT_TRUE(notes);
    EXPECT_EQ(lang::map_find(*notes, "stdout")->length(), 3'000'000U);
    EXPECT_GT(turns, 16);
    on.turn();

    coro::cancel_source stop;
    stop.request(cancel_reason::user);
    ports::process_result long_one;
    long_one.out = std::string(1'000'000, 'a');
    const result<lang::value> none =
        on.run(process_notes_in_turns(*memory, std::move(long_one), on.context(&stop), "p"));
    ASSERT_FALSE(none);
    EXPECT_TRUE(none.error().is_cancelled());
}

TEST(run_script, without_a_clause_names_those_that_there_are) {
    tool_harness w;
    const auto ended = w.run("(system:run_script \"echo hi\")");
    ASSERT_FALSE(ended);
    EXPECT_THAT(ended.error().info().hint, HasSubstr("write (system:run_script (command …)"));
}

TEST(run_script, list_runs_without_a_shell) {
    tool_harness w;
    EXPECT_EQ(
        w.json(
            "(content (system:run_script (command (list \"printf\" \"%s|\" \"$HOME\" \"a b\"))))"),
        R"("$HOME|a b|")");
}

TEST(run_script, takes_input_directory_and_variables) {
    tool_harness w;
    EXPECT_EQ(w.json("(content (system:run_script (command \"cat; pwd | sed 's|.*/||'; echo $WHO\")"
                     " (input \"given\\n\") (cwd \"sub\") (env (dict \"WHO\" \"me\"))))"),
              R"("given\nsub\nme\n")");
}

TEST(run_script, failure_is_data) {
    tool_harness w;
    EXPECT_EQ(w.json("(bind r (system:run_script (command \"echo half; exit 3\")))"
                     "(list (get-field r 'status) (ok? r) (get-in r '(notes exit_code))"
                     "  (get-in r '(notes stdout)) (get-in r '(notes success))"
                     "  (get-in r '(notes error reason)) (get-in r '(notes error message)))"),
              R"(["FAILED",false,3,"half\n",false,"tool_execution_error",)"
              R"("the command exited with code 3"])");
    EXPECT_EQ(w.json("(content (system:run_script (command \"exit 3\")))"),
              "TaskError: content: the result is FAILED (tool_execution_error): the command exited "
              "with code 3");
    EXPECT_THAT(w.json("(get-in (system:run_script (command \"kill -KILL $$\"))"
                       " '(notes error message))"),
                HasSubstr("ended by signal 9"));
    EXPECT_THAT(w.json("(with ((on-failure 'raise)) (system:run_script (command \"exit 3\")))"),
                HasSubstr("TaskError: the command exited with code 3"));
}

TEST(run_script, program_that_is_not_there_is_data) {
    tool_harness w;
    w.put("locked", "#!/bin/sh\n", 0644);
    const std::string reported = w.json(
        "(map (lambda (name) (let ((r (system:run_script (command (list name)))))"
        "  (list (get-field r 'status) (get-in r '(notes exit_code)))))"
        " (list \"heddle-no-such-program\" \"./locked\"))");
    EXPECT_EQ(reported, R"([["FAILED",127],["FAILED",126]])");
}

TEST(run_script, timeout_ends_it_and_keeps_what_was_written) {
    tool_harness w;
    EXPECT_EQ(
        w.json("(bind r (system:run_script (command \"echo begun; sleep 60\") (timeout 0.3)))"
               "(list (get-field r 'status) (get-in r '(notes timed_out))"
               "  (get-in r '(notes stdout)) (get-in r '(notes error reason))"
               "  (get-in r '(notes error message)))"),
        R"(["FAILED",true,"begun\n","execution_timeout","the command took longer than 0.3 s"])");
}

TEST(run_script, output_is_capped_with_a_note) {
    tool_harness w;
    EXPECT_EQ(w.json("(bind r (system:run_script (command \"printf 0123456789\") (max_output 4)))"
                     "(list (content r) (get-in r '(notes warnings)))"),
              R"(["0123",["stdout was longer than its limit: the last 6 bytes are left out"]])");
}

TEST(run_script, the_cap_splits_no_character) {
    tool_harness w;
    EXPECT_EQ(w.json("(bind r (system:run_script (command \"printf 'ab\xF0\x9F\xA7\xB5z'\")"
                     "  (max_output 5)))"
                     "(list (content r) (get-in r '(notes warnings)))"),
              R"(["ab",["stdout was longer than its limit: the last 5 bytes are left out"]])");
}

TEST(run_script, bytes_that_are_no_text_are_replaced) {
    tool_harness w;
    EXPECT_EQ(
        w.json("(content (system:run_script (command \"printf 'a\\\\377\\\\376b\\\\303'\")))"),
        "\"a\xEF\xBF\xBD\xEF\xBF\xBD"
        "b\xEF\xBF\xBD\"");
}

TEST(run_script, mistakes_of_the_workflow_raise) {
    tool_harness w;
    EXPECT_THAT(w.json("(system:run_script)"), HasSubstr("needs the clause command"));
    EXPECT_THAT(w.json("(system:run_script (command 7))"),
                HasSubstr("command must be a command line or a list of strings, not 7"));
    EXPECT_THAT(w.json("(system:run_script (command '()))"), HasSubstr("command must be"));
    EXPECT_THAT(w.json("(system:run_script (command '(1)))"), HasSubstr("command must be"));
    EXPECT_THAT(w.json("(system:run_script (command \"x\") (cwd \"..\"))"),
                HasSubstr("leads out of the workspace"));
    EXPECT_THAT(w.json("(system:run_script (command \"x\") (cwd \"/\"))"),
                HasSubstr("leads out of the workspace"));
    EXPECT_THAT(w.json("(system:run_script (command \"x\") (timeout 0))"), HasSubstr("timeout"));
    EXPECT_THAT(w.json("(system:run_script (command \"x\") (timeout 1e300))"),
                HasSubstr("timeout"));
    EXPECT_THAT(w.json("(system:run_script (command \"x\") (env (dict \"A=B\" \"c\")))"),
                HasSubstr("variable"));
    EXPECT_THAT(w.json("(system:run_script (command \"x\") (env (dict \"A\" 1)))"),
                HasSubstr("env must be"));
    EXPECT_THAT(w.json("(system:run_script (command \"x\") (max_output 99999999999))"),
                HasSubstr("max_output"));
    EXPECT_THAT(w.json("(system:run_script (command \"x\") (input 5))"), HasSubstr("input"));
    EXPECT_THAT(w.json("(system:run_script (command \"x\") (shell \"y\"))"),
                HasSubstr("no clause 'shell'"));
}

TEST(run_script, cancelled_workflow_ends_the_program) {
    tool_harness w;
    EXPECT_THAT(w.json("(timeout 0.2 (system:run_script (command \"sleep 60\")))"),
                HasSubstr("TimeoutError"));
    EXPECT_EQ(w.json("(race (system:run_script (command \"sleep 60\")) \"first\")"), "\"first\"");
    EXPECT_FALSE(heddle::testing::programs_are_running());
}

TEST(run_script, many_run_side_by_side) {
    tool_harness w;
    EXPECT_EQ(
        w.json("(reduce + 0 (map (lambda (n) (string->number (string-trim"
               " (content (system:run_script (command (list \"echo\" (number->string n))))))))"
               " (range 50)))"),
        "1225");
}

TEST(run_script, without_permission_is_refused_with_a_hint) {
    tool_harness w(false);
    const auto ended = w.run("(system:run_script (command \"touch made\"))");
    ASSERT_FALSE(ended);
    EXPECT_EQ(lang::error_kind_name(ended.error()), "PermissionError");
    EXPECT_EQ(ended.error().info().hint, "say please");
    EXPECT_FALSE(std::filesystem::exists(w.root / "made"));
}

TEST(run_script, sandbox_reaches_it_only_when_allowed) {
    tool_harness w;
    EXPECT_THAT(w.json("(sandbox () (system:run_script (command \"touch made\")))"),
                HasSubstr("PermissionError"));
    EXPECT_THAT(
        w.json("(bind f (lambda () (system:run_script (command \"touch made\"))))"
               "(sandbox () (eval (parse \"(system:run_script (command \\\"touch made\\\"))\")))"),
        HasSubstr("PermissionError"));
    EXPECT_FALSE(std::filesystem::exists(w.root / "made"));
    EXPECT_EQ(w.json("(sandbox ((allow (system:run_script)))"
                     " (content (system:run_script (command \"echo ok\"))))"),
              R"("ok\n")");
}

TEST(run_script, output_beyond_the_memory_of_the_run_is_a_limit) {
    tool_harness w;
    host::run_options options;
    options.memory_limit = 1024 * 1024;
    EXPECT_THAT(w.json("(system:run_script (command \"head -c 900000 /dev/zero\"))", options),
                HasSubstr("LimitError"));
}

TEST(file_tools, read_write_and_list) {
    tool_harness w;
    w.put("a.txt", "alpha");
    EXPECT_EQ(w.json("(write-file (path \"sub/b.txt\") (content \"beta\"))"), R"("sub/b.txt")");
    EXPECT_EQ(w.get("sub/b.txt"), "beta");
    EXPECT_EQ(w.json("(system:write_file (path \"c.txt\") (content \"\"))"), R"("c.txt")");
    EXPECT_EQ(w.json("(read-file (path \"a.txt\"))"), R"("alpha")");
    EXPECT_EQ(w.json("(system:list_directory)"), R"(["a.txt","c.txt","sub/"])");
    EXPECT_EQ(w.json("(system:list_directory (path \"sub\"))"), R"(["b.txt"])");
}

TEST(file_tools, builtins_of_the_same_names_stay) {
    tool_harness w;
    w.put("a.txt", "alpha");
    EXPECT_EQ(w.json("(read-file \"a.txt\")"), R"("alpha")");
    EXPECT_EQ(w.json("(write-file \"b.txt\" \"beta\")"), R"("b.txt")");
    EXPECT_EQ(w.json("(list-directory)"), R"(["a.txt","b.txt","sub/"])");
    EXPECT_EQ(w.json("(map read-file (list \"a.txt\" \"b.txt\"))"), R"(["alpha","beta"])");
    // A function that the program calls path is a function.
    EXPECT_EQ(w.json("(define (path name) (string-append name \".txt\")) (read-file (path \"a\"))"),
              R"("alpha")");
    EXPECT_EQ(
        w.json("(let ((path (lambda (n) (string-append n \".txt\")))) (read-file (path \"a\")))"),
        R"("alpha")");
    EXPECT_EQ(w.json("(read-file (string-append \"a\" \".txt\"))"), R"("alpha")");
}

TEST(file_tools, read_files_returns_one_text_and_notes_what_is_missing) {
    tool_harness w;
    w.put("a.txt", "alpha");
    w.put("b.txt", "beta\n");
    EXPECT_EQ(
        w.json("(bind r (system:read_files (file_paths (list \"a.txt\" \"none\" \"b.txt\"))))"
               "(list (content r) (get-in r '(notes files_read_count)) (get-in r '(notes files))"
               " (get-in r '(notes skipped_files)) (length (get-in r '(notes errors))))"),
        "[\"<file path=\\\"a.txt\\\">\\nalpha\\n</file>\\n<file path=\\\"b.txt\\\">\\nbeta\\n"
        "</file>\\n\",2,[\"a.txt\",\"b.txt\"],[\"none\"],1]");
    EXPECT_EQ(w.json("(get-field (system:read_files (file_paths (list \"none\"))) 'status)"),
              R"("FAILED")");
    EXPECT_EQ(w.json("(get-field (system:read_files (file_paths '())) 'status)"), R"("COMPLETE")");
    EXPECT_THAT(w.json("(system:read_files (file_paths \"a.txt\"))"), HasSubstr("file_paths"));
}

TEST(file_tools, stay_inside_the_workspace) {
    tool_harness w;
    std::filesystem::create_symlink("/etc", w.root / "link");
    for (const std::string path : {"../x", "/etc/passwd", "link/passwd", "sub/../../x"}) {
        SCOPED_TRACE(path);
        EXPECT_THAT(w.json("(read-file (path \"" + path + "\"))"),
                    HasSubstr("leads out of the workspace"));
        EXPECT_THAT(w.json("(write-file (path \"" + path + "\") (content \"x\"))"),
                    HasSubstr("leads out of the workspace"));
        EXPECT_EQ(w.json("(get-in (system:read_files (file_paths (list \"" + path +
                         "\"))) '(notes files_read_count))"),
                  "0");
    }
    EXPECT_THAT(w.json("(system:list_directory (path \"..\"))"), HasSubstr("leads out"));
    EXPECT_THAT(w.json("(sandbox () (system:list_directory))"), HasSubstr("PermissionError"));
}

TEST(file_tools, without_files_are_refused) {
    testing::harness w;
    EXPECT_THAT(
        w.json("(system:read_files (file_paths (list \"a\")))"),
        HasSubstr("PermissionError: system:read_files: this host does not give access to files"));
    EXPECT_THAT(w.json("(system:list_directory)"), HasSubstr("PermissionError"));
}

} // namespace
} // namespace heddle::tasks
