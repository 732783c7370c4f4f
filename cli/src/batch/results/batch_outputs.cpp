#include "batch/results/batch_outputs.hpp"

#include "batch/results/dead_letter_file.hpp"

#include <heddle/rows/result_replacement.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace heddle::cli {

namespace {

namespace paths = std::filesystem;
using store::output_phase;

/// Whether the journal has the row as one whose letter is in the file.
std::function<bool(std::uint64_t)> without_result(const std::vector<ports::known_row>& known) {
    return [&known](std::uint64_t number) {
        const auto found = std::lower_bound(
            known.begin(), known.end(), number,
            [](const ports::known_row& row, std::uint64_t wanted) { return row.row < wanted; });
        if (found == known.end() || found->row != number || !found->emitted) return false;
        return found->status == ports::row_status::failed ||
               found->status == ports::row_status::rejected;
    };
}

bool is_there(const std::string& file) {
    std::error_code failed;
    // Also a link to nothing: results would go where it points.
    const paths::file_type type = paths::symlink_status(file, failed).type();
    return type != paths::file_type::not_found && type != paths::file_type::none;
}

bool has_bytes(const std::string& file) {
    std::error_code failed;
    return paths::is_regular_file(file, failed) && paths::file_size(file, failed) != 0;
}

/// Whether the name leads to a descriptor of this process (/dev/stderr): what that is belongs to
/// whoever has opened it, also where it is a file.
bool names_descriptor(paths::path name) {
    constexpr int max_links = 40;
    std::error_code failed;
    for (int i = 0; i < max_links && paths::is_symlink(name, failed); ++i) {
        const paths::path folder =
            paths::canonical(name.has_parent_path() ? name.parent_path() : ".", failed);
        if (failed) return false;
        if (folder.string().starts_with("/proc/")) return true;
        const paths::path target = paths::read_symlink(name, failed);
        if (failed) return false;
        name = folder / target;
    }
    return false;
}

/// Whether another file may take its place.
bool is_replaceable(const std::string& file) {
    if (file.empty() || file == "-" || names_descriptor(file)) return false;
    std::error_code failed;
    const auto about = paths::status(file, failed);
    return !paths::exists(about) || paths::is_regular_file(about);
}

void copy_permissions(const std::string& file, const std::string& fresh) {
    std::error_code failed;
    const auto about = paths::status(file, failed);
    if (paths::is_regular_file(about)) paths::permissions(fresh, about.permissions(), failed);
}

error not_of_this_run(const std::string& file) {
    return error(errc::invalid_argument, file + " already exists and does not belong to this run");
}

result<void> check_folder_of(const std::string& fresh) {
    const paths::path above = paths::path(fresh).parent_path();
    const std::string folder = above.empty() ? "." : above.string();
    if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return {};
    return error(errc::io_error, folder + ": " + std::strerror(errno))
        .with_hint("the program has changed, and its results go to " + fresh +
                   " until all rows have run again: make the folder writable, or undo the edit; "
                   "no result has changed");
}

} // namespace

std::string file_beside(const std::string& file) {
    const paths::path whole = rows::file_behind_links(file);
    paths::path beside = whole;
    beside.replace_filename(whole.stem().string() + ".new" + whole.extension().string());
    return beside.string();
}

std::vector<named_file> batch_outputs::written_files() const {
    const std::string& results = asked_.out.target.file;
    const std::string letters = asked_.dead_letter_file();
    std::vector<named_file> files{{"the file of results", results},
                                  {"the file of dead letters", letters}};
    if (asked_.run_folder().empty()) return files;
    if (is_replaceable(results))
        files.push_back({"the file of results after an edit", file_beside(results)});
    if (is_replaceable(letters))
        files.push_back({"the file of dead letters after an edit", file_beside(letters)});
    return files;
}

std::vector<std::string> batch_outputs::own_files() const {
    std::vector<std::string> files{asked_.run_folder()};
    for (named_file& each : written_files()) files.push_back(std::move(each.file));
    return files;
}

