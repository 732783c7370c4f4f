#include "tasks/run/task_time.hpp"

#include <heddle/ports/step_memory.hpp>

#include <memory>
#include <utility>

namespace heddle::tasks {

namespace {

/// Marks a cancellation as the end of a time.
class end_of_time final : public error_payload {
public:
    explicit end_of_time(const task_time* time) : of(time) {}
    const task_time* const of;
};

[[nodiscard]] const end_of_time* mark_of(const error& cancelled) noexcept {
    for (const error* each = &cancelled; each; each = each->info().cause.get()) {
        if (const auto* mark = dynamic_cast<const end_of_time*>(each->info().payload.get()))
            return mark;
    }
    return nullptr;
}

} // namespace

void task_time::begin(std::optional<std::chrono::nanoseconds> timeout) {
    began_ = context_.loop->now();
    if (!timeout) return;
    timeout_ = *timeout;
    if (context_.step && context_.step->is_repeated()) return;
    // A row that was interrupted comes to what is recorded first.
    const auto more = context_.step ? context_.step->time_to_catch_up() : timeout->zero();
    context_ = context_.with_deadline(coro::deadline(began_ + *timeout + more));
}

bool task_time::is_over(const error& cancelled) const {
    if (const end_of_time* mark = mark_of(cancelled)) return mark->of == this;
    const auto now = context_.loop->now();
    // What a durable step was cut by in an earlier execution ends it in this one, too.
    const bool has_passed =
        context_.until.passed(now) || (context_.step && timeout_ != timeout_.zero());
    return cancelled.cancelled_because() == cancel_reason::deadline && has_passed &&
           !around_.cancelled() && !around_.until.passed(now);
}

std::optional<unsigned> task_time::levels_over(const error& cancelled) const {
    unsigned levels = 0;
    for (const task_time* each = this; each; each = each->outer_, ++levels) {
        if (each->is_over(cancelled)) return levels;
    }
    return std::nullopt;
}

error task_time::ended(error cancelled, unsigned levels) const {
    const task_time* of = this;
    while (levels-- != 0 && of) of = of->outer_;
    error mark = error::cancelled(cancel_reason::deadline);
    return std::move(cancelled).with_last_cause(
        std::move(mark).with_payload(std::make_shared<end_of_time>(of)));
}

exhausted_resource task_time::exhausted() const {
    return task_session::time_over(elapsed(), timeout_);
}

} // namespace heddle::tasks
