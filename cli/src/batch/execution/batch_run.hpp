// A batch under way: rows in, results out.
#pragma once

#include "batch/execution/first_rows.hpp"
#include "batch/execution/service_outages.hpp"
#include "batch/progress/batch_counts.hpp"
#include "batch/progress/failure_table.hpp"
#include "batch/progress/start_gate.hpp"
#include "batch/request/run_limits.hpp"
#include "batch/results/result_emitter.hpp"
#include "batch/rows/batch_parts.hpp"
#include "batch/rows/end_guard.hpp"
#include "batch/rows/known_table.hpp"
#include "batch/rows/row_attempt.hpp"
#include "batch/rows/row_job.hpp"
#include "batch/run_folder/program_edition.hpp"
#include "batch/threads/row_workers.hpp"
#include "parking/parking_lot.hpp"

#include <heddle/coro/nursery.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/rows/row_feed.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

/// Takes rows from the feed, leaves out those that the run has finished, starts the others as the
/// bounds allow, keeps how they ended in the journal, and hands them to the emitter. Threads: the
/// loop's.
class batch_run {
public:
    /// All of it outlives the run.
    struct parts : batch_parts {
        rows::row_feed& feed;
        ports::run_journal* journal = nullptr; ///< null: nothing is kept
        known_table& known;
        result_emitter& emitter;
        std::function<void(std::string)> say; ///< a line for people
        std::uint64_t seed = 0;               ///< of the run
        program_edition edition{};
        earlier_rows earlier{};            ///< what the run has used before this process
        parking_lot* parking = nullptr;    ///< null: requests do not wait for batches
        row_workers* workers = nullptr;    ///< null: rows are executed on the loop of the run
        std::function<void()> on_cancel{}; ///< `heddle runs cancel` has asked for the end
        coro::deadline until{};            ///< no row starts later
        std::uint64_t rows_failed = 0;     ///< before, that count for --on-error stop-after
        /// Whether a row that has begun, and goes on, is counted as continued; empty: each is.
        std::function<bool(std::uint64_t)> is_continued{};
    };
    explicit batch_run(parts of);

    /// Works until all rows have ended or none starts any more, and what is in flight has ended.
    /// Errors: of the journal or the input, and of the program where a session cannot be made.
    [[nodiscard]] coro::task<result<void>> run();

    /// No further row starts; what is in flight is cancelled after `grace`.
    void drain(stop_cause cause, std::chrono::milliseconds grace);
    /// Ends what is in flight.
    void cancel_rows() noexcept;
    void pause(bool paused);
    void set_limits(const run_limits& limits);
    /// Looks again at whether a row may start.
    void wake() noexcept { changed_.notify(); }

    [[nodiscard]] batch_counts counts() const;
    [[nodiscard]] const start_gate& gate() const noexcept { return gate_; }
    [[nodiscard]] const failure_table& failures() const noexcept { return failures_; }
    /// Why no row can run with the settings of models; nothing: they can.
    [[nodiscard]] const std::optional<std::string>& settings_failure() const noexcept {
        return settings_failure_;
    }
    /// Why none of the first rows could run; nothing: one can.
    [[nodiscard]] const std::optional<error>& columns_failure() const noexcept {
        return columns_failure_;
    }
    /// Whether a row has started or ended in this process.
    [[nodiscard]] bool has_started() const noexcept {
        return has_started_ || counted_.ended_now() != 0;
    }
    /// Whether rows of the input are not done.
    [[nodiscard]] bool has_rows_left() const noexcept;
    /// The input could not be read to its end.
    [[nodiscard]] bool ends_early() const noexcept { return input_failure_.has_value(); }
    /// Rows that a retry has left to a command without one.
    [[nodiscard]] std::uint64_t rows_waiting() const noexcept { return waiting_; }
    /// Whether all rows that are left wait, and not only for people.
    [[nodiscard]] bool only_waits() const noexcept {
        return input_ended_ && !input_failure_ && !next_ && retries_.empty() && held_.empty() &&
               counted_.waiting != counted_.asking && unfinished_ == counted_.waiting;
    }
    /// How many rows of the input were taken.
    [[nodiscard]] std::uint64_t rows_taken() const noexcept { return positions_; }

private:
    struct held_job {
        std::unique_ptr<row_job> job;
        row_outcome outcome;
    };

