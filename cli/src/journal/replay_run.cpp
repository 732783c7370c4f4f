#include "journal/replay_run.hpp"

#include "application.hpp"
#include "batch/results/batch_outputs.hpp"
#include "batch/rows/row_attempt.hpp"
#include "batch/rows/row_sessions.hpp"
#include "batch/run_folder/run_command.hpp"
#include "batch/run_folder/run_identity.hpp"
#include "batch/run_folder/run_store_access.hpp"
#include "batch/run_folder/top_level_store.hpp"
#include "batch/steering/opened_run.hpp"
#include "command_line/command_line.hpp"
#include "interrupts.hpp"
#include "journal/replayed_steps.hpp"
#include "journal/run_setup.hpp"
#include "report_error.hpp"
#include "run_to_end.hpp"
#include "service_options.hpp"

#include <heddle/fs/local_tree.hpp>
#include <heddle/host/row_history.hpp>
#include <heddle/rows/row.hpp>
#include <heddle/setup/input_files.hpp>
#include <heddle/setup/journal/row_failures.hpp>

#include <filesystem>
#include <utility>

#include <unistd.h>

namespace heddle::cli {

namespace {

/// A row of a batch on its way through a replay.
class row_replay {
public:
    row_replay(const batch_request& batch, const replay_request& asked, console& output)
        : batch_(batch), asked_(asked), output_(output), trace_(asked, output) {}

    exit_code run(const setup::environment& variables) {
        auto text = setup::read_input_file(batch_.file);
        if (!text) return report_usage_error(text.error(), asked_.json, output_);
        program_.name = batch_.file;
        program_.text = *std::move(text);
        binding_.inputs = batch_.inputs;
        binding_.strict = batch_.strict;
        binding_.id_column = batch_.rows.id_field;
        workflow_options options = batch_.options;
        use_journal_only(options, false);
        auto tools = application::create(batch_.file, options, variables, output_);
        if (!tools) return report_usage_error(tools.error(), asked_.json, output_);
        tools_ = *std::move(tools);
        const auto about = read_manifest(asked_.run);
        sessions_.emplace(tools_->rows(), program_, top_level_notes(about ? about->seed : 0));
        const exit_code code = run_loop();
        sessions_.reset();
        return code;
    }

private:
    exit_code run_loop() {
        coro::event_loop& loop = tools_->loop();
        workers_ = fs::make_worker_pool(loop, 1);
        interrupts signals(loop.context(), [this] { cancel_.request(cancel_reason::user); });
        {
            const console::loop_time looping(output_);
            run_to_end(loop, perform(), [&] { signals.stop(); });
        }
        workers_.reset();
        if (signals.came() && !trace_.has_come()) {
            return report_error(error::cancelled(cancel_reason::user), exit_code::interrupted,
                                asked_.json, output_);
        }
        if (!early_) return trace_.end(end_) ? exit_code::done : exit_code::failed;
        if (rendered_.empty() || asked_.json)
            return report_usage_error(*early_, asked_.json, output_);
        output_.err_styled(rendered_);
        return exit_code::usage;
    }

    coro::task<void> perform() {
        result<void> replayed = co_await replay();
        if (!replayed) early_ = std::move(replayed).error();
        co_await tools_->close();
    }

    coro::task<result<void>> replay() {
        const coro::call_context context{&tools_->loop(), nullptr, {}};
        auto about = read_manifest(asked_.run);
        if (!about) co_return std::move(about).error();
        auto opened = read_journal(*workers_, asked_.run);
        if (!opened) co_return std::move(opened).error();
        opened_run found;
        found.loop = &tools_->loop();
        found.folder = asked_.run;
        found.store = *std::move(opened);
        result<store::run_row> row = co_await find_row(&found, asked_.row);
        if (!row) co_return std::move(row).error();
        if (row->known.status == ports::row_status::rejected) {
            co_return error(errc::invalid_argument, "the row was rejected and has not run")
                .with_hint("'heddle runs tail' shows why");
        }
        result<std::vector<ports::step_record>> records =
            co_await found.store->records_of(row->known.row, context);
        if (!records) co_return std::move(records).error();
        result<void> begun = co_await begin(*found.store, *about);
        if (!begun) co_return begun;
        result<std::unique_ptr<row_session>> session =
            co_await sessions_->open(context.with_cancel(cancel_));
        if (!session) {
            rendered_ = sessions_->last_failure();
            co_return std::move(session).error();
        }
        // Rows that were retried after an edit followed the program as it was then.
        const imported_texts imports = imports_of(batch_.file, tools_->imported());
        const program_digests digests =
            digests_of({batch_, program_.text, *tools_, imports, sessions_->notes()}, *about);
        tools_->imported().close();
        adopt_digests(*about, digests);
        const bool is_same =
            digests.whole == about->program_digest || digests.whole == about->begun_digest;
        if (row->known.outdated || !is_same) co_return other_version();
        lang::heap& memory = (*session)->get().memory();
        trace_.attach((*session)->get(), cancel_);
        replayed_steps::parts of;
        of.earlier =
            host::last_attempt(*std::move(records), [&memory](const ports::step_record& step) {
                return setup::failure_of_step(memory, step);
            });
        const std::string name = std::to_string(about->seed) + ":" + std::to_string(row->known.row);
        of.seed = rows::digest_of_id(name).low;
        of.on_effect = [this](const ports::step_record& record) { trace_.show(record); };
        replayed_steps steps(std::move(of));
        if (about->parks) tools_->services().use_usual_concurrency(parked_branches);
        else tools_->allow_parked_branches((*session)->get());
        host::run_options bounds = tools_->bounds();
        bounds.cancel = &cancel_;
        bounds.steps = &steps;
        rows::row text;
        text.json = row->text;
        row_outcome outcome = co_await attempt_row(session->get(), &binding_, &text, bounds);
        end_.missing = steps.missing();
        if (outcome.what == row_outcome::kind::done) {
            end_.row.value_json = std::move(outcome.value_json);
            const bool differs = row->ended && row->ended->value_json != *end_.row.value_json;
            if (differs) differ("the value differs from the recorded one");
        } else {
            end_.row.error_json = std::move(outcome.error_json);
            end_.row.message = std::move(outcome.message);
            const bool was_done = row->known.status == ports::row_status::done;
            if (was_done || outcome.misfit)
                differ(was_done ? "the row has a value" : "the records are of other steps");
        }
        co_return result<void>();
    }

