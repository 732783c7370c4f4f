#include <heddle/coro/semaphore.hpp>

#include <algorithm>

namespace heddle::coro {

/// In the queue for its lifetime, or until it is granted a permit. The destructor returns a permit
/// that was not taken.
class semaphore::waiter {
public:
    explicit waiter(semaphore& owner) : owner_(owner) { owner_.queue_.push_back(this); }
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;
    ~waiter() {
        if (granted && !taken_) owner_.release();
        else if (!granted) std::erase(owner_.queue_, this);
    }
    void take() noexcept { taken_ = true; }

    wait_point point;
    bool granted = false;

private:
    semaphore& owner_;
    bool taken_ = false;
};

bool semaphore::try_acquire() noexcept {
    if (free_ == 0 || !queue_.empty()) return false;
    --free_;
    return true;
}

task<result<void>> semaphore::acquire(call_context context) {
    if (auto stop = context.stop_error()) co_return *std::move(stop);
    if (try_acquire()) co_return result<void>();
    waiter self(*this);
    const wake outcome = co_await self.point.wait(context);
    if (outcome == wake::notified) {
        self.take();
        co_return result<void>();
    }
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
