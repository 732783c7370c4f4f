// Runs a coroutine on a loop of its own.
#include <heddle/coro/spawn.hpp>
#include <heddle/coro/wait_point.hpp>

#include <boost/asio/io_context.hpp>

namespace coro = heddle::coro;

namespace {

coro::task<void> work(coro::event_loop& loop, int& turns) {
    for (turns = 0; turns < 3; ++turns) co_await coro::yield_now(loop);
}

} // namespace

int main() {
    boost::asio::io_context context;
    coro::event_loop loop(context);
    int turns = 0;
    bool failed = true;
    coro::spawn(loop, work(loop, turns), [&](std::exception_ptr thrown) { failed = bool(thrown); });
    context.run();
    return !failed && turns == 3 ? 0 : 1;
}
