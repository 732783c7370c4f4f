#include "batch/run_folder/run_files.hpp"

#include "batch/progress/batch_summary.hpp"
#include "batch/results/output_mark.hpp"
#include "batch/run_folder/lost_requests.hpp"
#include "batch/run_folder/program_digest.hpp"
#include "batch/run_folder/run_command.hpp"
#include "batch/run_folder/run_location.hpp"
#include "batch/run_folder/run_store_access.hpp"

#include <heddle/base/time_text.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

namespace heddle::cli {

result<void> run_files::check_names() const {
    std::vector<named_file> read;
    read.push_back({"the workflow", of_.asked.file});
    for (const std::string& each : of_.asked.rows.files) read.push_back({"a file of rows", each});
    for (const auto& [name, text] : of_.tools.imported().texts())
        read.push_back({"a part of the workflow", name});
    for (const setup::template_place& each : templates_of(of_.tools))
        read.push_back({"a template", each.path});
    if (const std::string folder = of_.asked.run_folder(); !folder.empty()) {
        for (const char* name : {"/run.db", "/run.json", "/lock"})
            read.push_back({"a file of the run itself", folder + name});
    }
    return check_written_files(outputs_.written_files(), read);
}

coro::task<result<void>> run_files::begin(coro::call_context context) {
    if (of_.asked.run_folder().empty()) co_return result<void>();
    if (auto opened = open_run(); !opened) co_return opened;
    if (!continues_) co_return result<void>();
    result<std::vector<store::manifest_entry>> entries = co_await journal_->manifest(context);
    if (!entries) co_return std::move(entries).error();
    top_levels_ = top_level_store(*entries);
    for (const store::manifest_entry& each : *entries)
        if (each.name == open_batch_entry) broken_stream_ = each.digest;
    co_return result<void>();
}

coro::task<result<std::vector<ports::known_row>>> run_files::open(coro::call_context context) {
    result<std::vector<ports::known_row>> known = co_await open_all(context);
    is_open_ = known.has_value();
    co_return known;
}

void run_files::give_up(batch_end end) {
    if (is_open_ && journal_)
        (void)note_end(std::move(end)); // the command has something worse to report
    if (is_open_ || !has_made_folder_) return;
    journal_.reset();
    of_.hold.reset();
    const std::filesystem::path folder = of_.asked.run_folder();
    std::error_code failed;
    for (const char* name : {"run.db", "run.db-wal", "run.db-shm", "run.json", "lock"})
        std::filesystem::remove(folder / name, failed);
    std::filesystem::remove(folder, failed); // only if it is empty
}

coro::task<result<std::vector<ports::known_row>>> run_files::open_all(coro::call_context context) {
    std::vector<ports::known_row> known;
    const bool keeps = !of_.asked.run_folder().empty();
    if (keeps) {
        result<std::vector<ports::known_row>> rows = co_await open_journal_rows(context);
        if (!rows) co_return rows;
        known = *std::move(rows);
    }
    if (auto opened = outputs_.open(journal_.get(), manifest_, continues_, known, broken_stream_);
        !opened)
        co_return std::move(opened).error();
    // Not before: what is in the output belongs to the run from then on.
    if (keeps) {
        manifest_.errors_in_output = of_.asked.errors_in_output;
        manifest_.parks = manifest_.parks || of_.asked.park;
        manifest_.notes_end = true;
        manifest_.end.reset();
        if (auto wrote = write_manifest(of_.asked.run_folder(), manifest_); !wrote)
            co_return std::move(wrote).error();
    }
    co_return std::move(known);
}

/// Everything that can be wrong with a run before it goes on.
coro::task<result<std::vector<ports::known_row>>> run_files::open_journal_rows(
    coro::call_context context) {
    result<std::vector<ports::known_row>> known = co_await journal_->known_rows(context);
    if (!known) co_return known;
    result<void> matched = co_await match_journal(opened(), *known, context);
    if (matched) matched = check_retried_ids(of_.asked.retry_ids, *known);
    if (matched && continues_) matched = co_await match_output(context);
    if (!matched) co_return std::move(matched).error();
    result<store::row_sample> sample = co_await journal_->sample_rows(context);
    if (!sample) co_return std::move(sample).error();
    result<void> found = co_await note_lost_requests(*journal_, *sample, context);
    if (!found) co_return std::move(found).error();
    earlier_ = earlier_rows(journal_->totals(), *sample);
    result<void> noted = co_await note_program(*known, context);
    if (noted) noted = co_await restore_output(*known, context);
    if (!noted) co_return std::move(noted).error();
    co_return known;
}

result<void> run_files::note_end(batch_end end) {
    // Cancelling batches that no row waits for leaves a run that has ended as it is.
    const bool was_done = end_before_ && end_before_->state == "done";
    manifest_.end = was_done ? end_before_ : std::move(end);
    return write_manifest_end(of_.asked.run_folder(), manifest_);
}

result<void> run_files::note_parking() {
    if (std::exchange(manifest_.has_parked, true)) return {};
    manifest_.parks = true;
    return write_manifest(of_.asked.run_folder(), manifest_);
}

void run_files::take_settings(run_manifest& manifest) {
    of_.asked.retry_rejected = manifest.strict && !of_.asked.strict;
    set_limits& limits = manifest.limits;
    if (!limits.set.empty() && !is_run_of_user(manifest, of_.asked.run_folder(), of_.variables)) {
        of_.output.err("heddle: ignoring the limits of 'heddle runs set' (" + text_of(limits.set) +
                       "): there is no record that you started this run here\n");
        limits.set.clear();
    }
    run_limits replaced = limits.set;
    const run_limits set = limits.take(limits_of(of_.asked));
    adopt_limits(of_.asked, set);
    if (of_.asked.options.verbosity < 0 || of_.asked.options.json) return;
    for (const auto& [name, value] : set) replaced.erase(name);
    if (!replaced.empty())
        of_.output.err(
            "heddle: the options of this command replace the limits of 'heddle runs "
            "set': " +
            text_of(replaced) + "\n");
    if (set.empty()) return;
    of_.output.err("heddle: using the limits of 'heddle runs set': " + text_of(set) + "\n");
}

result<void> run_files::note_limits(const run_limits& limits) {
    for (const auto& [name, value] : limits) {
        if (name != deadline_limit) manifest_.limits.set.insert_or_assign(name, value);
    }
    // Until it is open, the manifest is yet to be written.
    return is_open_ ? write_manifest(of_.asked.run_folder(), manifest_) : result<void>();
}

opened_files run_files::opened() noexcept { return {*journal_, manifest_, of_.asked, continues_}; }

/// An earlier round of the command may hold it.
result<void> run_files::hold_folder(const std::string& folder) {
    if (of_.hold) return {};
    HEDDLE_TRY(of_.hold, store::hold_run(folder));
    return {};
}

result<void> run_files::open_run() {
    const std::string folder = of_.asked.run_folder();
    std::error_code failed;
    const bool was_there = std::filesystem::exists(folder, failed);
    HEDDLE_CHECK(make_run_folder(folder, of_.asked.run.empty() ? "--out" : "--run"));
    const bool is_made = !was_there && !failed;
    // Refuses a run of a newer heddle before anything in its folder changes.
    if (std::filesystem::exists(manifest_file(folder), failed)) HEDDLE_CHECK(read_manifest(folder));
    if (auto held = hold_folder(folder); !held) {
        if (is_made) std::filesystem::remove(folder, failed); // only if it is empty
        return held;
    }
    continues_ = std::filesystem::exists(manifest_file(folder), failed);
    has_made_folder_ = is_made && !continues_;
    HEDDLE_TRY(journal_,
               open_journal(of_.workers, folder, of_.asked.durability, !continues_, of_.hold));
    if (continues_) {
        HEDDLE_TRY(manifest_, read_manifest(folder));
        if (manifest_.is_single()) {
            return error(errc::invalid_argument,
                         "the run in " + folder + " is one of 'heddle run', not a batch")
                .with_hint("name another directory with --run");
        }
        if (of_.asked.cancel_batches) end_before_ = manifest_.end;
        take_settings(manifest_);
        follow_move(manifest_, of_.asked, folder);
        return {};
    }
    manifest_.limits.of_command = limits_of(of_.asked);
    manifest_.program = of_.asked.file;
    manifest_.output = absolute_path(of_.asked.out.target.file);
    manifest_.dead_letters = absolute_path(of_.asked.dead_letter_file());
    manifest_.id_field = of_.asked.rows.id_field;
    manifest_.seed = of_.sessions.notes().seed();
    manifest_.started = utc_text(std::chrono::system_clock::now());
    return {};
}

coro::task<result<void>> run_files::match_output(coro::call_context context) {
    result<output_state> found = co_await state_of_output(*journal_, of_.asked, context);
    if (!found) co_return std::move(found).error();
    if (auto here = check_location(manifest_, of_.asked, *found); !here) co_return here;
    is_foreign_output_ = *found == output_state::foreign;
    manifest_.output = absolute_path(of_.asked.out.target.file);
    co_return result<void>();
}

program_digests run_files::digests_now(run_manifest& run) {
    if (!imports_) {
        imports_ = imports_of(of_.asked.file, of_.tools.imported());
        of_.tools.imported().close();
    }
    return digests_of({of_.asked, of_.text, of_.tools, *imports_, of_.sessions.notes()}, run);
}

std::string run_files::digest_now(run_manifest& run) {
    const program_digests digests = digests_now(run);
    adopt_digests(run, digests);
    return digests.whole;
}

coro::task<result<void>> run_files::keep_top_level(coro::call_context context) {
    const bool is_new = !of_.sessions.has_earlier();
    const top_level_notes& notes = of_.sessions.notes();
    std::vector<store::manifest_entry> entries = top_levels_.entries_with(
        kept_of(digests_now(manifest_), *imports_, notes), is_new, manifest_);
    if (entries.empty()) co_return result<void>();
    if (auto noted = journal_->set_manifest(std::move(entries)); !noted) co_return noted;
    result<void> kept = co_await journal_->flush(context);
    co_return kept;
}

/// Outdates the rows of an earlier version of the program. Where rows are to be retried, only
/// those follow the program as it is now.
coro::task<result<void>> run_files::note_program(std::vector<ports::known_row>& known,
                                                 coro::call_context context) {
    if (of_.asked.cancel_batches) { // no row runs: it is not an edit, whatever the program is
        result<void> ready = co_await outputs_.mend(*journal_, known, context);
        co_return ready;
    }
    const std::string digest = digest_now(manifest_);
    if (continues_ && !known.empty())
        edition_ = compare_program(manifest_, digest, of_.asked.is_retry());
    result<void> ready = co_await outputs_.mend(*journal_, known, context);
    if (ready) ready = outputs_.check(journal_->phase(), edition_.outdates, manifest_);
    if (!ready) co_return ready;
    if (edition_.outdates || (edition_.begun_differ && of_.asked.is_retry())) {
        result<void> outdated = co_await journal_->outdate_rows(
            edition_.outdates ? ports::outdated_rows::all : ports::outdated_rows::begun, context);
        if (!outdated) co_return outdated;
        result<std::vector<ports::known_row>> rows = co_await journal_->known_rows(context);
        if (!rows) co_return std::move(rows).error();
        known = *std::move(rows);
    }
    const bool differs = edition_.outdates || edition_.only_retried;
    if (differs && of_.asked.options.verbosity >= 0 && !of_.asked.options.json) {
        const bool is_back = manifest_.program_digest == digest;
        of_.output.err("heddle: " + change_text(known, of_.asked, is_back, change_) + "\n");
    }
    if (!continues_) manifest_.program_digest = digest;
    note_edition(manifest_, edition_, digest, known);
    manifest_.strict = of_.asked.strict;
    note_command(manifest_,
                 {of_.asked.run_folder(), of_.asked.inputs, without_retries(of_.arguments)},
                 of_.variables);
    ready = co_await keep_top_level(context);
    co_return ready;
}

/// All results are written again where the file that they are in is not as it is to be, and dead
/// letters where their file was deleted.
coro::task<result<void>> run_files::restore_output(std::vector<ports::known_row>& known,
                                                   coro::call_context context) {
    const bool again = is_foreign_output_ || outputs_.has_lost_files(known) ||
                       writes_output_again(opened(), outputs_.result_file(), known);
    if (!again && !outputs_.has_lost_letters(known)) co_return result<void>();
    const bool keeps_results = !again && !of_.asked.errors_in_output;
    std::vector<std::uint64_t> kept;
    for (ports::known_row& each : known) {
        each.emitted = keeps_results && each.emitted && each.status == ports::row_status::done;
        if (each.emitted) kept.push_back(each.row);
    }
    // At once: a kill in between would have all results written again, twice to a pipe.
    result<void> noted;
    if (keeps_results) noted = co_await journal_->keep_output_of(std::move(kept), context);
    else noted = co_await journal_->forget_output(context);
    co_return noted;
}

coro::task<result<void>> run_files::finish(ending how, coro::call_context context) {
    const bool tidies = outputs_.had_letters(); // of rows that are done now
    if (!tidies && !outputs_.are_beside()) co_return result<void>();
    result<std::vector<ports::known_row>> known = co_await journal_->known_rows(context);
    if (!known) co_return std::move(known).error();
    if (tidies) {
        if (auto tidied = outputs_.tidy(*known); !tidied) co_return tidied;
    }
    if (!outputs_.are_beside()) co_return result<void>();
    outdated_ = static_cast<std::uint64_t>(std::count_if(
        known->begin(), known->end(), [](const ports::known_row& row) { return row.outdated; }));
    // A row that has begun under the program as it is now, and not ended, has no result of it.
    const bool all_ended =
        std::none_of(known->begin(), known->end(), [](const ports::known_row& row) {
            return row.outdated || row.status == ports::row_status::begun;
        });
    const bool whole_input = !of_.asked.rows.limit && !of_.asked.rows.sample;
    const bool complete = !how.rows_left && !how.output_failed && (whole_input || all_ended);
    if (!complete) co_return result<void>();
    if (how.rows_taken == 0 && outdated_ != 0) { // rather a mistake than a wish
        of_.output.err("heddle: the input has no rows: " + of_.asked.out.target.file +
                       " keeps the earlier results\n");
        co_return result<void>();
    }
    result<void> replaced = co_await outputs_.replace(context);
    co_return replaced;
}

} // namespace heddle::cli
