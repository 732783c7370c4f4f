// The files of a batch in one process: the run in its directory, if it is kept, and the output.
#pragma once

#include "application.hpp"
#include "batch/progress/start_gate.hpp"
#include "batch/request/batch_request.hpp"
#include "batch/request/run_manifest.hpp"
#include "batch/results/batch_outputs.hpp"
#include "batch/rows/row_sessions.hpp"
#include "batch/run_folder/program_edition.hpp"
#include "batch/run_folder/run_identity.hpp"
#include "batch/run_folder/top_level_store.hpp"
#include "console.hpp"

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/run_journal.hpp>
#include <heddle/ports/tree_port.hpp>
#include <heddle/setup/environment.hpp>
#include <heddle/store/run_store.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

/// Opens the run that a batch begins or continues, makes its journal, manifest and output agree
/// with each other and with the program, and brings the output in order at the end. Threads: the
/// loop's.
class run_files {
public:
    /// All of it outlives the object. `asked` also takes what the run demands of the command;
    /// `text` is that of the workflow; `workers` read and write the journal.
    struct parts {
        batch_request& asked;
        const std::vector<std::string>& arguments;
        const std::string& text;
        application& tools;
        const row_sessions& sessions;
        ports::worker_port& workers;
        console& output;
        const setup::environment& variables;
        /// Of the run, as an earlier round of the command has left it; null: begin() takes it.
        std::shared_ptr<store::run_hold>& hold;
    };
    explicit run_files(const parts& of) : of_(of), outputs_(of.asked) {}

    /// Opens the run, if it is kept, so that no other process works on it while the hold is there.
    /// To be called before the program is evaluated. Errors: what the command refuses; io_error.
    [[nodiscard]] coro::task<result<void>> begin(coro::call_context context);
    /// What the top level got in earlier processes, as begin() has found it.
    [[nodiscard]] const top_level_store& top_levels() const noexcept { return top_levels_; }
    /// Whether the command writes to no file that it reads. Errors: invalid_argument.
    [[nodiscard]] result<void> check_names() const;
    /// Makes the run, if it is kept, agree with the program, and opens the files of the output.
    /// Result: the rows of the journal. Errors: what the command refuses; io_error.
    [[nodiscard]] coro::task<result<std::vector<ports::known_row>>> open(
        coro::call_context context);
    /// The rows cannot begin: nothing is left of a run that is new, and one that is open notes the
    /// end.
    void give_up(batch_end end);

    /// How the rows ended.
    struct ending {
        bool rows_left = false;
        bool output_failed = false;
        std::uint64_t rows_taken = 0; ///< of the input
    };
    /// Brings the output of a run that is kept in order: letters of rows that are done now, files
    /// that take the place of earlier ones. Errors: io_error, of the journal.
    [[nodiscard]] coro::task<result<void>> finish(ending how, coro::call_context context);
    /// Rows whose results are those of an earlier version of the program, as finish() has seen.
    [[nodiscard]] std::uint64_t outdated() const noexcept { return outdated_; }

    /// Null: nothing is kept, or open() has not been called.
    [[nodiscard]] store::run_store* journal() noexcept { return journal_.get(); }
    [[nodiscard]] const run_manifest& manifest() const noexcept { return manifest_; }
    /// Notes in the manifest how the process ends. Errors: io_error.
    [[nodiscard]] result<void> note_end(batch_end end);
    /// Notes in the manifest that requests of the run are parked. Errors: io_error.
    [[nodiscard]] result<void> note_parking();
    /// What `heddle runs set` has changed and what earlier processes were asked for, for the
    /// command; `manifest` is that of the run. Reports it.
    void take_settings(run_manifest& manifest);
    /// Notes what `heddle runs set` has changed, for later processes. Errors: io_error.
    [[nodiscard]] result<void> note_limits(const run_limits& limits);
    [[nodiscard]] batch_outputs& outputs() noexcept { return outputs_; }
    [[nodiscard]] const program_edition& edition() const noexcept { return edition_; }
    /// What earlier processes of the run have used.
    [[nodiscard]] const earlier_rows& earlier() const noexcept { return earlier_; }
    /// For people: what the top level reads that is another than before, if nothing else is.
    void note_change(std::string what) { change_ = std::move(what); }
    /// The digest of the program of this process, for `run`, whose digests take the same form.
    [[nodiscard]] std::string digest_now(run_manifest& run);

private:
    [[nodiscard]] coro::task<result<std::vector<ports::known_row>>> open_all(
        coro::call_context context);
    [[nodiscard]] program_digests digests_now(run_manifest& run);
    /// Keeps what the top level got, before the first row runs.
    [[nodiscard]] coro::task<result<void>> keep_top_level(coro::call_context context);
    [[nodiscard]] opened_files opened() noexcept;
    [[nodiscard]] result<void> open_run();
    [[nodiscard]] result<void> hold_folder(const std::string& folder);
    [[nodiscard]] coro::task<result<std::vector<ports::known_row>>> open_journal_rows(
        coro::call_context context);
    [[nodiscard]] coro::task<result<void>> match_output(coro::call_context context);
    [[nodiscard]] coro::task<result<void>> note_program(std::vector<ports::known_row>& known,
                                                        coro::call_context context);
    [[nodiscard]] coro::task<result<void>> restore_output(std::vector<ports::known_row>& known,
                                                          coro::call_context context);

    parts of_;
    std::unique_ptr<store::run_store> journal_;
    run_manifest manifest_;
    bool continues_ = false;
    bool has_made_folder_ = false; ///< in this process
    bool is_open_ = false;
    top_level_store top_levels_;
    std::string broken_stream_; ///< where the last process was writing results when it was killed
    std::optional<imported_texts> imports_; ///< nothing: not asked for yet
    bool is_foreign_output_ = false;        ///< it is replaced (--force)
    program_edition edition_;
    std::string change_; ///< for people, of what the top level reads
    earlier_rows earlier_;
    std::optional<batch_end> end_before_; ///< where this process only cancels batches
    batch_outputs outputs_;
    std::uint64_t outdated_ = 0;
};

} // namespace heddle::cli
