#include "tasks/run/task_time.hpp"

namespace heddle::tasks {

void task_time::begin(std::optional<std::chrono::nanoseconds> timeout) {
    began_ = context_.loop->now();
    if (!timeout) return;
    timeout_ = *timeout;
    context_ = context_.with_deadline(coro::deadline(began_ + *timeout));
}

bool task_time::is_over(const error& cancelled) const {
    const auto now = context_.loop->now();
    // What a durable step was cut by in an earlier execution ends it in this one, too.
    const bool has_passed =
        context_.until.passed(now) || (context_.step && timeout_ != timeout_.zero());
    return cancelled.cancelled_because() == cancel_reason::deadline && has_passed &&
           !around_.cancelled() && !around_.until.passed(now);
}

exhausted_resource task_time::exhausted() const {
    return task_session::time_over(elapsed(), timeout_);
}

} // namespace heddle::tasks
