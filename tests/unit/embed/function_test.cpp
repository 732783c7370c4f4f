#include "function_harness.hpp"

#include <boost/asio/post.hpp>

#include <cmath>
#include <memory>
#include <vector>

namespace heddle {
namespace {

namespace asio = boost::asio;
using function_samples::customer;
using function_samples::query;
using testing::find_later;
using namespace std::chrono_literals;

class function : public testing::function_caller {};

int twice(int number) { return 2 * number; }

TEST_F(function, calls_plain_functions) {
    EXPECT_EQ(call_now(make_function("twice", "Doubles.", {"number"}, twice), {21}), "42");
    EXPECT_EQ(call_now(make_function("twice", "Doubles.", {"number"}, &twice), {21}), "42");
    EXPECT_EQ(call_now(make_function("now", "", [] { return "now"; }), {}), "\"now\"");
    int calls = 0;
    const auto count = make_function("count", "", {"by"}, [&](int by) mutable { calls += by; });
    EXPECT_EQ(call_now(count, {2}), "null");
    EXPECT_EQ(calls, 2);
    const auto reversed =
        make_function("reversed", "", {"text", "times"},
                      [](const std::string& text, std::optional<int> times) -> result<std::string> {
                          if (text.empty()) return error(errc::not_found, "no text");
                          std::string out;
                          for (int i = 0; i < times.value_or(1); ++i)
                              out.append(text.rbegin(), text.rend());
                          return out;
                      });
    EXPECT_EQ(call_now(reversed, {"ab", nullptr}), "\"ba\"");
    EXPECT_EQ(call_now(reversed, {"ab", 2}), "\"baba\"");
    EXPECT_EQ(call_now(reversed, {"", nullptr}), "no text");
    EXPECT_EQ(code(), errc::not_found);
}

TEST_F(function, hands_over_the_call) {
    const auto about = make_function("about", "", {"plus"}, [](const call& by, int plus) {
        return by.tag() + (by.deadline() && by.time_left() > 59min ? " +" : " -") +
               std::to_string(plus) + (by.cancelled() ? " cancelled" : "");
    });
    EXPECT_EQ(call_now(about, {3}), "\"request 7 +3\"");
    cancel_.request_stop();
    EXPECT_EQ(call_now(about, {3}), "\"request 7 +3 cancelled\"");
}

TEST_F(function, takes_the_members_of_a_described_struct_as_parameters) {
    const auto search = make_function("search", "Searches.", [](call, const query& by) {
        return by.text + ":" + std::to_string(by.limit.value_or(10));
    });
    ASSERT_TRUE(search.check().has_value());
    ASSERT_EQ(search.parameters.size(), 2U);
    EXPECT_EQ(search.parameters[0].name, "text");
    EXPECT_FALSE(search.parameters[0].optional);
    EXPECT_TRUE(search.parameters[1].optional);
    EXPECT_EQ(call_now(search, {"a", 3}), "\"a:3\"");
    EXPECT_EQ(call_now(search, {"a", nullptr}), "\"a:10\"");
    EXPECT_EQ(call_now(search, {"a", "3"}),
              "search: limit: expected an integer but found the string \"3\"");
}

TEST_F(function, awaits_coroutines) {
    const auto find = make_function("find", "", {"id"}, find_later);
    EXPECT_TRUE(find.completes_later);
    EXPECT_EQ(call_now(find, {7}), R"({"id":7,"name":"Ada"})");
    const auto refuse = make_function("refuse", "", [](call) -> asio::awaitable<result<int>> {
        co_return error(errc::not_found, "nothing here");
    });
    EXPECT_EQ(call_now(refuse, {}), "nothing here");
    int calls = 0;
    const auto nothing = make_function("nothing", "", [&]() -> asio::awaitable<void> {
        ++calls; // the function lives as long as its definition
        co_return;
    });
    EXPECT_EQ(call_now(nothing, {}), "null");
    EXPECT_EQ(calls, 1);
}

TEST_F(function, calls_functions_that_call_back) {
    const auto find = make_function(
        "find", "", {"id"}, [](const call& by, std::int64_t id, completion<customer> done) {
            asio::post(by.executor(), [id, done] { done(customer{id, "Ada"}); });
        });
    EXPECT_TRUE(find.completes_later);
    EXPECT_EQ(call_now(find, {7}), R"({"id":7,"name":"Ada"})");
    const auto nothing = make_function("nothing", "", [](completion<void> done) { done(); });
    EXPECT_EQ(call_now(nothing, {}), "null");
    const auto refuse = make_function(
        "refuse", "", [](completion<int> done) { done(error(errc::not_found, "nothing here")); });
    EXPECT_EQ(call_now(refuse, {}), "nothing here");
}

TEST_F(function, refuses_arguments_that_do_not_fit) {
    bool called = false;
    const auto small = make_function("small", "", {"number", "text"},
                                     [&](std::int8_t, const std::string&) { called = true; });
    EXPECT_EQ(call_now(small, {300, "a"}),
              "small: number: expected an integer from -128 to 127 but found 300");
    EXPECT_EQ(code(), errc::invalid_argument);
    EXPECT_EQ(call_now(small, {1, nullptr}), "small: text: expected a string but found null");
    EXPECT_EQ(call_now(small, {std::nan(""), "a"}),
              "small: number: expected an integer but found nan");
    EXPECT_EQ(call_now(small, {1}), "small: expected 2 arguments but found 1");
    EXPECT_FALSE(called);
}

TEST_F(function, refuses_results_that_json_cannot_express) {
    const auto wrong = make_function("wrong", "", [] {
        return std::vector<double>{1, std::nan("")};
    });
    EXPECT_EQ(call_now(wrong, {}), "result[1]: JSON cannot express the number nan");
    ASSERT_EQ(outcome_->error().info().trace.size(), 1U);
    EXPECT_EQ(outcome_->error().info().trace[0].what, "in the function 'wrong'");
    const auto bytes =
        make_function("bytes", "", [](completion<std::string> done) { done(std::string("\xFF")); });
    EXPECT_EQ(call_now(bytes, {}), "result: the string is not UTF-8: invalid bytes at offset 0");
}

} // namespace
} // namespace heddle