    /// What the top level got when the row ran is not asked again.
    coro::task<result<void>> begin(store::run_store& journal, const run_manifest& about) {
        const coro::call_context context{&tools_->loop(), nullptr, {}};
        tools_->sources().set_own(batch_outputs(batch_).own_files());
        result<std::vector<store::manifest_entry>> entries = co_await journal.manifest(context);
        if (!entries) co_return std::move(entries).error();
        const top_level_store kept(*entries);
        result<top_level_store::found_notes> found = co_await kept.find(
            {batch_, program_.text, *tools_, about}, context.with_cancel(cancel_));
        if (!found) co_return std::move(found).error();
        if (found->notes) sessions_->begin_with(*std::move(found->notes));
        else if (!kept.is_empty()) co_return other_version(found->change);
        co_return result<void>();
    }
    /// The replay is not what the row did.
    void differ(const std::string& how) {
        if (trace_.has_come() || !end_.missing.empty()) return;
        end_.differs = true;
        output_.err("heddle: " + how +
                    ": the program depends on something that the journal does not have\n");
    }
    /// `change`: for people, if only what the top level reads is another; may be empty.
    [[nodiscard]] static error other_version(const std::string& change = {}) {
        return error(errc::invalid_argument,
                     "the row has run under another version of the program, its templates, "
                     "inputs or model" +
                         (change.empty() ? std::string() : " (" + change + ")"))
            .with_hint("undo the edit, or start the command of the batch: the row runs again");
    }

    const batch_request& batch_;
    const replay_request& asked_;
    console& output_;
    step_trace trace_;
    batch_program program_;
    row_binding binding_;
    coro::cancel_source cancel_;
    std::unique_ptr<application> tools_;
    std::optional<row_sessions> sessions_;
    std::unique_ptr<ports::worker_port> workers_;
    std::optional<error> early_;
    std::string rendered_; ///< of an error in the program
    replay_end end_;
};

} // namespace

exit_code replay_batch_row(const batch_request& batch, const replay_request& asked,
                           const setup::environment& variables, console& output) {
    if (asked.row.empty()) {
        return report_usage_error(error(errc::invalid_argument, "which row? The run is a batch")
                                      .with_hint("name the id or the number of the row"),
                                  asked.json, output);
    }
    row_replay replay(batch, asked, output);
    return replay.run(variables);
}

exit_code replay_run(replay_request asked, const setup::environment& variables, console& output) {
    const auto folder = find_run(asked.run);
    if (!folder) return report_usage_error(folder.error(), asked.json, output);
    const auto about = read_manifest(*folder);
    if (!about) return report_usage_error(about.error(), asked.json, output);
    std::error_code failed;
    asked.run = std::filesystem::absolute(*folder, failed).string();
    if (about->is_single() && !asked.row.empty() && asked.row != "0") {
        return report_usage_error(
            error(errc::invalid_argument, "the run is a single one, not a batch")
                .with_hint("leave the row out"),
            asked.json, output);
    }
    const auto arguments = command_of_run(*about, asked.run, asked.command, variables);
    if (!arguments) return report_usage_error(arguments.error(), asked.json, output);
    if (::chdir(about->directory.c_str()) != 0) {
        return report_usage_error(
            error(errc::not_found, "the directory of the run's command, " + about->directory +
                                       ", cannot be entered"),
            asked.json, output);
    }
    command_line line(all_commands());
    const auto parsed = line.parse(*arguments, 100);
    command* const* started = std::get_if<command*>(&parsed);
    auto* const known = started ? dynamic_cast<replayable_command*>(*started) : nullptr;
    if (!known) {
        return report_usage_error(
            error(errc::invalid_argument, "the command of the run cannot be read any more"),
            asked.json, output);
    }
    return known->replay(asked, {variables, output, line});
}

} // namespace heddle::cli
