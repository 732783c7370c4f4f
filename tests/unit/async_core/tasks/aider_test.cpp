#include "running_programs.hpp"
#include "terminal_program.hpp"
#include "tools_testing.hpp"

#include <heddle/lang/text.hpp>
#include <heddle/tasks/run/aider.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace heddle::tasks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::tool_harness;

/// A small stand-in: writes down what it was called with and does what AIDER_DO asks for.
constexpr auto stand_in = R"(#!/bin/sh
printf '%s\n' "$@" > arguments
case "$AIDER_DO" in
fail) echo "no key" >&2; exit 2 ;;
wait) echo $$ > pid; sleep 60 & wait ;;
read) cat > input ;;
*) echo "Applied edit to a.txt"; echo "Applied edit to b.txt"; echo "Applied edit to a.txt" ;;
esac
)";

class aider : public ::testing::Test {
protected:
    aider() {
        w.put("bin-aider", stand_in, 0755);
        set("./bin-aider");
    }
    ~aider() override { ::unsetenv("AIDER_DO"); }

    /// Another session, in which Aider is `program`.
    void set(const std::string& program, bool allowed = true) {
        aider_options options;
        options.command = {program};
        options.hint = "say please";
        ports::process_port* processes = allowed ? w.processes.get() : nullptr;
        automatic.emplace(processes, aider_mode::automatic, options);
        interactive.emplace(processes, aider_mode::interactive, options);
        task_system_parts tasks;
        tasks.models = &w.models;
        tasks.executors.emplace(aider_subtype(aider_mode::automatic), &*automatic);
        tasks.executors.emplace(aider_subtype(aider_mode::interactive), &*interactive);
        host::engine_parts parts;
        parts.log = &w.log;
        parts.operators = operators(std::move(tasks));
        w.session.reset();
        w.engine.emplace(w.runner.loop, std::move(parts));
        w.session = w.engine->new_session().value();
    }

    tool_harness w;
    std::optional<aider_executor> automatic;
    std::optional<aider_executor> interactive;
};

constexpr auto edit =
    "(defatom edit (params what) (subtype \"aider_automatic\")"
    " (instructions \"Do {{what}}\"))";

TEST_F(aider, automatic_hands_over_prompt_and_files) {
    EXPECT_EQ(w.json(std::string(edit) +
                     "(bind r (edit (what \"it\") (files (list \"a.txt\" \"-b.txt\"))))"
                     "(list (get-field r 'status) (get-in r '(notes exit_code))"
                     " (get-in r '(notes files_changed)) (get-in r '(notes files))"
                     " (get-in r '(notes success)))"),
              R"(["COMPLETE",0,["a.txt","b.txt"],["a.txt","-b.txt"],true])");
    const std::string arguments = w.get("arguments");
    EXPECT_THAT(arguments, HasSubstr("--yes-always\n"));
    EXPECT_THAT(arguments, HasSubstr("--no-auto-commits\n"));
    EXPECT_THAT(arguments, HasSubstr("--message\nDo it\na.txt\n./-b.txt\n"));
    EXPECT_THAT(w.json("(content (edit \"it\"))"), HasSubstr("Applied edit to b.txt"));
}

TEST_F(aider, model_of_the_task_is_passed_on) {
    w.json(
        "(defatom edit (params) (subtype \"aider_automatic\") (model \"some/model\")"
        " (instructions \"x\")) (edit)");
    EXPECT_THAT(w.get("arguments"), HasSubstr("--model\nsome/model\n"));
}

