// What embedding costs: a session, a call of an empty workflow, a function of the host.
#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/heddle.hpp>
#include <heddle/host/engine.hpp>
#include <heddle/host/session_image.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <malloc.h>
#include <time.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace {

namespace asio = boost::asio;
using clock_type = std::chrono::steady_clock;
using micros = std::chrono::duration<double, std::micro>;

constexpr const char* text =
    "(define (nothing) nil) "
    "(define (echo input) input) "
    "(define (hundred) (let loop ((i 0)) "
    "  (when (< i 100) (next i) (loop (+ i 1)))))";

/// The same, but no two calls can share it.
constexpr const char* not_shareable = "(define step (let ((n 0)) (lambda () (set! n (+ n 1)) n))) ";

constexpr int many = 2'000;
constexpr int few = 500;

/// Calls `count` times in all, `at_once` of them side by side. Result: microseconds a call.
double measure(asio::io_context& context, const heddle::program& flow, const std::string& function,
               const heddle::json& input, int count, int at_once) {
    int left = count;
    int failed = 0;
    int working = at_once;
    auto work = [&]() -> asio::awaitable<void> {
        while (left-- > 0) {
            auto ended = co_await flow.call(function, input, asio::use_awaitable);
            if (!ended) ++failed;
        }
        --working;
    };
    const auto begun = clock_type::now();
    for (int i = 0; i < at_once; ++i) asio::co_spawn(context, work(), asio::detached);
    context.restart();
    while (working != 0 && context.run_one() != 0) {}
    const micros spent = clock_type::now() - begun;
    if (failed != 0) std::printf("%d calls have failed\n", failed);
    return spent.count() / count;
}

void report(const char* what, double figure, const char* unit) {
    std::printf("%-52s %9.2f %s\n", what, figure, unit);
}

void add_function(heddle::runtime& rt) {
    rt.function("next", "Adds one.", {"n"}, [](std::int64_t n) { return n + 1; });
}

std::size_t bytes_in_use() {
    const auto now = ::mallinfo2();
    return now.uordblks + now.hblkhd;
}

/// Sessions with tasks that are made from an image, and nothing else.
void measure_sessions() {
    asio::io_context context;
    heddle::coro::event_loop loop(context);
    heddle::host::engine_parts parts;
    parts.operators = heddle::tasks::operators({});
    heddle::host::engine engine(loop, std::move(parts));
    std::shared_ptr<heddle::host::session_image> image;
    auto load = [&]() -> heddle::coro::task<void> {
        image = (co_await heddle::host::session_image::load(engine, "bench.heddle",
                                                            "(define (nothing) nil)"))
                    .value();
    };
    heddle::coro::spawn(loop, load(), [](std::exception_ptr) {});
    loop.run();
    for (int i = 0; i < few; ++i) (void)image->new_session().value();
    const auto begun = clock_type::now();
    for (int i = 0; i < many; ++i) (void)image->new_session().value();
    report("a session, made and destroyed", micros(clock_type::now() - begun).count() / many, "us");
    std::vector<std::unique_ptr<heddle::host::session>> held;
    held.reserve(few);
    const std::size_t before = bytes_in_use();
    for (int i = 0; i < few; ++i) held.push_back(image->new_session().value());
    report("its memory", static_cast<double>(bytes_in_use() - before) / few, "bytes");
}

/// A program with so many tasks, and as many functions that call them.
std::string program_with_tasks(int count) {
    std::string program;
    for (int i = 0; i < count; ++i) {
        const std::string number = std::to_string(i);
        program += "(defatom ask-" + number +
                   " (params topic words) (description \"Explains a topic.\") "
                   "(instructions \"Explain {{topic}} in {{words}} words. Begin with the most "
                   "important thing.\") (retries 2) (temperature 0.2))\n"
                   "(define (explain-" +
                   number +
                   " topics) (filter (lambda (each) (not (equal? each \"\"))) "
                   "(map (lambda (topic) (if (string? topic) (content (ask-" +
                   number + " topic 50)) \"\")) topics)))\n";
    }
    return program;
}

double cpu_micros() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

