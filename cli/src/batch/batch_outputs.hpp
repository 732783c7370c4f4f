// The files that a batch writes.
#pragma once

#include "batch/batch_files.hpp"
#include "batch/batch_request.hpp"
#include "batch/run_manifest.hpp"

#include <heddle/base/error.hpp>
#include <heddle/rows/dead_letters.hpp>
#include <heddle/rows/result_writer.hpp>
#include <heddle/store/run_store.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace heddle::cli {

/// Results and dead letters of a run. After an edit of the program they are written to files
/// beside the earlier ones (results.new.jsonl), which take their places once all rows have run
/// again: until then the earlier results are there, whole. Threads: the loop's.
class batch_outputs {
public:
    /// `asked` outlives it.
    explicit batch_outputs(const batch_request& asked) : asked_(asked) {}

    /// What a crash has left undone, and whether the files beside may be made. To be called before
    /// rows are outdated. `journal` outlives this. `read`: files that are not written to, whatever
    /// was asked. Errors: io_error, invalid_argument for files of somebody else.
    [[nodiscard]] result<void> prepare(store::run_store& journal, bool will_be_outdated,
                                       const std::vector<named_file>& read);
    /// Opens the files. `journal`: null where nothing is kept; outlives this. `manifest`: of the
    /// run, as it was read if it `continues`; names the dead letters from now on. `known`: the rows
    /// of the journal. Errors: as result_writer::open.
    [[nodiscard]] result<void> open(store::run_store* journal, run_manifest& manifest,
                                    bool continues, const std::vector<ports::known_row>& known);
    [[nodiscard]] rows::result_writer& results() noexcept { return *results_; }
    /// Null: rows without a result are dropped.
    [[nodiscard]] rows::dead_letter_writer* letters() noexcept { return letters_.get(); }
    /// Whether letters were there when the files were opened.
    [[nodiscard]] bool had_letters() const noexcept { return had_letters_; }
    void close_results() noexcept { results_.reset(); }

    /// Drops letters of rows that have none any more. Errors: io_error.
    [[nodiscard]] result<void> tidy(const std::vector<ports::known_row>& known);
    /// Whether the results go to a file beside the output.
    [[nodiscard]] bool are_beside() const noexcept;
    /// Both files take their places. The journal notes it; errors: io_error.
    [[nodiscard]] coro::task<result<void>> replace(coro::call_context context);

    /// Where results and letters are written.
    [[nodiscard]] std::string result_file() const;
    [[nodiscard]] std::string letter_file() const;

private:
    [[nodiscard]] bool has_own_file() const;
    [[nodiscard]] result<void> rename_both() const;

    const batch_request& asked_;
    store::run_store* journal_ = nullptr;
    std::unique_ptr<rows::result_writer> results_;
    std::unique_ptr<rows::dead_letter_writer> letters_;
    bool had_letters_ = false; ///< of earlier processes
};

/// "results.new.jsonl" of "results.jsonl".
[[nodiscard]] std::string file_beside(const std::string& file);

} // namespace heddle::cli
