#include "tasks/run/turn_places.hpp"

#include <algorithm>
#include <utility>

namespace heddle::tasks {

turn_places::place::~place() {
    if (!has_place_) return;
    if (of_.waiting_.empty()) {
        ++of_.free_;
        return;
    }
    place* const next = of_.waiting_.front();
    of_.waiting_.pop_front();
    next->has_place_ = true;
    of_.step_->note_parts(1); // before this one is not a part any more
    next->given_.notify();
}

/// In the queue until it has the place or gives up, for one because there is no memory to wait.
class turn_places::queued_place {
public:
    explicit queued_place(place& self) : self_(self) {
        self.of_.waiting_.push_back(&self);
        self.of_.step_->note_parts(-1);
    }
    queued_place(const queued_place&) = delete;
    queued_place& operator=(const queued_place&) = delete;
    ~queued_place() {
        if (self_.has_place_) return;
        std::deque<place*>& waiting = self_.of_.waiting_;
        waiting.erase(std::find(waiting.begin(), waiting.end(), &self_));
        self_.of_.step_->note_parts(1);
    }

private:
    place& self_;
};

coro::task<result<void>> turn_places::place::begin(coro::call_context context) {
    if (!of_.bounds_) co_return result<void>();
    if (of_.free_ != 0) {
        --of_.free_;
        has_place_ = true;
        co_return result<void>();
    }
    const queued_place queued(*this);
    const coro::wake woken = co_await given_.wait(context);
    if (woken == coro::wake::notified) co_return result<void>();
    auto stop = context.stop_error();
    co_return stop ? *std::move(stop) : error::cancelled(cancel_reason::sibling);
}

} // namespace heddle::tasks
