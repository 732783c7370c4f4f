// From rows that have ended to the files of results.
#pragma once

#include "console.hpp"

#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/ports/run_journal.hpp>
#include <heddle/ports/tree_port.hpp>
#include <heddle/rows/dead_letters.hpp>
#include <heddle/rows/result_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

/// A row that has ended, which the journal keeps already.
struct ended_row {
    rows::row_result result;
    std::optional<rows::dead_letter> letter; ///< of one without a value
};

/// The memory that it takes, roughly.
[[nodiscard]] std::size_t bytes_of(const ended_row& row) noexcept;

/// Writes results in batches on a worker, flushes them, and notes in the journal what is written: a
/// process that continues the run writes what is missing. Nothing is in a file twice, since its end
/// is cut off there; in a pipe, at most `max_batch` results are after a crash, behind a line that
/// may be broken. Threads: the loop's.
class result_emitter {
public:
    static constexpr std::size_t max_batch = 1000; ///< results
    /// All of it outlives the emitter.
    struct parts {
        ports::worker_port& workers;
        ports::run_journal* journal = nullptr; ///< null: nothing is noted
        rows::result_writer& results;
        rows::dead_letter_writer* letters = nullptr; ///< null: rows without a value are dropped
        console& output;
        /// Keeps what describes the file of results (mark_of_output), before the journal notes that
        /// they are there; empty: nobody does.
        std::function<result<void>(std::string mark)> keep_mark;
        std::string file; ///< of the results, for that
        /// Of a stream: notes in the journal that a batch is being written, or that all are whole;
        /// empty: nothing is noted.
        std::function<result<void>(bool begins)> note_writing;
        std::function<void()> on_change; ///< there is room again, or writing has failed
        bool holds_status = false;       ///< results go to the terminal that shows the status
        bool is_stream = false;          ///< what was written there cannot be cut off
        bool ordered = false;            ///< by position
        bool errors_in_output = false;
    };
    explicit result_emitter(parts of) : of_(std::move(of)) {}

    /// `position`: of the row in the input of this process, without gaps with `ordered`.
    void put(std::uint64_t position, ended_row row);
    /// Nothing is to be written for the row at that position.
    void pass(std::uint64_t position);
    /// Writes until close() and nothing is left that can be written. Errors: as result_writer; what
    /// waits then stays in the journal.
    [[nodiscard]] coro::task<result<void>> run(coro::call_context context);
    /// Nothing more comes.
    void close() noexcept;

    /// Whether a further row may start: little waits, in rows and in bytes, and with `ordered` it
    /// is at most `window` ahead of the next one. The next one itself always may.
    [[nodiscard]] bool has_room(std::uint64_t position, std::uint64_t window) const noexcept;
    /// Whether rows wait for the output rather than for one another.
    [[nodiscard]] bool is_full() const noexcept;
    [[nodiscard]] std::size_t waiting() const noexcept { return ready_.size() + later_.size(); }
    [[nodiscard]] std::uint64_t written() const noexcept { return written_; }
    [[nodiscard]] const std::optional<error>& failure() const noexcept { return failure_; }

private:
    void release();
    [[nodiscard]] std::vector<ended_row> take_batch();
    [[nodiscard]] result<void> write(std::vector<ended_row> batch);

    parts of_;
    coro::wait_point changed_;
    std::deque<ended_row> ready_;
    std::size_t ready_bytes_ = 0;
    std::size_t later_bytes_ = 0;
    std::map<std::uint64_t, std::optional<ended_row>> later_; ///< `ordered`: behind a gap
    std::uint64_t next_ = 0;                                  ///< `ordered`: position
    std::uint64_t written_ = 0;
    bool closed_ = false;
    std::optional<error> failure_;
};

} // namespace heddle::cli
