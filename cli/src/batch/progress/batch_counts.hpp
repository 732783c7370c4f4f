// How far a batch has come.
#pragma once

#include "batch/progress/start_gate.hpp"

#include <heddle/ports/run_journal.hpp>
#include <heddle/setup/display_text.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace heddle::cli {

inline constexpr const char* waits_for_resume = "'heddle runs resume'";

/// For progress and the summary. Rows are those of the whole run unless noted otherwise.
struct batch_counts {
    /// Rows of the input and, once it was read to its end, finished ones that it does not have.
    std::optional<std::uint64_t> total;
    bool total_is_estimate = false;
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
    std::uint64_t rejected = 0;   ///< rows that could not be read or bound
    std::uint64_t kept = 0;       ///< of all of these: by earlier processes
    std::uint64_t absent = 0;     ///< of these: not in the input; 0 until it was read to its end
    std::uint64_t continued = 0;  ///< rows of this process that had begun before
    std::uint64_t changed = 0;    ///< finished rows whose text is another one now
    std::uint64_t maybe_paid = 0; ///< requests of the run whose responses were lost
    std::uint64_t waiting = 0;    ///< rows of this process that wait: for people, or for batches
    std::uint64_t asking = 0;     ///< of these, rows that wait for answers of people only
    std::uint64_t parked = 0;     ///< requests that wait for a batch, or for its end
    std::uint64_t in_progress = 0;
    std::uint64_t on_the_wire = 0;   ///< calls of models that wait for a response
    std::uint64_t limited = 0;       ///< calls that wait for a limit of their service or account
    std::uint64_t cached = 0;        ///< calls of this process that needed no request
    std::string cached_from;         ///< "from the journal or the cache"
    std::uint64_t retrying = 0;      ///< waiting for a further attempt
    std::uint64_t retried = 0;       ///< further attempts of this process
    std::uint64_t to_write = 0;      ///< ended, and not in the output yet
    ports::step_spending spent;      ///< by all processes
    ports::step_spending spent_now;  ///< by this one
    std::optional<double> mean_cost; ///< of a row
    std::optional<double> budget_usd;
    bool bound_was_lifted = false; ///< of cost or calls: it has left rows before it was changed
    std::string loading;           ///< the program, as long as no row can begin; or empty
    std::string waits_for; ///< "the budget", "a service that is down; next try in 8 s"; or empty

    [[nodiscard]] std::uint64_t ended() const noexcept { return done + failed + rejected; }
    [[nodiscard]] std::uint64_t ended_now() const noexcept { return ended() - kept; }
    /// Rows that are not done; nothing while the total is not known.
    [[nodiscard]] std::optional<std::uint64_t> left() const noexcept {
        if (!total) return std::nullopt;
        return *total > ended() ? *total - ended() : 0;
    }
};

} // namespace heddle::cli
