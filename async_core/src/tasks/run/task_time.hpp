// The time of one execution.
#pragma once

#include "tasks/run/task_session.hpp"

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

namespace heddle::tasks {

/// When an execution began, and how long it may take: what holds around it, and its own timeout.
class task_time {
public:
    /// `around`: of the call. `outer`: the time of the task that waits for this one, if there is
    /// one; it outlives this.
    explicit task_time(coro::call_context around, const task_time* outer = nullptr) noexcept
        : outer_(outer), around_(around), context_(around) {}

    void begin(std::optional<std::chrono::nanoseconds> timeout);
    /// The number of the task in its part of a durable step: ids of tools are unique in one task.
    void set_number(std::uint32_t number) noexcept { number_ = number; }
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    /// For everything that the execution waits for: with its deadline, once it has begun.
    [[nodiscard]] const coro::call_context& context() const noexcept { return context_; }
    [[nodiscard]] coro::clock::duration elapsed() const { return context_.loop->now() - began_; }
    /// Whether a cancellation is the end of this time, and of nothing around it.
    [[nodiscard]] bool is_over(const error& cancelled) const;
    /// Whose end a cancellation is: 0 for this time, 1 for that of the task around it, and so on.
    /// Nothing: it comes from outside of all of them.
    [[nodiscard]] std::optional<unsigned> levels_over(const error& cancelled) const;
    /// `cancelled`, marked as the end of the time so many levels further out: whatever the clock
    /// shows, is_over() is true for that one only. For the kept error of an earlier execution.
    [[nodiscard]] error ended(error cancelled, unsigned levels) const;
    /// The limit that is reached when it is over.
    [[nodiscard]] exhausted_resource exhausted() const;

private:
    const task_time* outer_;
    coro::call_context around_;
    coro::call_context context_;
    coro::clock::time_point began_;
    std::uint32_t number_ = 0;
    std::chrono::nanoseconds timeout_{0}; ///< 0: none
};

} // namespace heddle::tasks
