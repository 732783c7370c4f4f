#include <heddle/coro/semaphore.hpp>

#include <algorithm>

namespace heddle::coro {

bool semaphore::try_acquire() noexcept {
    if (free_ == 0 || !queue_.empty()) return false;
    --free_;
    return true;
}

task<result<void>> semaphore::acquire(call_context context) {
    if (auto stop = context.stop_error()) co_return *std::move(stop);
    if (try_acquire()) co_return result<void>();
    waiter self;
    queue_.push_back(&self);
    const wake outcome = co_await self.point.wait(context);
    if (outcome == wake::notified) co_return result<void>();
    if (self.granted) release(); // granted and cancelled in the same turn
    else queue_.erase(std::find(queue_.begin(), queue_.end(), &self));
    co_return error::cancelled(outcome == wake::timed_out ? cancel_reason::deadline
                                                          : context.cancel->reason());
}

void semaphore::release() noexcept {
    if (queue_.empty()) {
        ++free_;
        return;
    }
    waiter* first = queue_.front();
    queue_.pop_front();
    first->granted = true;
    first->point.notify();
}

} // namespace heddle::coro
