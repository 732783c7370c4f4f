// Functions of the host of all kinds, as a workflow calls them.
#include "embed_harness.hpp"

#include <heddle/function_awaitable.hpp>

#include <gmock/gmock.h>

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace heddle {
namespace {

namespace asio = boost::asio;
using testing::called;
using ::testing::HasSubstr;
using testing::loaded;
using testing::with_model;
using namespace std::chrono_literals;

template <class T>
asio::awaitable<result<T>> fails_later() {
    co_return error(errc::not_found, "nothing there");
}
asio::awaitable<result<void>> ends_later() { co_return result<void>(); }

TEST(functions_of_all_kinds, return_results_without_a_value) {
    runtime rt(with_model());
    rt.function("at-once", "", []() -> result<void> { return {}; });
    rt.function("later", "", ends_later);
    rt.function("fails", "", fails_later<void>);
    rt.function("calls-back", "", [](completion<void> done) { done(result<void>()); });
    rt.function("calls-back-failed", "",
                [](completion<void> done) { done(error(errc::not_found, "nothing here")); });
    const program flow =
        loaded(rt,
               "(define (now-too) (at-once)) (define (a) (later)) (define (b) (fails)) "
               "(define (c) (calls-back)) (define (d) (calls-back-failed))");
    EXPECT_TRUE(called(flow, "now-too").value().value().is_null());
    EXPECT_TRUE(called(flow, "a").value().value().is_null());
    EXPECT_THAT(to_text(called(flow, "b").error()), HasSubstr("nothing there"));
    EXPECT_TRUE(called(flow, "c").value().value().is_null());
    EXPECT_THAT(to_text(called(flow, "d").error()), HasSubstr("nothing here"));
}

TEST(functions_of_all_kinds, take_nil_for_an_optional_argument) {
    runtime rt(with_model());
    rt.function(
        "search", "Searches.", {"text", "limit", "order"},
        [](const std::string& text, std::optional<int> limit, std::optional<std::string> order) {
            return text + std::to_string(limit.value_or(-1)) + order.value_or("-");
        });
    const program flow = loaded(rt,
                                "(define (last) (search \"a\" nil)) "
                                "(define (middle) (search \"a\" nil \"up\")) "
                                "(define (clause) (search (text \"a\") (limit nil)))");
    EXPECT_EQ(called(flow, "last").value().text(), "a-1-");
    EXPECT_EQ(called(flow, "middle").value().text(), "a-1up");
    EXPECT_EQ(called(flow, "clause").value().text(), "a-1-");
}

TEST(functions_of_all_kinds, have_no_names_that_mean_something_else) {
    runtime rt(with_model());
    for (const char* name : {"if", "define", "defatom", "string-append", "apply"}) {
        const result<void> refused = rt.function(make_function(name, "", [] { return 1; }));
        ASSERT_FALSE(refused) << name;
        EXPECT_EQ(refused.error().code(), errc::invalid_argument);
        EXPECT_THAT(refused.error().message(), HasSubstr(name));
    }
}

TEST(functions_of_all_kinds, do_not_take_the_name_of_a_function_of_the_language) {
    runtime rt(with_model());
    rt.function("map", "", [] { return 1; });
    const auto refused = rt.load_text("flow.heddle", "(define (go) (map))");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("'map'"));
}

TEST(functions_of_all_kinds, see_that_their_deadline_has_passed_without_waiting) {
    runtime rt(with_model());
    std::atomic<bool> saw = false;
    rt.function("compute", "", [&](const call& by) {
        saw = testing::comes_true([&] { return by.cancelled(); });
        return 1;
    });
    const program flow = loaded(rt, "(define (go) (compute))");
    call_options options;
    options.timeout = 50ms;
    EXPECT_FALSE(called(flow, "go", {}, options));
    EXPECT_TRUE(saw);
}

TEST(functions_of_all_kinds, are_waited_for_as_long_as_the_grace_is_also_for_ever) {
    runtime_options options = with_model();
    options.function_grace = std::chrono::nanoseconds::max();
    std::atomic<bool> ended = false;
    std::thread worker;
    {
        runtime rt(options);
        rt.function("slow", "", [&](completion<int> done) {
            worker = std::thread([&ended, done] {
                std::this_thread::sleep_for(200ms);
                ended = true;
                done(1);
            });
        });
        const program flow = loaded(rt, "(define (go) (slow))");
        call_options hurried;
        hurried.timeout = 20ms;
        EXPECT_FALSE(called(flow, "go", {}, hurried));
        EXPECT_TRUE(ended);
    }
    worker.join();
}

} // namespace
} // namespace heddle
