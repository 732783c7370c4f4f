#include "output_room.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

namespace heddle::cli {

output_room::output_room(coro::event_loop& loop, console& output, console::stream which)
    : loop_(loop), console_(output), which_(which), changed_(std::make_shared<coro::wait_point>()) {
    console_.on_room(which_, [&context = loop_.context(), changed = changed_] {
        boost::asio::post(context, [changed] { changed->notify(); });
    });
}

output_room::~output_room() { console_.on_room(which_, nullptr); }

coro::task<result<void>> output_room::wait(coro::call_context context) {
    if (!console_.is_full(which_)) co_return result<void>();
    result<void> turn = co_await turn_.acquire(context);
    if (!turn) co_return turn;
    const coro::held_permit held(turn_);
    // What wakes it comes from another thread: the loop is not to end before.
    const auto awaited = boost::asio::make_work_guard(loop_.context());
    while (console_.is_full(which_)) {
        (void)co_await changed_->wait(context);
        if (auto stop = context.stop_error()) co_return *std::move(stop);
    }
    co_return result<void>();
}

} // namespace heddle::cli