    /// Whether the row has ended and is not to run again, as far as it is known without the input.
    [[nodiscard]] bool counts_as_finished(const ports::known_row& row) const noexcept;
    /// The input was read to its end.
    void note_input_end();
    /// `rows`: takes what waits for the journal.
    [[nodiscard]] coro::task<result<void>> read_more(coro::nursery& rows);
    [[nodiscard]] coro::task<result<void>> emit_earlier();
    /// A job for the row, or nothing when there is nothing to do for it. `problem`: of one that is
    /// to be rejected.
    [[nodiscard]] coro::task<result<std::unique_ptr<row_job>>> admit(rows::row_item item,
                                                                     std::optional<error> problem,
                                                                     coro::nursery& rows);
    /// The first of kept_ends_ from that row on.
    [[nodiscard]] std::deque<ports::row_end>::iterator kept_end_of(std::uint64_t row);
    /// Reads kept_ends_ from that row on, unless it has the row.
    [[nodiscard]] coro::task<result<void>> find_kept(std::uint64_t row);
    [[nodiscard]] coro::task<result<void>> emit_kept(const ports::known_row& known,
                                                     rows::row_item item, std::uint64_t position);
    [[nodiscard]] result<void> reject(rows::row_item item, const known_table::match& found,
                                      std::uint64_t position, row_outcome outcome,
                                      coro::nursery& rows);
    /// What the journal has of a row that is rejected now.
    struct earlier_work {
        bool is_known = false;
        bool was_begun = false; ///< and not ended
    };
    /// Keeps the end of a rejected row, together with those of others.
    [[nodiscard]] coro::task<result<void>> end_rejected(ended_row row, earlier_work earlier,
                                                        std::uint64_t position, end_guard waiting);
    /// Adds what earlier processes have used for the row. `was_begun`: an attempt may be open,
    /// which ends now.
    [[nodiscard]] coro::task<result<void>> add_earlier_work(ports::row_end* to, bool was_begun);
    /// Whether a further row may be rejected: not too many wait for the journal.
    [[nodiscard]] bool may_reject() const noexcept;
    [[nodiscard]] result<void> prepare(row_job& job, const ports::known_row* known);
    /// The next row that may start now; null: none may.
    [[nodiscard]] std::unique_ptr<row_job> next_to_start();
    /// A bound is used up: a row whose responses may all be known. Others are left.
    [[nodiscard]] std::unique_ptr<row_job> next_to_reuse();
    /// The row does not run while that bound is used up.
    void leave(std::unique_ptr<row_job> job);
    /// Such a row is the next one, if the bound was changed since.
    void take_left();
    void start(coro::nursery& rows, std::unique_ptr<row_job> job);
    /// A row that began in an earlier process goes on.
    void count_continued(const row_job& job);
    [[nodiscard]] coro::task<result<void>> work(std::unique_ptr<row_job> job,
                                                end_guard in_progress);
    /// The batch ends, since something else than a row has failed.
    void break_off() noexcept;
    [[nodiscard]] coro::task<result<row_outcome>> attempt(row_job& job);
    /// Calls main with the row, in that session or else on another thread. `log`: may be null.
    [[nodiscard]] coro::task<result<row_outcome>> execute(row_job& job,
                                                          std::unique_ptr<row_session> with,
                                                          std::shared_ptr<setup::row_log> log,
                                                          coro::deadline until,
                                                          coro::cancel_source& ending);
    /// Whether a row of an earlier program asks a model something new, as a plan finds it: such a
    /// row keeps what it has until it may ask. Errors: of the journal and the program.
    [[nodiscard]] coro::task<result<bool>> would_ask(const row_job& job);
    /// A further attempt at a row whose records do not fit, because another number of branches ran
    /// at once or a race went out otherwise: the records are used as after an edit.
    [[nodiscard]] coro::task<result<row_outcome>> start_over(row_job& job, row_outcome misfit);
    /// What is replayed of the earlier executions of a row.
    [[nodiscard]] coro::task<result<std::vector<ports::step_record>>> read_records(
        row_job& job, lang::heap& memory);
    /// What is left of them under the program, or the text of the row, as it is now.
    [[nodiscard]] coro::task<result<std::vector<ports::step_record>>> revise(row_job& job,
                                                                             lang::heap& memory);
    /// A request that was under way when an earlier process ended.
    void note_found_lost(row_job& job, ports::step_record record);
    [[nodiscard]] coro::task<result<void>> settle(std::unique_ptr<row_job> job,
                                                  row_outcome outcome);
    [[nodiscard]] coro::task<result<void>> end(std::unique_ptr<row_job> job, row_outcome outcome);
    enum class held_rows : std::uint8_t { all, answered };
    /// Rows that a service has failed end so: all, or those whose services have answered since.
    [[nodiscard]] coro::task<result<void>> settle_held(held_rows which);
    /// `goes_on`: a later process continues the attempt.
    void note_work(const row_job& job, bool goes_on);
    void retry_later(std::unique_ptr<row_job> job);
    void note_waiting(std::uint64_t position);
    void note_outage(std::unique_ptr<row_job> job, row_outcome outcome);
    /// The outage in which the row has failed is over. False: it has failed in too many, or another
    /// one has begun; `job` is left.
    [[nodiscard]] bool retry_after_outage(std::unique_ptr<row_job>& job);
    /// Counts the outage for the row. False: they are too many.
    [[nodiscard]] bool note_outage_of(row_job& row) noexcept;
    /// Rows that a service failed wait for it to be back.
    void release_held();
    /// The services that rows wait for count as down. Whether one did not before.
    [[nodiscard]] bool open_for_held();
    /// For next_, or else for a row that is yet to be read.
    [[nodiscard]] bool has_room() const noexcept;
    /// Whether a row of this process is done.
    [[nodiscard]] bool has_done_rows() const noexcept { return counted_.done != done_before_; }
    [[nodiscard]] coro::task<void> wait_for_change();
    /// By this process, rows in progress included.
    [[nodiscard]] ports::step_spending spent_now() const;
    [[nodiscard]] coro::call_context context() noexcept;

