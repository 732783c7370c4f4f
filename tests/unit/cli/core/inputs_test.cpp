#include "inputs.hpp"

#include <heddle/coro/spawn.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/printer.hpp>

#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

coro::task<void> evaluate(host::session* harness, std::string text, result<lang::value>* ended) {
    result<lang::value> value = co_await harness->evaluate("test", std::move(text));
    *ended = std::move(value);
}

class inputs : public testing::Test {
protected:
    lang::value function(const std::string& text) {
        result<lang::value> ended = lang::value();
        coro::spawn(loop, evaluate(harness.get(), text, &ended), [](std::exception_ptr) {});
        context.restart();
        context.run();
        return ended.value();
    }
    std::string bound(const std::string& callee, const std::vector<std::string>& pairs,
                      const std::optional<std::string>& json = {}) {
        auto given = read_inputs(harness->memory(), pairs, json);
        if (!given) return given.error().message();
        auto arguments = bind_inputs(function(callee), *given);
        if (!arguments) return arguments.error().message();
        std::string text;
        for (const lang::value& one : *arguments) text += lang::print_value(one) + " ";
        return text;
    }

    boost::asio::io_context context;
    coro::event_loop loop{context};
    host::engine engine{loop, {}};
    std::unique_ptr<host::session> harness = engine.new_session().value();
};

TEST_F(inputs, come_in_the_order_of_the_parameters) {
    EXPECT_EQ(bound("(lambda (a b) 1)", {"b=2", "a=1"}), "\"1\" \"2\" ");
}

TEST_F(inputs, keep_every_equals_sign_after_the_first) {
    EXPECT_EQ(bound("(lambda (a) 1)", {"a=x=y:=z"}), "\"x=y:=z\" ");
}

TEST_F(inputs, of_json_are_values) {
    EXPECT_EQ(bound("(lambda (a b) 1)", {"a:={\"k\": [1, null]}", "b:=-2.5"}),
              "(dict \"k\" (1 nil)) -2.5 ");
}

TEST_F(inputs, left_out_before_one_that_is_given_are_nil) {
    EXPECT_EQ(bound("(lambda (a &optional b c d) 1)", {"a=1", "c=3"}), "\"1\" nil \"3\" ");
}

TEST_F(inputs, of_a_rest_parameter_are_a_list) {
    EXPECT_EQ(bound("(lambda (a . more) 1)", {"a=1", "more:=[2, 3]"}), "\"1\" 2 3 ");
    EXPECT_EQ(bound("(lambda (a . more) 1)", {"a=1"}), "\"1\" ");
    EXPECT_EQ(bound("(lambda (a . more) 1)", {"a=1", "more=2"}), "main: more must be a list");
}

TEST_F(inputs, that_are_missing_or_unknown_are_named_together) {
    EXPECT_EQ(bound("(lambda (a b) 1)", {"c=1", "d=2"}),
              "main needs a, b; main has no parameter c, d");
}

TEST_F(inputs, twice_or_malformed_are_refused) {
    EXPECT_EQ(bound("(lambda (a) 1)", {"a=1", "a=2"}), "--input a: is given twice");
    EXPECT_EQ(bound("(lambda (a) 1)", {"a"}), "--input a: is not NAME=TEXT or NAME:=JSON");
    EXPECT_EQ(bound("(lambda (a) 1)", {":=1"}), "--input :=1: is not NAME=TEXT or NAME:=JSON");
    EXPECT_EQ(bound("(lambda (a) 1)", {}, "[1]"), "--input-json: must contain a JSON object");
    EXPECT_EQ(bound("(lambda (a) 1)", {}, "\n{\"a\": 1}\n{\"a\": 2}\n"),
              "--input-json: contains several JSON documents, one per line");
    EXPECT_NE(bound("(lambda (a) 1)", {}, "{\"a\": 1\n}}").find("--input-json: line 2"),
              std::string::npos);
    EXPECT_NE(bound("(lambda (a) 1)", {"a:={"}).find("--input a:={: "), std::string::npos);
}

TEST_F(inputs, on_the_command_line_win_over_the_file) {
    EXPECT_EQ(bound("(lambda (a b) 1)", {"a=x"}, R"({"a": 1, "b": 2})"), "\"x\" 2 ");
}

} // namespace
} // namespace heddle::cli
