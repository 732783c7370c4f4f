// Questions of a workflow on a real terminal, and where there is none.
#include "child_process.hpp"
#include "scratch_directory.hpp"
#include "terminal_child.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ask_user_on_terminal : public testing::Test {
protected:
    [[nodiscard]] std::vector<std::string> evaluating(const std::string& text) const {
        return heddle_command({"eval", text});
    }
    [[nodiscard]] std::map<std::string, std::string> variables() const {
        return {{"TERM", "xterm"}, {"HOME", scratch.path()}, {"NO_COLOR", "1"}};
    }
    scratch_directory scratch;
};

TEST_F(ask_user_on_terminal, reads_one_line) {
    terminal_child child(evaluating("(list (system:ask_user (question (string-append \"Who? \" "
                                    "(json-parse \"\\\"\\\\u001b[2J\\\"\")))))"),
                         variables());
    ASSERT_TRUE(child.expect("> "));
    EXPECT_THAT(child.seen(), HasSubstr("[question] Who?"));
    EXPECT_THAT(child.seen(), Not(HasSubstr("\x1b[2J"))) << "its text may come from a model";
    child.type("Ada\r");
    ASSERT_TRUE(child.expect("(\"Ada\")"));
    EXPECT_EQ(child.wait(), 0);
}

TEST_F(ask_user_on_terminal, asks_again_for_a_choice_and_one_after_the_other) {
    terminal_child child(
        evaluating("(map (lambda (i) (system:ask_user (question i) (choices '(\"red\" \"blue\")) "
                   "(default \"red\"))) '(\"first\" \"second\" \"third\"))"),
        variables());
    ASSERT_TRUE(child.expect("[red] > "));
    EXPECT_THAT(child.seen(), HasSubstr("2. blue"));
    EXPECT_THAT(child.seen(), Not(HasSubstr("second")));
    child.type("green\r");
    ASSERT_TRUE(child.expect("one of the choices"));
    child.type("2\r");
    ASSERT_TRUE(child.expect("second"));
    child.type("\r");
    ASSERT_TRUE(child.expect("third"));
    child.type("blue\r");
    ASSERT_TRUE(child.expect("(\"blue\" \"red\" \"blue\")"));
    EXPECT_EQ(child.wait(), 0);
}

TEST_F(ask_user_on_terminal, ends_with_ctrl_c_and_with_its_time) {
    terminal_child child(evaluating("(system:ask_user (question \"Who?\"))"), variables());
    ASSERT_TRUE(child.expect("> "));
    child.type("\x03");
    EXPECT_EQ(child.wait(), 130);
    terminal_child slow(
        evaluating("(timeout 0.2 (system:ask_user (question \"Who?\")) \"nobody\")"), variables());
    ASSERT_TRUE(slow.expect("nobody"));
    EXPECT_EQ(slow.wait(), 0);
}

TEST(ask_user_without_terminal, is_refused) {
    const auto ended = run_heddle({"eval", "(system:ask_user (question \"Who?\"))"});
    EXPECT_NE(ended.code, 0);
    EXPECT_THAT(ended.err, HasSubstr("nobody can answer here"));
}

} // namespace
} // namespace heddle::cli_test
