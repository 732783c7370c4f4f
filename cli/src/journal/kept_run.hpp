// `heddle run --run DIR`: what a single run has done, kept in a directory.
#pragma once

#include "application.hpp"
#include "batch/request/run_manifest.hpp"
#include "journal/replayed_steps.hpp"
#include "journal/run_records.hpp"
#include "journal/run_sources.hpp"

#include <heddle/host/row_history.hpp>
#include <heddle/host/session.hpp>
#include <heddle/setup/environment.hpp>
#include <heddle/setup/journal/row_log.hpp>
#include <heddle/store/run_store.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

/// How a run or a row has ended; empty: it goes on later.
struct run_end {
    std::optional<std::string> value_json;
    std::optional<std::string> error_json;
    std::string message;       ///< of the error
    std::string step_message;  ///< of the error: setup::message_of_step
    host::attempt_end attempt; ///< of the error
};
/// A value that has no JSON form is its written form. A FAILED result is an error.
[[nodiscard]] run_end end_of_run(const result<lang::value>& ended, const source_map& places);

/// What a process does with the run.
enum class run_use : std::uint8_t {
    work,         ///< begins or continues it
    report_again, ///< it has ended: prints what it printed, and asks nobody
    replay        ///< shows its steps
};

/// What `heddle run` was asked about the run.
struct kept_run_request {
    std::string folder;
    std::string program;                ///< the workflow as it was named
    std::vector<std::string> arguments; ///< of the command line
    std::vector<std::string> inputs;    ///< among them: NAME=VALUE
    setup::environment variables;
    bool retry_failed = false;
    std::uint64_t seed = 0; ///< 0: any
    run_use use = run_use::work;
    std::function<void(const ports::step_record&)> on_replayed; ///< may be empty
    /// Called with the journal before it is read; may be empty. Errors: those of open().
    std::function<coro::task<result<void>>(store::run_store&, ports::worker_port&)> on_journal;
};

/// A run with one row: the evaluation of the program and the call of main. One process at a time
/// works on it. Threads: the loop's.
class kept_run {
public:
    /// How the run in the directory has ended: done, failed; nothing: it has not, or there is none.
    /// Makes nothing; blocks. Errors: there is something else than such a run, or a damaged one.
    [[nodiscard]] static result<std::optional<ports::row_status>> status_of(
        const std::string& folder);
    /// The entries that were noted of a run. Blocks. Errors: as store::open_run_store.
    [[nodiscard]] static result<std::vector<store::manifest_entry>> entries_of(
        const std::string& folder);

    explicit kept_run(kept_run_request asked) : asked_(std::move(asked)) {}

    /// Opens the directory, and makes it where there is none. `now`: sources and settings of this
    /// process. Where they have changed, the run begins anew with the responses that it has.
    /// Errors: another process, as store::open_run_store.
    [[nodiscard]] coro::task<result<void>> open(application* tools, host::session* session,
                                                const run_sources* now);
    /// For the evaluation of the program. Valid as long as this.
    [[nodiscard]] host::step_log* top() noexcept { return top_.log(); }
    /// For the call of main, once that evaluation has ended. Errors: io_error of the journal.
    [[nodiscard]] coro::task<result<host::step_log*>> begin_main();
    /// Notes what was imported since the last call.
    void note_imports(const import_notes& found);
    /// Notes how the run has ended; returns once everything is kept. Errors: io_error of the
    /// journal.
    [[nodiscard]] coro::task<result<void>> end(run_end how);

    [[nodiscard]] const std::string& folder() const noexcept { return asked_.folder; }
    [[nodiscard]] run_use use() const noexcept { return asked_.use; }
    [[nodiscard]] const run_manifest& manifest() const noexcept { return manifest_; }
    /// Before open(). See kept_run_request::on_journal.
    void set_on_journal(
        std::function<coro::task<result<void>>(store::run_store&, ports::worker_port&)> call) {
        asked_.on_journal = std::move(call);
    }
    /// Notes in the manifest that requests of the run are parked. Errors: io_error.
    [[nodiscard]] result<void> note_parking();
    /// The run has ended because all that it waits for is parked.
    [[nodiscard]] bool is_parked() const noexcept;
    /// It has ended, and goes on as another version of the program. Before open().
    void work_again() noexcept { asked_.use = run_use::work; }
    /// What people read when it begins, without an end of line; empty: it is new.
    [[nodiscard]] const std::string& greeting() const noexcept { return greeting_; }
    /// The steps at which a replay has ended because they are not recorded; empty: it has not.
    [[nodiscard]] std::string missing() const;
    /// Of a replay: whether the run had another value, or ended in the other way, when it ran.
    [[nodiscard]] bool differs_from_record(const run_end& now) const;

private:
    /// One of the two evaluations.
    struct phase {
        std::optional<setup::row_log> kept;
        std::optional<replayed_steps> replayed;
        [[nodiscard]] host::step_log* log() noexcept {
            if (kept) return &*kept;
            return replayed ? &*replayed : nullptr;
        }
    };
    [[nodiscard]] result<void> open_journal_of(const run_sources& now);
    [[nodiscard]] coro::task<result<std::string>> changes(const run_sources* now);
    [[nodiscard]] coro::task<result<void>> count_earlier();
    [[nodiscard]] coro::task<result<void>> revise(bool has_failed);
    [[nodiscard]] coro::task<result<void>> begin(const run_sources* now);
    [[nodiscard]] coro::task<result<run_records>> read_records();
    [[nodiscard]] std::string greeting_for(const std::string& changed,
                                           const std::optional<store::run_row>& row,
                                           std::uint64_t answers) const;
    void begin_phase(phase& which, std::uint64_t evaluation,
                     std::vector<ports::step_record> records);
    /// A request that was under way when an earlier process ended.
    void note_lost(ports::step_record record);
    /// What the run has taken in all processes, without the attempt that is under way.
    [[nodiscard]] ports::row_work work_so_far() const;
    [[nodiscard]] coro::call_context context() const noexcept { return {loop_, nullptr, {}}; }

    kept_run_request asked_;
    coro::event_loop* loop_ = nullptr;
    host::session* session_ = nullptr;
    std::unique_ptr<ports::worker_port> workers_;
    std::unique_ptr<store::run_store> journal_;
    run_manifest manifest_;
    bool continues_ = false;
    std::vector<store::manifest_entry> noted_before_;
    std::string greeting_;
    std::optional<ports::row_end> recorded_end_; ///< of a replay
    std::vector<std::string> noted_imports_;
    bool has_responses_ = false;      ///< that calls of the evaluation may use
    std::int64_t longest_output_ = 0; ///< tokens of the longest response of the run
    phase top_;
    phase main_;
    coro::clock::time_point began_;
    ports::step_spending newly_lost_; ///< since the last count_earlier()
    bool has_counted_ = false;
    ports::row_work before_; ///< in earlier processes
};

} // namespace heddle::cli
