#include "journal/kept_run.hpp"

#include "batch/progress/batch_counts.hpp"
#include "batch/rows/row_attempt.hpp"
#include "batch/run_folder/run_command.hpp"
#include "batch/run_folder/run_identity.hpp"
#include "batch/run_folder/run_store_access.hpp"
#include "batch/steering/opened_run.hpp"

#include <heddle/base/time_text.hpp>
#include <heddle/fs/local_tree.hpp>
#include <heddle/host/row_history.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/rows/row.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/journal/row_failures.hpp>
#include <heddle/setup/json_line.hpp>
#include <heddle/tasks/output/task_result.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <boost/json/value.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <utility>

namespace heddle::cli {

namespace {

constexpr std::uint64_t row_number = 0; // of the only row
// The evaluations. Main has the paths of a row of a batch.
constexpr std::uint64_t main_evaluation = 0;
constexpr std::uint64_t top_evaluation = 1;

bool has_manifest(const std::string& folder) {
    std::error_code failed;
    return std::filesystem::exists(manifest_file(folder), failed);
}

coro::task<result<void>> look_at_end(opened_run* run, std::optional<ports::row_status>* status) {
    result<std::optional<store::run_row>> row =
        co_await run->store->row(row_number, run->context());
    if (!row) co_return std::move(row).error();
    if (*row && (*row)->known.status != ports::row_status::begun) *status = (*row)->known.status;
    co_return result<void>();
}

coro::task<result<void>> read_entries(opened_run* run, std::vector<store::manifest_entry>* into) {
    result<std::vector<store::manifest_entry>> all = co_await run->store->manifest(run->context());
    if (!all) co_return std::move(all).error();
    *into = *std::move(all);
    co_return result<void>();
}

} // namespace

run_end end_of_run(const result<lang::value>& ended, const source_map& places) {
    run_end how;
    const bool failed = ended && tasks::is_failed_result(*ended);
    if (!ended || failed) {
        row_outcome outcome =
            failed_outcome(failed ? tasks::task_error_of(*ended) : ended.error(), places);
        how.error_json = std::move(outcome.error_json);
        how.message = std::move(outcome.message);
        how.step_message = std::move(outcome.step_message);
        if (!ended) how.attempt = host::end_of_attempt(ended.error());
        return how;
    }
    auto json = lang::value_to_json(*ended);
    how.value_json =
        json ? *std::move(json) : setup::json_text(boost::json::value(lang::print_value(*ended)));
    return how;
}

result<std::optional<ports::row_status>> kept_run::status_of(const std::string& folder) {
    std::optional<ports::row_status> status;
    if (!has_manifest(folder)) return status;
    HEDDLE_TRY(const run_manifest about, read_manifest(folder));
    if (!about.is_single()) {
        return error(errc::invalid_argument, "--run: the run in " + folder + " is a batch")
            .with_hint("continue it with its own command, or name another directory");
    }
    HEDDLE_CHECK(with_run(folder, [&](opened_run& run) { return look_at_end(&run, &status); }));
    return status;
}

result<std::vector<store::manifest_entry>> kept_run::entries_of(const std::string& folder) {
    std::vector<store::manifest_entry> entries;
    HEDDLE_CHECK(with_run(folder, [&](opened_run& run) { return read_entries(&run, &entries); }));
    return entries;
}

coro::task<result<void>> kept_run::open(application* tools, host::session* session,
                                        const run_sources* now) {
    loop_ = &tools->loop();
    session_ = session;
    began_ = loop_->now();
    workers_ = fs::make_worker_pool(*loop_, 2);
    if (auto opened = open_journal_of(*now); !opened) co_return opened;
    if (asked_.use == run_use::work && asked_.on_journal) {
        result<void> seen = co_await asked_.on_journal(*journal_, *workers_);
        if (!seen) co_return seen;
    }
    result<void> begun = co_await begin(now);
    co_return begun;
}

result<void> kept_run::open_journal_of(const run_sources& now) {
    const std::string& folder = asked_.folder;
    if (asked_.use != run_use::work) {
        HEDDLE_TRY(manifest_, read_manifest(folder));
        HEDDLE_TRY(journal_, read_journal(*workers_, folder));
        continues_ = true;
        return {};
    }
    HEDDLE_CHECK(make_run_folder(folder));
    HEDDLE_TRY(journal_,
               open_journal(*workers_, folder, journal_durability::group, !has_manifest(folder)));
    continues_ = has_manifest(folder);
    if (continues_) {
        HEDDLE_TRY(manifest_, read_manifest(folder));
    } else {
        manifest_.program = asked_.program;
        manifest_.seed = asked_.seed != 0 ? asked_.seed : std::random_device{}() + 1ULL;
        manifest_.run_id = new_run_id();
        manifest_.started = utc_text(std::chrono::system_clock::now());
    }
    manifest_.program_digest = now.all().empty() ? std::string() : now.all().front().digest;
    note_command(manifest_, {folder, asked_.inputs, without_retries(asked_.arguments)},
                 asked_.variables);
    return {};
}

/// Sources and settings that have changed since they were noted.
coro::task<result<std::string>> kept_run::changes(const run_sources* now) {
    if (!continues_) co_return std::string();
    result<std::vector<store::manifest_entry>> before = co_await journal_->manifest(context());
    if (!before) co_return std::move(before).error();
    noted_before_ = *std::move(before);
    if (noted_before_.empty()) co_return std::string(); // killed before anything was noted
    co_return now->changes_since(noted_before_);
}

void kept_run::note_lost(ports::step_record record) {
    host::count_lost(record, longest_output_);
    newly_lost_ += record.spent;
    journal_->note(row_number, std::move(record));
}

/// The program is another one: what it asks as before is answered as before.
coro::task<result<void>> kept_run::revise(bool has_failed) {
    result<std::vector<ports::step_record>> all =
        co_await journal_->records_of(row_number, context());
    if (!all) co_return std::move(all).error();
    host::row_history history = setup::read_earlier_version(
        session_->memory(), *std::move(all), has_failed, has_failed && asked_.retry_failed);
    for (ports::step_record& each : history.newly_lost) note_lost(std::move(each));
    if (auto revised = journal_->revise_row(row_number, std::move(history.discarded)); !revised)
        co_return revised;
    result<void> kept = co_await journal_->flush(context());
    co_return kept;
}

coro::task<result<void>> kept_run::begin(const run_sources* now) {
    result<std::string> changed = co_await changes(now);
    if (!changed) co_return std::move(changed).error();
    result<store::row_sample> sample = co_await journal_->sample_rows(context());
    if (!sample) co_return std::move(sample).error();
    longest_output_ = sample->longest_output;
    result<std::optional<store::run_row>> row = co_await journal_->row(row_number, context());
    if (!row) co_return std::move(row).error();
    if (asked_.use == run_use::work) {
        const bool has_ended = *row && (*row)->known.status != ports::row_status::begun;
        const bool failed = has_ended && (*row)->known.status == ports::row_status::failed;
        result<ports::row_work> work = co_await journal_->work_of(row_number, context());
        if (!work) co_return std::move(work).error();
        before_ = *work;
        if (!changed->empty() && *row) {
            result<void> revised = co_await revise(failed);
            if (!revised) co_return revised;
            if (!has_ended) { // that attempt does not go on
                ++before_.attempts;
                journal_->note_work(row_number, before_);
            }
        } else if (failed && asked_.retry_failed) {
            if (auto again = journal_->retry_row(row_number); !again) co_return again;
        } else if (has_ended) {
            co_return error(errc::invalid_argument,
                            "--run: another process has just ended the run in " + asked_.folder)
                .with_hint("the same command prints its result");
        }
        if (auto wrote = write_manifest(asked_.folder, manifest_); !wrote) co_return wrote;
        if (!changed->empty()) {
            auto noted = journal_->set_manifest(run_sources::forgotten(noted_before_));
            if (!noted) co_return noted;
        }
        if (auto noted = journal_->set_manifest(now->all()); !noted) co_return noted;
        ports::known_row begun;
        begun.row = row_number;
        begun.id = rows::digest_of_id(asked_.program);
        begun.content = rows::digest_of_content(manifest_.program_digest);
        if (auto noted = journal_->begin_row(begun, asked_.program, "{}"); !noted) co_return noted;
    }
    if (asked_.use == run_use::replay && *row) recorded_end_ = (*row)->ended;
    result<run_records> known = co_await read_records();
    if (!known) co_return std::move(known).error();
    greeting_ = greeting_for(*changed, *row, known->answers);
    begin_phase(top_, top_evaluation, std::move(known->top));
    if (top_.kept) {
        result<void> counted = co_await count_earlier();
        if (!counted) co_return counted;
    }
    co_return result<void>();
}

bool kept_run::differs_from_record(const run_end& now) const {
    if (!recorded_end_) return false;
    const bool was_done = recorded_end_->status == ports::row_status::done;
    if (now.value_json) return !was_done || *now.value_json != recorded_end_->value_json;
    return was_done;
}

std::string kept_run::greeting_for(const std::string& changed,
                                   const std::optional<store::run_row>& row,
                                   std::uint64_t answers) const {
    if (!changed.empty()) {
        std::string what =
            "since the run in " + asked_.folder + " began, these have changed: " + changed;
        if (asked_.use != run_use::work) return what;
        return what + ": it runs again; unchanged requests use their earlier responses";
    }
    const std::string spent = setup::dollars(journal_->totals().spent.cost_usd);
    const std::string kept = setup::counted(answers, "step") + " recorded" +
                             (spent.empty() ? "" : ", " + spent + " spent");
    if (asked_.use == run_use::report_again) {
        const bool done = row && row->known.status == ports::row_status::done;
        return "the run in " + asked_.folder + (done ? " is done (" : " has failed (") + kept +
               "); this is its stored output, and no service is called" +
               (done ? "" : "; --retry-failed continues it");
    }
    if (asked_.use == run_use::replay || answers == 0) return {};
    return "continues the run in " + asked_.folder + ": " + kept;
}

coro::task<result<run_records>> kept_run::read_records() {
    result<std::vector<ports::step_record>> all =
        co_await journal_->records_of(row_number, context());
    if (!all) co_return std::move(all).error();
    co_return run_records::of(*all);
}

void kept_run::begin_phase(phase& which, std::uint64_t evaluation,
                           std::vector<ports::step_record> records) {
    const auto failure = [memory = &session_->memory()](const ports::step_record& step) {
        return setup::failure_of_step(*memory, step);
    };
    const std::string name = std::to_string(manifest_.seed) + ":" + std::to_string(evaluation);
    const std::uint64_t seed = rows::digest_of_id(name).low;
    if (asked_.use != run_use::work) {
        replayed_steps::parts of;
        of.earlier = host::last_attempt(std::move(records), failure);
        of.seed = seed;
        of.evaluation = evaluation;
        of.repeats_output = true;
        of.on_effect = asked_.on_replayed;
        which.replayed.emplace(std::move(of));
        return;
    }
    has_responses_ = std::any_of(records.begin(), records.end(), [](const auto& each) {
        return is_response(each) || ports::is_of_earlier_program(each.kind);
    });
    host::row_history history = host::read_history(std::move(records), failure);
    for (ports::step_record& each : history.newly_lost) note_lost(std::move(each));
    which.kept.emplace(*journal_, row_number, seed, std::move(history.replayed));
    which.kept->set_evaluation(evaluation);
    which.kept->share_longest_output(longest_output_);
}

/// What earlier processes have spent counts in the budget. Requests of theirs that are lost are
/// found when the evaluation begins that they belong to.
coro::task<result<void>> kept_run::count_earlier() {
    result<void> kept = co_await journal_->flush(context()); // the totals are of what is written
    if (!kept) co_return kept;
    auto* const known = dynamic_cast<tasks::session_tasks*>(session_->operators());
    const ports::step_spending lost = std::exchange(newly_lost_, {});
    const bool is_first = !std::exchange(has_counted_, true);
    if (known) known->follow_journal(is_first ? journal_->totals().spent : lost, has_responses_);
    co_return kept;
}

coro::task<result<host::step_log*>> kept_run::begin_main() {
    if (top_.kept) {
        (void)top_.kept->note_lost();
        // What was noted is to be read.
        result<void> kept = co_await journal_->flush(context());
        if (!kept) co_return std::move(kept).error();
    }
    result<run_records> known = co_await read_records();
    if (!known) co_return std::move(known).error();
    if (top_.kept && !known->main_has_begun) journal_->note(row_number, mark_of_main());
    begin_phase(main_, main_evaluation, std::move(known->main));
    if (main_.kept) {
        result<void> counted = co_await count_earlier();
        if (!counted) co_return std::move(counted).error();
    }
    co_return main_.log();
}

void kept_run::note_imports(const import_notes& found) {
    if (asked_.use != run_use::work) return;
    std::vector<store::manifest_entry> entries;
    for (const auto& [name, text] : found.texts()) {
        if (std::find(noted_imports_.begin(), noted_imports_.end(), name) != noted_imports_.end())
            continue;
        noted_imports_.push_back(name);
        entries.push_back(run_sources::import_of(name, text));
    }
    // A journal that fails is noticed by the next record.
    if (!entries.empty()) (void)journal_->set_manifest(std::move(entries));
}

ports::row_work kept_run::work_so_far() const {
    ports::row_work sum = before_;
    sum.duration_ms +=
        std::chrono::duration_cast<std::chrono::milliseconds>(loop_->now() - began_).count();
    return sum;
}

coro::task<result<void>> kept_run::end(run_end how) {
    if (asked_.use != run_use::work || !journal_) co_return result<void>();
    for (phase* each : {&top_, &main_}) {
        if (each->kept) (void)each->kept->note_lost();
    }
    if (how.value_json || how.error_json) {
        ports::row_end ended;
        ended.row = row_number;
        ended.status = how.value_json ? ports::row_status::done : ports::row_status::failed;
        if (how.error_json) {
            journal_->note(row_number,
                           host::record_of_attempt(std::move(how.step_message), how.attempt));
        }
        ended.value_json = std::move(how.value_json).value_or("");
        ended.error_json = std::move(how.error_json).value_or("");
        ended.spent = journal_->totals().spent;
        ended.maybe_paid = journal_->totals().maybe_paid != 0;
        const ports::row_work work = work_so_far();
        ended.attempts = work.attempts + 1;
        ended.duration_ms = work.duration_ms;
        result<void> kept = co_await journal_->end_row(std::move(ended), context());
        if (!kept) co_return kept;
    } else {
        journal_->note_work(row_number, work_so_far());
    }
    result<void> flushed = co_await journal_->flush(context());
    co_return flushed;
}

result<void> kept_run::note_parking() {
    if (std::exchange(manifest_.has_parked, true)) return {};
    manifest_.parks = true;
    return write_manifest(asked_.folder, manifest_);
}

bool kept_run::is_parked() const noexcept {
    return (top_.kept && top_.kept->is_parked()) || (main_.kept && main_.kept->is_parked());
}

std::string kept_run::missing() const {
    for (const phase* each : {&main_, &top_}) {
        if (each->replayed && !each->replayed->missing().empty()) return each->replayed->missing();
    }
    return {};
}

} // namespace heddle::cli
