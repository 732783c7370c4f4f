// What embedding costs: a call of an empty workflow, a session, a function of the host.
#include <heddle/heddle.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstdio>
#include <string>

namespace {

namespace asio = boost::asio;
using clock_type = std::chrono::steady_clock;

constexpr const char* text =
    "(define (nothing) nil) "
    "(define (echo input) input) "
    "(define (hundred) (let loop ((i 0)) "
    "  (when (< i 100) (next i) (loop (+ i 1)))))";

/// Calls `count` times in all, `at_once` of them side by side. Result: microseconds a call.
double measure(const heddle::program& flow, const std::string& function, const heddle::json& input,
               int count, int at_once) {
    asio::io_context context;
    int left = count;
    int failed = 0;
    auto work = [&]() -> asio::awaitable<void> {
        while (left-- > 0) {
            auto ended = co_await flow.call(function, input, asio::use_awaitable);
            if (!ended) ++failed;
        }
    };
    const auto begun = clock_type::now();
    for (int i = 0; i < at_once; ++i) asio::co_spawn(context, work(), asio::detached);
    context.run();
    const std::chrono::duration<double, std::micro> spent = clock_type::now() - begun;
    if (failed != 0) std::printf("%d calls have failed\n", failed);
    return spent.count() / count;
}

void report(const char* what, double micros) { std::printf("%-44s %8.2f us\n", what, micros); }

} // namespace

int main() {
    constexpr int many = 20'000;
    constexpr int few = 500;
    heddle::runtime warm({.threads = 1});
    warm.function("next", "Adds one.", {"n"}, [](std::int64_t n) { return n + 1; });
    const heddle::program flow = warm.load_text("bench.heddle", text).value();
    (void)measure(flow, "nothing", {}, few, 64);
    report("call of an empty workflow, one after another", measure(flow, "nothing", {}, many, 1));
    report("the same, 64 side by side", measure(flow, "nothing", {}, many, 64));
    const heddle::json object = heddle::json::object{
        {"name", "Ada"}, {"orders", heddle::json::array{1, 2.5, "three", nullptr}}};
    report("with an object in and out", measure(flow, "echo", object, many, 64));
    const double empty = measure(flow, "nothing", {}, many, 64);
    report("call of a function of the host",
           (measure(flow, "hundred", {}, many / 20, 64) - empty) / 100);

    heddle::runtime cold({.threads = 1, .warm_sessions = 0});
    cold.function("next", "Adds one.", {"n"}, [](std::int64_t n) { return n + 1; });
    const heddle::program each = cold.load_text("bench.heddle", text).value();
    report("call with a session of its own", measure(each, "nothing", {}, few, 1));
}
