// Does this compiler run a coroutine that awaits inside a condition?
//
// g++ 12 miscompiles such a coroutine when its outer block declares no local variable: the program
// crashes, hangs, or the coroutine silently stops. Our rule is therefore to bind what was awaited
// to a named local first (CONTRIBUTING.md). No Asio here: the bug needs none.
//
//   compiler_canary in_condition     may do anything
//   compiler_canary bound_to_local   must print "ran to its end" and return 0
#include <coroutine>
#include <cstdio>
#include <cstring>
#include <exception>

namespace {

struct job {
    struct promise_type {
        job get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
};

// Suspends once, then returns a value: what any awaited operation does.
struct later {
    bool value;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    bool await_resume() const noexcept { return value; }
};

int steps = 0;

job in_condition() {
    if (co_await later{true}) { // heddle-check: allow co_await (the subject)
        ++steps;
        co_await later{true};
        ++steps;
    }
    while (co_await later{steps < 4}) { // heddle-check: allow co_await
        ++steps;
        co_await later{true};
    }
}

job bound_to_local() {
    const bool first = co_await later{true};
    if (first) {
        ++steps;
        co_await later{true};
        ++steps;
    }
    for (;;) {
        const bool more = co_await later{steps < 4};
        if (!more) break;
        ++steps;
        co_await later{true};
    }
}

} // namespace

int main(int count, char** arguments) {
    const bool condition = count > 1 && std::strcmp(arguments[1], "in_condition") == 0;
    const job started = condition ? in_condition() : bound_to_local();
    for (int turn = 0; turn < 100 && !started.handle.done(); ++turn) started.handle.resume();
    const bool ended = started.handle.done() && steps == 4;
    std::puts(ended ? "ran to its end" : "stopped on its way");
    if (ended) started.handle.destroy();
    return ended ? 0 : 1;
}