    parts of_;
    start_gate gate_;
    service_outages services_;
    std::int64_t longest_output_ = 0;     ///< tokens of the longest response of the run
    ports::step_spending lost_responses_; ///< what those of requests may have cost that were ended
    /// When a service that was down answered again; the beginning of time: none has been down.
    coro::clock::time_point back_at_ = coro::clock::time_point::min();
    std::uint64_t outages_ = 0; ///< how often rows were held back for a service
    failure_table failures_;
    std::optional<std::string> settings_failure_;
    first_rows first_rows_;
    std::optional<error> columns_failure_;
    coro::cancel_source reading_;
    coro::cancel_source rows_;
    coro::wait_point changed_;
    std::optional<coro::clock::time_point> grace_until_;

    std::deque<rows::row_item> read_; ///< read, and not looked at yet
    bool input_ended_ = false;
    std::optional<error> input_failure_; ///< where the input ended before its end
    bool has_started_ = false;
    bool has_reported_misfit_ = false;
    bool has_responses_ = false; ///< rows of earlier processes may need no further request
    stop_cause used_up_ = stop_cause::none;     ///< only such rows run since then
    std::deque<std::unique_ptr<row_job>> left_; ///< in unfinished_: they start if it is lifted
    std::size_t left_bytes_ = 0;
    bool changed_after_stop_ = false;            ///< the bound that has stopped the batch
    bool has_dropped_ = false;                   ///< rows were left that did not fit into left_
    stop_cause last_used_up_ = stop_cause::none; ///< also after it was lifted
    bool broken_ = false;                        ///< a row has met an error that ends the batch
    std::unique_ptr<row_job> next_;              ///< admitted, and waiting to start
    std::deque<std::unique_ptr<row_job>> retries_;
    std::vector<held_job> held_; ///< failed by a service that may be down for all
    struct {
        std::size_t rows = 0;
        std::size_t bytes = 0;
    } rejected_; ///< whose ends wait for the journal
    /// Finished before, and not written: all of them, or some that are next to each other.
    std::deque<ports::row_end> kept_ends_;
    bool has_all_kept_ends_ = false;
    std::size_t kept_hits_ = 0;     ///< rows found in kept_ends_ since it was read
    std::uint64_t done_before_ = 0; ///< by earlier processes
    std::uint64_t positions_ = 0;
    std::uint64_t unfinished_ = 0; ///< admitted rows that were cancelled
    std::uint64_t waiting_ = 0;    ///< not to be run by a retry of another program
    batch_counts counted_;
    std::optional<std::uint64_t> total_;
};

} // namespace heddle::cli
