// The files of a batch in one process: the run in its directory, if it is kept, and the output.
#pragma once

#include "application.hpp"
#include "batch/batch_outputs.hpp"
#include "batch/batch_request.hpp"
#include "batch/program_edition.hpp"
#include "batch/row_sessions.hpp"
#include "batch/run_identity.hpp"
#include "batch/run_manifest.hpp"
#include "batch/start_gate.hpp"
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
    };
    explicit run_files(const parts& of) : of_(of), outputs_(of.asked) {}

    /// Whether the command writes to no file that it reads. Errors: invalid_argument.
    [[nodiscard]] result<void> check_names() const;
    /// Opens the run, if it is kept, and the files of the output. Result: the rows of the journal.
    /// Errors: what the command refuses; io_error.
    [[nodiscard]] coro::task<result<std::vector<ports::known_row>>> open(
        coro::call_context context);

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
    [[nodiscard]] batch_outputs& outputs() noexcept { return outputs_; }
    [[nodiscard]] const program_edition& edition() const noexcept { return edition_; }
    /// What earlier processes of the run have used.
    [[nodiscard]] const earlier_rows& earlier() const noexcept { return earlier_; }
    /// The digest of the program of this process, for `run`.
    [[nodiscard]] std::string digest_now(run_manifest& run) const;

private:
    [[nodiscard]] coro::task<result<std::vector<ports::known_row>>> open_all(
        coro::call_context context);
    /// Nothing is left of a run that was refused before it began.
    void remove_made_folder();
    [[nodiscard]] opened_files opened() noexcept;
    [[nodiscard]] result<void> open_run();
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
    bool has_made_folder_ = false;   ///< in this process
    bool is_foreign_output_ = false; ///< it is replaced (--force)
    program_edition edition_;
    earlier_rows earlier_;
    batch_outputs outputs_;
    std::uint64_t outdated_ = 0;
};

} // namespace heddle::cli
