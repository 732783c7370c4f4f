#include <heddle/coro/nursery.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <cstdio>
#include <cstdlib>

namespace heddle::coro {

nursery::~nursery() {
    if (living_ != 0) {
        std::fputs("heddle: a nursery was destroyed with living children; join it first\n", stderr);
        std::abort();
    }
}

void nursery::start(task<result<void>> child) {
    ++living_;
    // Posted first: co_spawn alone would run the child here and now, on top of its parent, so that
    // children of children of children would grow the native stack.
    boost::asio::post(parent_.loop->get_executor(), [this, child = std::move(child)]() mutable {
        boost::asio::co_spawn(
            parent_.loop->get_executor(), std::move(child),
            [this](std::exception_ptr thrown, result<void> outcome) {
                if (thrown) ended(error(errc::internal, "an exception left a child coroutine"));
                else ended(std::move(outcome));
            });
    });
}

void nursery::ended(result<void> outcome) noexcept {
    if (!outcome && !first_error_) {
        first_error_ = std::move(outcome).error();
        cancel_.request(cancel_reason::sibling);
    }
    if (--living_ == 0 && all_ended_.waiting()) all_ended_.notify();
}

task<result<void>> nursery::join() {
    while (living_ != 0) {
        // Without deadline and cancellation of its own: the children hear of those, and end.
        co_await all_ended_.wait(call_context{parent_.loop, nullptr, {}});
    }
    if (first_error_) co_return *std::exchange(first_error_, std::nullopt);
    co_return result<void>();
}

} // namespace heddle::coro
