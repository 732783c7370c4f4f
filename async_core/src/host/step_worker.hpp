// What works on a durable step.
#pragma once

#include <heddle/ports/step_memory.hpp>

#include <cstdint>
#include <memory>

namespace heddle::host {

class durable_row;
class durable_step;

/// The step itself, or one of its parts that run side by side. Names the functions of the program
/// that it calls, one after the other: their names follow from the worker and not from the order in
/// which workers come to them.
class step_worker : public ports::step_memory {
public:
    [[nodiscard]] virtual durable_step& whole() noexcept = 0;
    /// The path of the next function of the program that begins as a part of this.
    [[nodiscard]] ports::digest128 next_function() noexcept;
    /// Nothing that it still does matters: the end of the step is known, and no further function of
    /// the program ran inside of this.
    [[nodiscard]] bool is_over();

    [[nodiscard]] std::unique_ptr<ports::step_memory> open_part(std::uint32_t group,
                                                                std::uint32_t index) override;
    [[nodiscard]] std::uint32_t open_group() noexcept override { return groups_++; }
    [[nodiscard]] std::uint32_t begin_task() noexcept override { return tasks_++; }

protected:
    step_worker(durable_row& row, const ports::digest128& own) noexcept : row_(row), own_(own) {}

    durable_row& row_;
    ports::digest128 own_; ///< of the step: its path

private:
    [[nodiscard]] ports::digest128 path_of_next() noexcept;

    std::uint32_t functions_ = 0; ///< that have begun, or were about to
    std::uint32_t groups_ = 0;    ///< of parts side by side
    std::uint32_t tasks_ = 0;
};

} // namespace heddle::host