bool batch_outputs::is_rewritten() const noexcept {
    return journal_ && journal_->phase() == output_phase::beside;
}

bool batch_outputs::are_beside() const {
    return is_rewritten() &&
           (is_replaceable(asked_.out.target.file) || is_replaceable(asked_.dead_letter_file()));
}

std::string batch_outputs::result_file() const {
    const std::string& results = asked_.out.target.file;
    return is_rewritten() && is_replaceable(results) ? file_beside(results) : results;
}

bool batch_outputs::lacks_earlier_results() const {
    const std::string& results = asked_.out.target.file;
    std::error_code failed;
    return result_file() != results &&
           paths::status(results, failed).type() == paths::file_type::not_found;
}

std::string batch_outputs::letter_file() const {
    std::string letters = asked_.dead_letter_file();
    return is_rewritten() && is_replaceable(letters) ? file_beside(letters) : letters;
}

rows::result_output batch_outputs::results_in(const std::string& file) const {
    rows::result_output there = asked_.out;
    there.target.file = file;
    return there;
}

result<void> batch_outputs::check(output_phase phase, bool will_be_outdated,
                                  const run_manifest& manifest) const {
    const bool is_beside = phase == output_phase::beside;
    if (!will_be_outdated && !is_beside) return {};
    const bool may_replace = asked_.out.target.force;
    const char* const hint =
        "the program has changed, and its results go there until all rows have run again: remove "
        "it, or replace it with --force";
    const std::string& results = asked_.out.target.file;
    if (is_replaceable(results)) {
        const std::string fresh = file_beside(results);
        // An empty one as well: another run may be about to write to it.
        if (!is_beside && !may_replace && is_there(fresh))
            return not_of_this_run(fresh).with_hint(hint);
        HEDDLE_CHECK(check_folder_of(fresh));
    }
    const std::string letters = asked_.dead_letter_file();
    if (!is_replaceable(letters)) return {};
    const std::string fresh = file_beside(letters);
    const bool is_own = is_same_path(manifest.dead_letters, letters);
    if (!is_own && !may_replace && has_bytes(letters)) {
        return not_of_this_run(letters).with_hint(
            "remove it, name another file with --dead-letters, or replace both with --force");
    }
    if (!(is_beside && is_own) && !may_replace && has_bytes(fresh))
        return not_of_this_run(fresh).with_hint(hint);
    return check_folder_of(fresh);
}

result<bool> batch_outputs::take_places() const {
    const std::string letters = asked_.dead_letter_file();
    if (is_replaceable(letters)) HEDDLE_CHECK(replace_dead_letters(letters, file_beside(letters)));
    const std::string& results = asked_.out.target.file;
    if (!is_replaceable(results)) return true;
    const std::string fresh = file_beside(results);
    if (!is_there(fresh)) return rows::has_results(asked_.out, journal_->emitted_size());
    HEDDLE_CHECK(rows::replace_results(asked_.out, fresh));
    return true;
}

coro::task<result<void>> batch_outputs::mend(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
    store::run_store& journal, std::vector<ports::known_row>& known, coro::call_context context) {
    journal_ = &journal;
    if (journal.phase() != output_phase::replacing) co_return result<void>();
    result<bool> are_there = take_places();
    if (!are_there) co_return std::move(are_there).error();
    if (auto noted = journal.set_phase(output_phase::in_place); !noted) co_return noted;
    if (*are_there) co_return result<void>();
    result<void> forgotten = co_await journal.forget_output(context);
    for (ports::known_row& each : known) each.emitted = false;
    co_return forgotten;
}

