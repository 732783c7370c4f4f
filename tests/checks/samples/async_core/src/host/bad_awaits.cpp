#include <heddle/coro/task.hpp>

task<int> conditions(int a) {
    if (co_await ready()) co_return 1;           // expect: co_await
    if constexpr (co_await ready()) co_return 1; // expect: co_await
    while (auto item = co_await receive()) {     // expect: co_await
        use(item);
    }
    switch (co_await kind()) { // expect: co_await
    default: break;
    }
    for (auto& item : co_await items()) use(item); // expect: co_await
    for (int i = co_await first(); i < 3; ++i) use(i); // expect: co_await
    if (a > 0) {
        do {
            use(a);
        } while (co_await ready()); // expect: co_await
    }
    co_return 0;
}

task<int> operands(int a) {
    const bool b = a && co_await ready();              // expect: co_await
    const bool c = co_await ready() || a;              // expect: co_await
    const int d = a ? co_await first() : 2;            // expect: co_await
    const bool e = (co_await ready()) and a;           // expect: co_await
    const int f = co_await first() + co_await first(); // expect: co_await
    co_return b + c + d + e + f;
}

task<int> lambdas(std::string a) {
    const int i = co_await run([a] { return a.size(); }); // expect: co_await
    co_await run(
        [b = std::move(a)] { return b.size(); }, // expect: co_await
        3);
    co_return i;
}

task<int> lists(int a) {
    use(co_await first());                     // expect: co_await
    std::vector<int> items{a, co_await first()}; // expect: co_await
    const auto p = point{.x = 1, .y = co_await first()}; // expect: co_await
    const int i = items[co_await first()];     // expect: co_await
    HEDDLE_TRY(auto x, co_await first());      // expect: co_await
    EXPECT_EQ(
        co_await first(), // expect: co_await
        3);
    co_return i + p.x + x;
}

void lambdas(nursery& children, int a) {
    auto work = [a]() -> task<void> {
        if (a > 0) { co_await step(a); } // expect: lambda-coroutine
    };
    children.start([&] { co_return; }()); // expect: lambda-coroutine
    co_spawn(loop, work(), boost::asio::detached); // expect: coroutine-start
    // heddle-check: allow coroutine-start: the sample of an exception
    co_spawn(loop, work(), boost::asio::detached);
    auto done = co_spawn(loop, work(), use_future); // expect: coroutine-start
}
