// The journal of one row, as the engine sees it.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/run_journal.hpp>

#include <cstdint>
#include <vector>

namespace heddle::host {

/// What happens to an effect when a row is executed again from its records.
enum class replay_class : std::uint8_t {
    answer, ///< its recorded answer is used; it is not performed
    redo,   ///< performed again, and not recorded: definitions, imports
    output, ///< as answer, but the row does not wait until it is durable: printing, logging
    derived ///< performed again, and not recorded: it depends on nothing but the row
};

/// Records of one execution of a row. Outlives the evaluation. Threads: the session's only.
class step_log {
public:
    virtual ~step_log() = default;
    /// The records of earlier executions of the row, in order. Called once, when it begins.
    [[nodiscard]] virtual std::vector<ports::step_record> take_earlier() = 0;
    /// Appends a record; returns once it is as durable as the run asks.
    /// Errors: io_error; the row fails with it. Cancellation: the record stays appended.
    [[nodiscard]] virtual coro::task<result<void>> append(ports::step_record record,
                                                          coro::call_context context) = 0;
    /// As append, without waiting: the record is durable before any that is appended later.
    virtual void note(ports::step_record record) = 0;
    /// Seed of the row's random numbers.
    [[nodiscard]] virtual std::uint64_t seed() const noexcept = 0;
};

} // namespace heddle::host