bool batch_outputs::has_lost_files(const std::vector<ports::known_row>& known) const {
    if (!is_rewritten()) return false;
    const auto holds = without_result(known);
    const bool has_rows = std::any_of(known.begin(), known.end(),
                                      [](const ports::known_row& row) { return row.emitted; });
    const bool has_letters = std::any_of(
        known.begin(), known.end(), [&](const ports::known_row& row) { return holds(row.row); });
    const std::string letters = letter_file();
    return (has_rows && is_replaceable(asked_.out.target.file) && !is_there(result_file())) ||
           (has_letters && is_replaceable(letters) && !is_there(letters));
}

bool batch_outputs::has_lost_letters(const std::vector<ports::known_row>& known) const {
    const std::string letters = letter_file();
    if (is_rewritten() || !is_replaceable(letters) || is_there(letters)) return false;
    // What has gone to a pipe is not repeated, and the errors were there as well.
    if (asked_.errors_in_output && !is_replaceable(asked_.out.target.file)) return false;
    const auto holds = without_result(known);
    return std::any_of(known.begin(), known.end(),
                       [&](const ports::known_row& row) { return holds(row.row); });
}

result<void> batch_outputs::open(store::run_store* journal, run_manifest& manifest, bool continues,
                                 const std::vector<ports::known_row>& known,
                                 const std::string& broken_stream) {
    journal_ = journal;
    const std::string& results = asked_.out.target.file;
    rows::result_output out = results_in(result_file());
    out.target.run = manifest.run_id;
    out.target.broken_stream = broken_stream;
    const bool is_begun = std::any_of(known.begin(), known.end(),
                                      [](const ports::known_row& row) { return row.emitted; });
    if (out.target.file != results && !is_begun) {
        // Nothing that is there belongs to the program as it is now.
        out.target.start = rows::output_start::fresh;
        out.target.force = true;
    } else if (continues && !asked_.writes_to_standard_output()) {
        out.target.start = rows::output_start::at_size;
        out.target.size = journal_->emitted_size();
    }
    HEDDLE_TRY(results_, rows::result_writer::open(std::move(out)));
    if (result_file() != results) copy_permissions(results, result_file());
    const std::string letters = letter_file();
    if (letters.empty()) return {};
    const std::string lasting = asked_.dead_letter_file(); // where they are in the end
    const bool is_own = continues && is_same_path(manifest.dead_letters, lasting);
    // Those beside are the run's, as check() has found. What is not a letter stays there.
    HEDDLE_TRY(letters_, open_dead_letters(letters, is_own || letters != lasting,
                                           asked_.out.target.force, without_result(known)));
    if (letters != lasting) copy_permissions(lasting, letters);
    had_letters_ = letters_->size() != 0;
    manifest.dead_letters = absolute_path(lasting);
    return {};
}

void batch_outputs::close_results() noexcept {
    if (results_) size_ = results_->size();
    results_.reset();
}

result<void> batch_outputs::tidy(const std::vector<ports::known_row>& known) {
    letters_.reset();
    return tidy_dead_letters(letter_file(), without_result(known));
}

coro::task<result<void>> batch_outputs::replace(coro::call_context context) {
    close_results();
    letters_.reset();
    const std::string& results = asked_.out.target.file;
    const std::string letters = letter_file();
    std::string lost;
    if (is_replaceable(results) && !rows::has_results(results_in(result_file()), size_))
        lost = result_file();
    else if (is_replaceable(letters) && !is_there(letters)) lost = letters;
    if (!lost.empty()) {
        co_return error(errc::io_error, lost +
                                            ": the file was deleted, or changed by another "
                                            "program, before it could take its place")
            .with_hint("the same command writes it again; the earlier results are where they were");
    }
    if (auto noted = journal_->set_phase(output_phase::replacing); !noted) co_return noted;
    result<void> kept = co_await journal_->flush(context);
    if (!kept) co_return kept;
    if (auto taken = take_places(); !taken) co_return std::move(taken).error();
    if (auto noted = journal_->set_phase(output_phase::in_place); !noted) co_return noted;
    kept = co_await journal_->flush(context);
    co_return kept;
}

} // namespace heddle::cli
