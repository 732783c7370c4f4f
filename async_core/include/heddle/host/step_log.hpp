// The journal of one row, as the engine sees it.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/run_journal.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::host {

/// Payload of the error of an evaluation whose records do not fit its program.
class journal_mismatch final : public error_payload {};

/// What happens to an effect when a row is executed again from its records.
enum class replay_class : std::uint8_t {
    answer, ///< its recorded answer is used; it is not performed
    redo,   ///< performed again, and not recorded: definitions, imports
    output, ///< as answer, but the row does not wait until it is durable: printing, logging
    derived ///< performed again, and not recorded: it depends on nothing but the row
};

/// A dry execution of a row, which finds out what the row would ask. It has no effect outside, and
/// uses the answers of an earlier execution. Threads: the session's only.
class step_plan {
public:
    virtual ~step_plan() = default;
    /// Notes that all answers of a step are known from earlier executions.
    virtual void note_known(const ports::digest128& path, std::string_view name) = 0;
    /// Notes that a step would ask. Result: the encoded answer to use in its place; nothing if none
    /// is known, and then the row ends.
    [[nodiscard]] virtual std::optional<std::string> stand_in(const ports::digest128& path,
                                                              std::string_view name) = 0;
    /// Notes that the row ends because no answer of a task or tool is known.
    virtual void note_lost() = 0;
    /// Whether stand-ins are altered, so that what depends on them asks something else.
    [[nodiscard]] virtual bool alters() const noexcept = 0;
};

/// A row that is executed again with nothing but its records, to be looked at: what is not recorded
/// is not performed, and the evaluation ends with an error where the records do. Threads: the
/// session's only.
class step_replay {
public:
    virtual ~step_replay() = default;
    /// A record takes effect. May request the cancellation of the run.
    virtual void note_effect(const ports::step_record& record) noexcept = 0;
    /// The records have ended before the row. `what` names the steps that are not recorded.
    virtual void note_end(std::string_view what) noexcept = 0;
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
    /// Notes that a step uses a spare response of an earlier version of the program, so that no
    /// other step does.
    virtual void use_spare(const ports::spare_use& /*use*/) {}
    /// The dry execution that this log belongs to; null for a real one. In a dry execution appended
    /// records are discarded.
    [[nodiscard]] virtual step_plan* plan() noexcept { return nullptr; }
    /// Null: what is not recorded is performed. Otherwise nothing is appended.
    [[nodiscard]] virtual step_replay* replay() noexcept { return nullptr; }
    /// Whether what earlier executions have printed and logged is printed and logged again.
    [[nodiscard]] virtual bool repeats_output() const noexcept { return false; }
    /// The row is ended since all that it waits for is parked (ports::step_memory::park).
    virtual void note_parked() noexcept {}
    /// Of several evaluations of a row, which: steps of one have other paths than those of another.
    [[nodiscard]] virtual std::uint64_t evaluation() const noexcept { return 0; }
    /// The number of the row in its run.
    [[nodiscard]] virtual std::uint64_t row() const noexcept { return 0; }
    /// Seed of the row's random numbers.
    [[nodiscard]] virtual std::uint64_t seed() const noexcept = 0;
};

} // namespace heddle::host
