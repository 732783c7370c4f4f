// The parts of a durable step that run side by side.
#pragma once

#include <heddle/ports/step_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace heddle::tasks {

/// Counts them for the row of the step, which ends when all that is under way of it is parked
/// (ports::step_memory::park). Outlives the parts. Threads: the session's only.
class step_parts {
public:
    /// `count` parts begin. `step`: null in a run that is not durable.
    step_parts(ports::step_memory* step, std::size_t count) noexcept : step_(step), living_(count) {
        if (!step_ || living_ <= 1) return;
        group_ = step_->open_group();
        step_->note_parts(static_cast<int>(living_) - 1);
    }
    step_parts(const step_parts&) = delete;
    step_parts& operator=(const step_parts&) = delete;
    ~step_parts() {
        while (living_ > 1) end(); // of parts that could not begin
    }

    /// Ends one of the parts with its scope.
    class part {
    public:
        /// `index`: among the parts, the same in each execution of the step.
        part(step_parts& of, std::size_t index) noexcept : of_(of), index_(index) {}
        part(const part&) = delete;
        part& operator=(const part&) = delete;
        ~part() { of_.end(); }

        /// As `context`, for all that the part does. Once; the part outlives it.
        [[nodiscard]] coro::call_context open(coro::call_context context) {
            if (of_.group_ && context.step) {
                own_ = context.step->open_part(*of_.group_, static_cast<std::uint32_t>(index_));
                if (own_) context.step = own_.get();
            }
            return context;
        }

    private:
        step_parts& of_;
        std::size_t index_;
        std::unique_ptr<ports::step_memory> own_;
    };

private:
    /// The last one hands over to the step itself.
    void end() noexcept {
        if (living_-- > 1 && step_) step_->note_parts(-1);
    }

    ports::step_memory* step_;
    std::size_t living_;
    std::optional<std::uint32_t> group_; ///< in a durable run, of several parts
};

/// A part of the step that waits for other parts: it is not at work.
class idle_part {
public:
    /// `step`: null in a run that is not durable.
    explicit idle_part(ports::step_memory* step) noexcept : step_(step) {
        if (step_) step_->note_parts(-1);
    }
    idle_part(const idle_part&) = delete;
    idle_part& operator=(const idle_part&) = delete;
    ~idle_part() {
        if (step_) step_->note_parts(1);
    }

private:
    ports::step_memory* step_;
};

} // namespace heddle::tasks
