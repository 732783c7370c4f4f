// The steps of a replay, as lines.
#pragma once

#include "batch/run_folder/run_command.hpp"
#include "console.hpp"
#include "journal/kept_run.hpp"

#include <heddle/coro/cancel.hpp>
#include <heddle/host/session.hpp>
#include <heddle/ports/run_journal.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace heddle::cli {

/// What `heddle runs replay` was asked.
struct replay_request {
    std::string run;                  ///< its folder, or its output file
    std::string row;                  ///< id or number
    std::optional<std::string> until; ///< the number of a step, or the beginning of its path
    bool json = false;
    command_request command; ///< of the run
};

/// How a replay has ended.
struct replay_end {
    run_end row;
    std::string missing;  ///< steps that are not recorded, by their names; empty: none was met
    bool differs = false; ///< the row ended in another way, or with another value, when it ran
};

/// Prints a line for each step as it takes effect. Threads: the loop's.
class step_trace {
public:
    /// `output` outlives the trace. `asked.until`: was checked by problem_of_until().
    step_trace(const replay_request& asked, console& output);
    /// What is wrong with --until; nothing if it can name a step.
    [[nodiscard]] static std::optional<std::string> problem_of_until(const std::string& text);

    /// Where answers are decoded, and what ends at --until. Both outlive the trace.
    void attach(host::session& session, coro::cancel_source& run) noexcept {
        session_ = &session;
        run_ = &run;
    }
    void show(const ports::step_record& record);
    /// The last line. Result: false when the replay did not come to the end of its records, or to
    /// another one than the row.
    [[nodiscard]] bool end(const replay_end& how) const;
    /// The step of --until has taken effect.
    [[nodiscard]] bool has_come() const noexcept { return has_come_; }

private:
    [[nodiscard]] bool is_wanted(const std::string& path) const;

    const bool json_;
    console& output_;
    host::session* session_ = nullptr;
    coro::cancel_source* run_ = nullptr;
    std::optional<std::uint64_t> until_step_;
    std::string until_path_;
    std::uint64_t steps_ = 0;
    bool has_come_ = false;
};

} // namespace heddle::cli
