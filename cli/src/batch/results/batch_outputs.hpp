// The files that a batch writes.
#pragma once

#include "batch/request/batch_files.hpp"
#include "batch/request/batch_request.hpp"
#include "batch/request/run_manifest.hpp"

#include <heddle/base/error.hpp>
#include <heddle/rows/dead_letters.hpp>
#include <heddle/rows/result_writer.hpp>
#include <heddle/store/run_store.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace heddle::cli {

/// Results and dead letters of a run. After an edit of the program they are written to files
/// beside the earlier ones (results.new.jsonl), which take their places once all rows have run
/// again: until then the earlier results are there, whole. Each of the two for itself: what is no
/// file of its own, as a device, is written to in any case. Threads: the loop's.
class batch_outputs {
public:
    /// `asked` outlives it.
    explicit batch_outputs(const batch_request& asked) : asked_(asked) {}

    /// All files that may be written, now or after an edit, for check_written_files().
    [[nodiscard]] std::vector<named_file> written_files() const;
    /// The same files, and the folder of the run.
    [[nodiscard]] std::vector<std::string> own_files() const;
    /// Whether the files beside may be made, and take their places in the end; nothing is changed.
    /// To be called before rows are outdated. `manifest`: of the run that goes on. Errors:
    /// io_error, invalid_argument for files of somebody else.
    [[nodiscard]] result<void> check(store::output_phase phase, bool will_be_outdated,
                                     const run_manifest& manifest) const;
    /// What a crash has left undone. `journal` outlives this. `known`: the rows of the journal,
    /// which are not emitted any more where results got lost. Errors: io_error.
    [[nodiscard]] coro::task<result<void>> mend(store::run_store& journal,
                                                std::vector<ports::known_row>& known,
                                                coro::call_context context);
    /// Whether a file beside was deleted that had results or letters of those rows.
    [[nodiscard]] bool has_lost_files(const std::vector<ports::known_row>& known) const;
    /// Whether the file of dead letters is missing although it had letters of those rows, so that
    /// they are to be written again. For the file beside the lasting one see has_lost_files().
    [[nodiscard]] bool has_lost_letters(const std::vector<ports::known_row>& known) const;
    /// Opens the files. `journal`: null where nothing is kept; outlives this. `manifest`: of the
    /// run, as it was read if it `continues`; names the dead letters from now on. `known`: the rows
    /// of the journal. `broken_stream`: where writing was interrupted, see rows::output_target.
    /// Errors: as result_writer::open.
    [[nodiscard]] result<void> open(store::run_store* journal, run_manifest& manifest,
                                    bool continues, const std::vector<ports::known_row>& known,
                                    const std::string& broken_stream);
    [[nodiscard]] rows::result_writer& results() noexcept { return *results_; }
    /// Null: rows without a result are dropped.
    [[nodiscard]] rows::dead_letter_writer* letters() noexcept { return letters_.get(); }
    /// Whether letters were there when the files were opened.
    [[nodiscard]] bool had_letters() const noexcept { return had_letters_; }
    void close_results() noexcept;

    /// Drops letters of rows that have none any more. Errors: io_error.
    [[nodiscard]] result<void> tidy(const std::vector<ports::known_row>& known);
    /// Whether results or letters go to a file beside the lasting one.
    [[nodiscard]] bool are_beside() const;
    /// The files beside take their places. The journal notes it. Errors: io_error, also when one of
    /// them was deleted: the next process writes it again.
    [[nodiscard]] coro::task<result<void>> replace(coro::call_context context);

    /// Whether the file that results beside take the place of is missing.
    [[nodiscard]] bool lacks_earlier_results() const;
    /// Where results and letters are written.
    [[nodiscard]] std::string result_file() const;
    [[nodiscard]] std::string letter_file() const;

private:
    [[nodiscard]] bool is_rewritten() const noexcept;
    [[nodiscard]] rows::result_output results_in(const std::string& file) const;
    /// Both files take their places. Result: whether the results are there.
    [[nodiscard]] result<bool> take_places() const;

    const batch_request& asked_;
    store::run_store* journal_ = nullptr;
    std::unique_ptr<rows::result_writer> results_;
    std::unique_ptr<rows::dead_letter_writer> letters_;
    std::uint64_t size_ = 0;   ///< of the results when they were closed
    bool had_letters_ = false; ///< of earlier processes
};

/// "results.new.jsonl" of "results.jsonl".
[[nodiscard]] std::string file_beside(const std::string& file);

} // namespace heddle::cli
