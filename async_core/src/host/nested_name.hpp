// The name of a function that begins as a part of a durable step.
#pragma once

#include "durable_row.hpp"

#include <heddle/coro/task.hpp>

#include <optional>

namespace heddle::host {

/// A function of the program that begins as a part of a step: what it does is named by what calls
/// it, and it begins in its turn.
class nested_name {
public:
    nested_name(durable_row& row, std::uint32_t fiber, step_worker& caller)
        : row_(row), fiber_(fiber), step_(caller.whole().path()), path_(caller.next_function()),
          is_of_part_(&caller.whole() != &caller) {
        row_.ways().note_fiber(fiber_, path_);
        row_.expect_function(path_);
    }
    nested_name(const nested_name&) = delete;
    nested_name& operator=(const nested_name&) = delete;
    ~nested_name() {
        row_.end_function(path_);
        row_.ways().forget_fiber(fiber_);
    }

    [[nodiscard]] const ports::digest128& path() const noexcept { return path_; }
    /// One of several parts of the step that run side by side calls it.
    [[nodiscard]] bool is_of_part() const noexcept { return is_of_part_; }
    /// The function runs.
    void begin(durable_row::running_function& function) noexcept {
        row_.begin_function(path_, function);
    }
    /// The time of what called it is over. Result: see durable_row::cut_function.
    [[nodiscard]] std::optional<coro::clock::duration> end_time(bool is_later) noexcept {
        return row_.cut_function(path_, is_later);
    }

    /// The turn is used up by the beginning of the fiber.
    [[nodiscard]] coro::task<result<void>> turn() {
        auto recorded = row_.recorded(path_, name, {});
        if (!recorded) co_return recorded.error();
        const durable_row::waiting_part waits(row_);
        result<void> begun;
        if (*recorded) {
            result<void> given = co_await row_.replay_turn(path_);
            begun = std::move(given);
        } else {
            ports::step_record record;
            record.kind = ports::step_kind::nested;
            record.path = path_;
            record.content = step_;
            record.name = name;
            result<void> given = co_await row_.record_turn(std::move(record), false);
            begun = std::move(given);
        }
        co_return begun;
    }

private:
    static constexpr const char* name = "a function of the program";
    durable_row& row_;
    std::uint32_t fiber_;
    ports::digest128 step_;
    ports::digest128 path_;
    bool is_of_part_;
};

} // namespace heddle::host
