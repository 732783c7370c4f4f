// Everything here may stand.
#include <heddle/coro/task.hpp>

task<result<int>> bound(int a, int b) {
    auto first = co_await next(a && b, a ? 1 : 2);
    if (!first) co_return first.error();
    const auto second = co_await next(*first);
    if (a && second) {
        co_await step(*second);
    } else {
        co_await step(0);
    }
    for (;;) {
        auto item = co_await channel.receive();
        if (!item) break;
    }
    auto&& third = co_await next(1);
    reader&& fourth = co_await next(1);
    std::vector<int> list{1, 2, 3};
    const bool all = first && second && third;
    (void)co_await next(2);
    co_return co_await next(3); // if (co_await is only spoken of)
}

const char* text = "if (co_await next())";

task<void> start(nursery& children) {
    auto work = [](int count) -> task<void> {
        co_await step(count);
        if (count > 0) co_await step(0);
        co_return;
    };
    children.start(work(3));
    // not a coroutine itself, so it may capture
    children.each([&](int i) { children.start(work(i)); });
    co_await children.join();
    co_await children.run([] { return 1; });
    auto named = [&] { return children.size(); };
    co_await children.run(named);
}

struct holder : base {
    explicit holder(int a) : base{a}, list_{a} { start(); }
    task<void> run() && {
        co_await start();
    }
};