TEST_F(aider, long_prompt_goes_through_standard_input) {
    ::setenv("AIDER_DO", "read", 1);
    w.session->define("long", lang::make_string(w.session->memory(), std::string(300'000, 'x')));
    EXPECT_EQ(w.json(std::string(edit) + "(get-field (edit (what long)) 'status)"),
              R"("COMPLETE")");
    EXPECT_THAT(w.get("arguments"), HasSubstr("--message-file\n/dev/stdin\n"));
    EXPECT_EQ(w.get("input").size(), 300'003U);
}

TEST_F(aider, failure_is_data) {
    ::setenv("AIDER_DO", "fail", 1);
    EXPECT_EQ(
        w.json(std::string(edit) + "(bind r (edit \"it\")) (list (get-field r 'status)"
                                   " (get-in r '(notes error reason)) (get-in r '(notes exit_code))"
                                   " (get-in r '(notes stderr)))"),
        R"(["FAILED","tool_execution_error",2,"no key\n"])");
}

TEST_F(aider, absent_program_is_a_dependency_error_that_names_what_to_install) {
    for (const char* program : {"heddle-has-no-aider", "./none"}) {
        set(program);
        const std::string reported = w.json(std::string(edit) +
                                            "(bind r (edit \"it\")) (list (get-in r '(notes error "
                                            "reason)) (get-in r '(notes error message)))");
        EXPECT_THAT(reported, HasSubstr("dependency_error")) << program;
        EXPECT_THAT(reported, HasSubstr("pip install aider-install")) << program;
    }
    EXPECT_THAT(w.json("(defatom talk (params) (subtype \"aider_interactive\")"
                       " (instructions \"x\")) (get-in (talk) '(notes error reason))"),
                HasSubstr("dependency_error"));
}

TEST_F(aider, without_permission_is_refused) {
    set("./bin-aider", false);
    const auto ended = w.run(std::string(edit) + "(edit \"it\")");
    ASSERT_FALSE(ended);
    EXPECT_EQ(lang::error_kind_name(ended.error()), "PermissionError");
    EXPECT_EQ(ended.error().info().hint, "say please");
    EXPECT_EQ(w.get("arguments"), "");
}

TEST_F(aider, cancelled_task_ends_the_group) {
    ::setenv("AIDER_DO", "wait", 1);
    EXPECT_THAT(w.json(std::string(edit) + "(timeout 0.3 (edit \"it\"))"),
                HasSubstr("TimeoutError"));
    EXPECT_FALSE(heddle::testing::programs_are_running());
    EXPECT_EQ(w.json(std::string(edit) +
                     "(get-in (edit (what \"it\") (timeout 0.3)) '(notes error reason))"),
              R"("execution_timeout")");
    EXPECT_FALSE(heddle::testing::programs_are_running());
}

TEST_F(aider, output_is_read_as_the_task_specifies) {
    w.put("bin-aider", "#!/bin/sh\necho '{\"done\": true}'\n", 0755);
    EXPECT_EQ(w.json("(defatom edit (params) (subtype \"aider_automatic\") (instructions \"x\")"
                     " (output_format ((type \"json\")))) (parsed (edit))"),
              R"({"done":true})");
}

/// The program around a session that lends its terminal.
int talk_on_a_terminal() {
    tool_harness w;
    w.put("bin-aider", "#!/bin/sh\nread line\necho \"heard $line in $1\"\nexit 0\n", 0755);
    aider_options options;
    options.command = {"./bin-aider"};
    aider_executor interactive(w.processes.get(), aider_mode::interactive, options);
    task_system_parts tasks;
    tasks.executors.emplace(aider_subtype(aider_mode::interactive), &interactive);
    host::engine_parts parts;
    parts.operators = operators(std::move(tasks));
    host::engine engine(w.runner.loop, std::move(parts));
    auto session = engine.new_session().value();
    const auto ended =
        w.runner.run(session->evaluate("test",
                                       "(defatom talk (params) (subtype \"aider_interactive\")"
                                       " (instructions \"the task at hand\"))"
                                       "(get-field (talk (files (list \"a.txt\"))) 'status)"));
    if (!ended) return 10;
    return lang::value_to_json(*ended).value() == R"("COMPLETE")" ? 0 : 11;
}

TEST_F(aider, interactive_has_the_terminal_and_shows_the_prompt) {
    const auto ended =
        heddle::testing::run_on_terminal(talk_on_a_terminal, "hello\n", std::chrono::seconds(20));
    EXPECT_EQ(ended.code, 0) << ended.shown;
    EXPECT_THAT(ended.shown, HasSubstr("the task at hand"));
    EXPECT_THAT(ended.shown, HasSubstr("heard hello in a.txt"));
}

TEST(edited_files, are_read_off_the_output) {
    EXPECT_THAT(edited_files("Applied edit to x/y.cpp\r\nnothing\nApplied edit to z\nApplied edit "
                             "to x/y.cpp"),
                ElementsAre("x/y.cpp", "z"));
    EXPECT_THAT(edited_files(""), IsEmpty());
    EXPECT_THAT(edited_files("Applied edit to \n I Applied edit to x"), IsEmpty());
}

} // namespace
} // namespace heddle::tasks
