#include <heddle/coro/wait_point.hpp>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/post.hpp>

namespace heddle::coro {

std::optional<error> call_context::stop_error() const {
    if (cancelled()) return error::cancelled(cancel->reason());
    if (!until.is_never() && until.passed(loop->now()))
        return error::cancelled(cancel_reason::deadline);
    return std::nullopt;
}

task<wake> wait_point::wait(call_context context) {
    if (notified_) {
        notified_ = false;
        co_return wake::notified;
    }
    if (context.cancelled()) co_return wake::cancelled;
    if (!context.until.is_never() && context.until.passed(context.loop->now()))
        co_return wake::timed_out;
    loop_ = context.loop;
    if (context.cancel) context.cancel->hook(*this);
    if (!context.until.is_never()) loop_->schedule(*this, context.until.at());
    co_await boost::asio::async_initiate<const use_task_t, void()>(
        [this](auto handler) { handler_.emplace(std::move(handler)); }, use_task);
    co_return outcome_;
}

void wait_point::notify() noexcept {
    if (handler_) finish(wake::notified);
    else notified_ = true;
}

void wait_point::on_cancel(cancel_reason) noexcept { finish(wake::cancelled); }

void wait_point::on_timer() noexcept { finish(wake::timed_out); }

void wait_point::drop() noexcept {
    if (!handler_) return;
    unhook();
    unschedule();
    const auto dropped = std::move(*handler_);
    handler_.reset();
}

void wait_point::finish(wake outcome) noexcept {
    if (!handler_) return;
    outcome_ = outcome;
    unhook();
    unschedule();
    auto handler = std::move(*handler_);
    handler_.reset();
    boost::asio::post(
        loop_->get_executor(),
        boost::asio::bind_allocator(allocate_in(memory_),
                                    [h = std::move(handler)]() mutable { std::move(h)(); }));
}

task<result<void>> sleep_until(call_context context, clock::time_point at) {
    wait_point nobody_notifies;
    const bool ends_by_deadline = context.until.at() < at;
    const wake outcome = co_await nobody_notifies.wait(context.with_deadline(deadline(at)));
    if (outcome == wake::cancelled) co_return error::cancelled(context.cancel->reason());
    if (ends_by_deadline) co_return error::cancelled(cancel_reason::deadline);
    co_return result<void>();
}

task<void> yield_now(event_loop& loop) {
    co_await boost::asio::post(loop.get_executor(), use_task);
}

} // namespace heddle::coro
