// How many calls of one turn run at once in a durable row.
#pragma once

#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/ports/step_memory.hpp>

#include <cstddef>
#include <deque>

namespace heddle::tasks {

/// Places for the calls of one turn, taken in the order of the calls. In a durable row they replace
/// the permits of host::side_call: when one becomes free depends on nothing but the turn, so that a
/// second execution begins the calls in the same order. A call that waits is not part of the step
/// that is under way: what it waits for may be parked. Threads: the session's only.
class turn_places {
public:
    /// `count`: 0 for no bound. `step`: null in a run that is not durable.
    turn_places(ports::step_memory* step, std::size_t count) noexcept
        : step_(step), bounds_(step != nullptr && count != 0), free_(count) {}
    turn_places(const turn_places&) = delete;
    turn_places& operator=(const turn_places&) = delete;

    /// A place of one call, from begin() to its destruction.
    class place {
    public:
        explicit place(turn_places& of) noexcept : of_(of) {}
        ~place();
        place(const place&) = delete;
        place& operator=(const place&) = delete;

        /// Whether begin() would wait, of a step that is durable.
        [[nodiscard]] bool must_wait() const noexcept { return of_.bounds_ && of_.free_ == 0; }
        /// Waits for the place. Errors: cancelled or the deadline error, of `context`.
        [[nodiscard]] coro::task<result<void>> begin(coro::call_context context);

    private:
        friend class turn_places;
        friend class queued_place;
        turn_places& of_;
        coro::wait_point given_;
        bool has_place_ = false;
    };

private:
    class queued_place;

    ports::step_memory* step_;
    bool bounds_;
    std::size_t free_;
    std::deque<place*> waiting_;
};

} // namespace heddle::tasks