/// What each thread pays for a program before it can make sessions, in CPU time.
void measure_loads() {
    const std::string program = program_with_tasks(50);
    constexpr int rounds = 20;
    double prelude = 0;
    double evaluated = 0;
    std::size_t bytes = 0;
    for (int i = 0; i < rounds; ++i) {
        asio::io_context context;
        heddle::coro::event_loop loop(context);
        heddle::host::engine_parts parts;
        parts.operators = heddle::tasks::operators({});
        heddle::host::engine engine(loop, std::move(parts));
        const std::size_t before = bytes_in_use();
        const double begun = cpu_micros();
        (void)engine.new_session().value(); // makes the image of the prelude
        prelude += cpu_micros() - begun;
        std::shared_ptr<heddle::host::session_image> image;
        auto load = [&]() -> heddle::coro::task<void> {
            image = (co_await heddle::host::session_image::load(engine, "bench.heddle", program))
                        .value();
        };
        const double second = cpu_micros();
        heddle::coro::spawn(loop, load(), [](std::exception_ptr) {});
        loop.run();
        evaluated += cpu_micros() - second;
        bytes = bytes_in_use() - before;
    }
    std::printf("a thread loads a program with 50 tasks and 50 functions (%zu bytes):\n",
                program.size());
    report("  the prelude and the built-in tools", prelude / rounds, "us");
    report("  the program", evaluated / rounds, "us");
    report("  memory of both", static_cast<double>(bytes), "bytes");
    for (const unsigned threads : {1U, 4U}) {
        double spent = 0;
        double waited = 0;
        for (int i = 0; i < rounds; ++i) {
            heddle::runtime rt({.threads = threads});
            const double begun = cpu_micros();
            const auto at = clock_type::now();
            (void)rt.load_text("bench.heddle", program).value();
            waited += micros(clock_type::now() - at).count();
            spent += cpu_micros() - begun;
        }
        std::printf("  runtime::load with %u thread%s:\n", threads, threads == 1 ? "" : "s");
        report("    check and loads, CPU time", spent / rounds, "us");
        report("    the same, as it is waited for", waited / rounds, "us");
    }
}

void measure_thread_of_runtime() {
    asio::io_context context;
    heddle::runtime rt({.threads = 1});
    add_function(rt);
    const heddle::program flow = rt.load_text("bench.heddle", text).value();
    (void)measure(context, flow, "nothing", {}, few, 64);
    std::puts("in the thread of the runtime, called from another one:");
    report("  an empty workflow, one after another", measure(context, flow, "nothing", {}, many, 1),
           "us");
    const double empty = measure(context, flow, "nothing", {}, many, 64);
    report("  the same, 64 side by side", empty, "us");
    const heddle::json object = heddle::json::object{
        {"name", "Ada"}, {"orders", heddle::json::array{1, 2.5, "three", nullptr}}};
    report("  with an object in and out", measure(context, flow, "echo", object, many, 64), "us");
    report("  a call of a function of the host",
           (measure(context, flow, "hundred", {}, many / 20, 64) - empty) / 100, "us");
}

void measure_thread_of_host() {
    asio::io_context context;
    heddle::runtime rt(context, heddle::host_threads::one);
    add_function(rt);
    const heddle::program flow = rt.load_text("bench.heddle", text).value();
    (void)measure(context, flow, "nothing", {}, few, 64);
    std::puts("in the thread of the caller:");
    const double empty = measure(context, flow, "nothing", {}, many, 1);
    report("  an empty workflow, one after another", empty, "us");
    report("  the same, 64 side by side", measure(context, flow, "nothing", {}, many, 64), "us");
    report("  a call of a function of the host",
           (measure(context, flow, "hundred", {}, many / 20, 1) - empty) / 100, "us");
    const heddle::program each =
        rt.load_text("bench.heddle", std::string(text) + not_shareable).value();
    (void)measure(context, each, "nothing", {}, 1, 1);
    report("  an empty workflow of a program that is not shared",
           measure(context, each, "nothing", {}, few, 1), "us");
}

} // namespace

int main() {
    measure_sessions();
    measure_loads();
    measure_thread_of_runtime();
    measure_thread_of_host();
}
