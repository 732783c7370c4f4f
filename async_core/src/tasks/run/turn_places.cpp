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
    of_.step_->note_parts(1); // before this one is no part any more
    next->given_.notify();
}

coro::task<result<void>> turn_places::place::begin(coro::call_context context) {
    if (!of_.bounds_) co_return result<void>();
    if (of_.free_ != 0) {
        --of_.free_;
        has_place_ = true;
        co_return result<void>();
    }
    of_.waiting_.push_back(this);
    of_.step_->note_parts(-1);
    const coro::wake woken = co_await given_.wait(context);
    if (woken == coro::wake::notified) co_return result<void>();
    if (!has_place_) {
        of_.waiting_.erase(std::find(of_.waiting_.begin(), of_.waiting_.end(), this));
        of_.step_->note_parts(1);
    }
    auto stop = context.stop_error();
    co_return stop ? *std::move(stop) : error::cancelled(cancel_reason::sibling);
}

} // namespace heddle::tasks
