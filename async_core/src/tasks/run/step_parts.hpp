// The parts of a durable step that run side by side.
#pragma once

#include <heddle/ports/step_memory.hpp>

#include <cstddef>

namespace heddle::tasks {

/// Counts them for the row of the step, which ends when all that is under way of it is parked
/// (ports::step_memory::park). Outlives the parts. Threads: the session's only.
class step_parts {
public:
    /// `count` parts begin. `step`: null in a run that is not durable.
    step_parts(ports::step_memory* step, std::size_t count) noexcept : step_(step), living_(count) {
        if (step_ && living_ > 1) step_->note_parts(static_cast<int>(living_) - 1);
    }
    step_parts(const step_parts&) = delete;
    step_parts& operator=(const step_parts&) = delete;
    ~step_parts() {
        while (living_ > 1) end(); // of parts that could not begin
    }

    /// Ends one of the parts with its scope.
    class part {
    public:
        explicit part(step_parts& of) noexcept : of_(of) {}
        part(const part&) = delete;
        part& operator=(const part&) = delete;
        ~part() { of_.end(); }

    private:
        step_parts& of_;
    };

private:
    /// The last one hands over to the step itself.
    void end() noexcept {
        if (living_-- > 1 && step_) step_->note_parts(-1);
    }

    ports::step_memory* step_;
    std::size_t living_;
};

} // namespace heddle::tasks
