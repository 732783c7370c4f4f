#include "batch/batch_outputs.hpp"

#include "batch/dead_letter_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

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

bool has_bytes(const std::string& file) {
    std::error_code failed;
    return paths::exists(file, failed) && paths::file_size(file, failed) != 0;
}

/// The file that a name leads to through symbolic links.
paths::path behind_links(const std::string& file) {
    std::error_code failed;
    if (!paths::is_symlink(file, failed)) return file;
    paths::path real = paths::canonical(file, failed);
    return failed ? paths::path(file) : real;
}

/// Sets the permissions of a file that replaces another one.
void copy_permissions(const std::string& file, const std::string& fresh) {
    std::error_code failed;
    const auto about = paths::status(file, failed);
    if (paths::is_regular_file(about)) paths::permissions(fresh, about.permissions(), failed);
}

result<void> rename_over(const std::string& fresh, const std::string& name) {
    const std::string file = behind_links(name).string();
    copy_permissions(file, fresh);
    if (std::rename(fresh.c_str(), file.c_str()) == 0 || errno == ENOENT) return {};
    return error(errc::io_error, file + ": " + std::strerror(errno))
        .with_hint("the results are in " + fresh + "; the same command puts them in their place");
}

} // namespace

std::string file_beside(const std::string& file) {
    const paths::path whole = behind_links(file);
    paths::path beside = whole;
    beside.replace_filename(whole.stem().string() + ".new" + whole.extension().string());
    return beside.string();
}

bool batch_outputs::has_own_file() const {
    if (asked_.writes_to_standard_output()) return false;
    std::error_code failed;
    const auto status = paths::status(asked_.out.target.file, failed);
    return !paths::exists(status) || paths::is_regular_file(status);
}

bool batch_outputs::are_beside() const noexcept {
    return journal_ && journal_->phase() == output_phase::beside && has_own_file();
}

std::string batch_outputs::result_file() const {
    return are_beside() ? file_beside(asked_.out.target.file) : asked_.out.target.file;
}

std::string batch_outputs::letter_file() const {
    const std::string letters = asked_.dead_letter_file();
    return are_beside() && !letters.empty() ? file_beside(letters) : letters;
}

result<void> batch_outputs::rename_both() const {
    const std::string letters = asked_.dead_letter_file();
    if (!letters.empty()) HEDDLE_CHECK(rename_over(file_beside(letters), letters));
    return rename_over(file_beside(asked_.out.target.file), asked_.out.target.file);
}

result<void> batch_outputs::prepare(store::run_store& journal, bool will_be_outdated,
                                    const std::vector<named_file>& read) {
    journal_ = &journal;
    if (journal.phase() == output_phase::replacing) {
        HEDDLE_CHECK(rename_both());
        HEDDLE_CHECK(journal.set_phase(output_phase::in_place));
    }
    if (!has_own_file()) return {};
    const bool is_beside = journal.phase() == output_phase::beside;
    if (!will_be_outdated && !is_beside) return {};
    const std::string letters = asked_.dead_letter_file();
    HEDDLE_CHECK(check_written_files(
        {{"the file of results after an edit", file_beside(asked_.out.target.file)},
         {"the file of dead letters after an edit", letters.empty() ? "" : file_beside(letters)}},
        read));
    if (is_beside) return {};
    for (const std::string& file : {asked_.out.target.file, letters}) {
        if (file.empty() || asked_.out.target.force || !has_bytes(file_beside(file))) continue;
        return error(errc::invalid_argument,
                     file_beside(file) + " is there already, and not of this run")
            .with_hint(
                "the program has changed, and its results go there until all rows have run "
                "again: remove it, or replace it with --force");
    }
    return {};
}

result<void> batch_outputs::open(store::run_store* journal, run_manifest& manifest, bool continues,
                                 const std::vector<ports::known_row>& known) {
    journal_ = journal;
    rows::result_output out = asked_.out;
    out.target.file = result_file();
    out.target.run = manifest.run_id;
    const std::string letters = letter_file();
    std::error_code failed;
    if (are_beside() && journal_->emitted_size() == 0) {
        // Nothing that is there belongs to the program as it is now.
        for (const char* end : {"", "-wal", "-shm"}) paths::remove(out.target.file + end, failed);
        paths::remove(letters, failed);
    } else if (continues && !asked_.writes_to_standard_output()) {
        out.target.start = rows::output_start::at_size;
        out.target.size = journal_->emitted_size();
    }
    HEDDLE_TRY(results_, rows::result_writer::open(std::move(out)));
    if (are_beside()) copy_permissions(asked_.out.target.file, result_file());
    if (letters.empty()) return {};
    const std::string lasting = asked_.dead_letter_file(); // where they are in the end
    const bool is_own = continues && is_same_path(manifest.dead_letters, lasting);
    HEDDLE_TRY(letters_,
               open_dead_letters(letters, is_own, asked_.out.target.force, without_result(known)));
    if (are_beside()) copy_permissions(lasting, letters);
    had_letters_ = letters_->size() != 0;
    manifest.dead_letters = absolute_path(lasting);
    return {};
}

result<void> batch_outputs::tidy(const std::vector<ports::known_row>& known) {
    letters_.reset();
    return tidy_dead_letters(letter_file(), without_result(known));
}

coro::task<result<void>> batch_outputs::replace(coro::call_context context) {
    results_.reset();
    letters_.reset();
    if (auto noted = journal_->set_phase(output_phase::replacing); !noted) co_return noted;
    result<void> kept = co_await journal_->flush(context);
    if (!kept) co_return kept;
    if (auto renamed = rename_both(); !renamed) co_return renamed;
    if (auto noted = journal_->set_phase(output_phase::in_place); !noted) co_return noted;
    kept = co_await journal_->flush(context);
    co_return kept;
}

} // namespace heddle::cli
