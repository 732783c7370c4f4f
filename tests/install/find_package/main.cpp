// Embeds a workflow: a loop of its own, an engine, a session, one evaluation.
#include <heddle/coro/spawn.hpp>
#include <heddle/host/engine.hpp>
#include <heddle/host/session.hpp>

#include <boost/asio/io_context.hpp>

#include <cstdio>

namespace {

heddle::coro::task<void> work(heddle::host::session& session, bool& right) {
    auto sum = co_await session.evaluate("consumer", "(+ 1 (* 2 3))");
    if (!sum) {
        std::fputs(session.render(sum.error()).c_str(), stderr);
    } else {
        right = sum->is_integer() && sum->as_integer() == 7;
    }
}

} // namespace

int main() {
    boost::asio::io_context context;
    heddle::coro::event_loop loop(context);
    heddle::host::engine engine(loop, {});
    auto session = engine.new_session();
    if (!session) return 1;
    bool right = false;
    bool failed = true;
    heddle::coro::spawn(loop, work(**session, right),
                        [&](std::exception_ptr thrown) { failed = thrown != nullptr; });
    context.run();
    return right && !failed ? 0 : 1;
}
