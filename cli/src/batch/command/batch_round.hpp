// What a command that stays for its batches hands from one round of rows to the next.
#pragma once

#include "batch/progress/batch_counts.hpp"
#include "batch/request/run_limits.hpp"

#include <heddle/coro/deadline.hpp>
#include <heddle/ports/run_journal.hpp>
#include <heddle/store/run_store.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace heddle::cli {

/// With --park-wait rows begin again whenever batches have ended. To its user the command is one
/// process: what was requested of it holds until its end, and its figures are those of all rounds.
struct batch_round {
    run_limits set;                      ///< by 'heddle runs set', since the command began
    std::optional<coro::deadline> until; ///< no row starts later; nothing: --deadline begins now
    std::uint64_t rows_failed = 0;       ///< of earlier rounds
    bool is_paused = false;              ///< by 'heddle runs pause'
    bool is_cancelled = false;           ///< by 'heddle runs cancel', after the last row of a round
    bool has_started = false;            ///< a row, in any round
    bool is_edited = false;              ///< the program, since the rows before the command
    /// Of the run, from the first round to the end of the last: no other process works on the run
    /// between two rounds. Null: no round has opened the run.
    std::shared_ptr<store::run_hold> hold;
    /// When the rows of the first round began; nothing: they have not.
    std::optional<coro::clock::time_point> began;

    /// The rows of a round begin. `known`: as the journal has them, by their numbers, ascending.
    void begin_rows(coro::clock::time_point now, const std::vector<ports::known_row>& known);
    /// The row goes on: whether it had begun before the command, and goes on for the first time.
    [[nodiscard]] bool continues(std::uint64_t row);
    /// The counts at the end of a round, as those of the command up to now.
    [[nodiscard]] batch_counts add(batch_counts of_round);

private:
    std::vector<std::uint64_t> begun_before_; ///< numbers of rows that were not finished
    std::vector<bool> goes_on_;               ///< of these: counted
    ports::step_spending spent_before_;       ///< by earlier processes
    std::optional<batch_counts> up_to_now_;   ///< of the command; nothing: no round has ended
};

} // namespace heddle::cli
