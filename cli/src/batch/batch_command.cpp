#include "batch/batch_command.hpp"

#include "application.hpp"
#include "batch/batch_files.hpp"
#include "batch/batch_look.hpp"
#include "batch/batch_outputs.hpp"
#include "batch/batch_progress.hpp"
#include "batch/batch_run.hpp"
#include "batch/batch_summary.hpp"
#include "batch/lost_requests.hpp"
#include "batch/output_mark.hpp"
#include "batch/program_digest.hpp"
#include "batch/program_edition.hpp"
#include "batch/run_command.hpp"
#include "batch/run_control.hpp"
#include "batch/run_identity.hpp"
#include "batch/run_location.hpp"
#include "batch/run_manifest.hpp"
#include "batch/run_store_access.hpp"
#include "batch/unseen_results.hpp"
#include "commands/evaluation.hpp"
#include "display_text.hpp"
#include "failure_hints.hpp"
#include "input_files.hpp"
#include "interrupts.hpp"
#include "parking/parked_run.hpp"

#include <heddle/coro/spawn.hpp>
#include <heddle/fs/local_tree.hpp>
#include <heddle/lang/errors.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <filesystem>
#include <random>

namespace heddle::cli {

namespace {

/// One start of the command.
class batch_work {
public:
    batch_work(batch_request asked, std::vector<std::string> arguments, console& output)
        : asked_(std::move(asked)), arguments_(std::move(arguments)), output_(output) {}

    exit_code run(const environment& variables) {
        variables_ = &variables;
        auto text = read_input_file(asked_.file);
        if (!text) return tell_usage_error(text.error(), asked_.options.json, output_);
        program_.name = asked_.file;
        program_.text = *std::move(text);
        binding_.inputs = asked_.inputs;
        binding_.strict = asked_.strict;
        binding_.id_column = asked_.rows.id_field;
        raise_open_file_limit();
        asked_.options.parks = asked_.park || has_parked(asked_.run_folder());
        auto tools = application::create(asked_.file, asked_.options, variables, output_);
        if (!tools) return tell_usage_error(tools.error(), asked_.options.json, output_);
        tools_ = *std::move(tools);
        sessions_.emplace(*tools_, program_);
        const exit_code code = run_loop();
        filter_.reset();
        sessions_.reset();
        return code;
    }

    /// Rows have waited for batches that have ended: the batch is to begin again.
    [[nodiscard]] bool goes_on() const noexcept { return goes_on_; }

private:
    [[nodiscard]] static bool has_parked(const std::string& folder) {
        if (folder.empty()) return false;
        const auto about = read_manifest(folder);
        return about && about->parks;
    }

    exit_code run_loop() {
        coro::event_loop& loop = tools_->loop();
        workers_ = fs::make_worker_pool(loop, 1);
        store_workers_ = fs::make_worker_pool(loop, 2);
        interrupts signals(
            loop.context(), [this] { interrupted(); }, [this] { interrupted_again(); });
        std::exception_ptr broken;
        coro::spawn(loop, perform(), [&](std::exception_ptr thrown) {
            broken = thrown;
            progress_.reset();
            control_.reset();
            signals.stop();
            loop.context().stop();
        });
        {
            const console::loop_time looping(output_);
            loop.context().run();
        }
        // The files and threads of the run end before the loop does.
        batch_.reset();
        emitter_.reset();
        if (feed_) feed_->close();
        feed_.reset();
        parking_.reset();
        journal_.reset();
        store_workers_.reset();
        workers_.reset();
        if (broken) std::rethrow_exception(broken);
        if (signals.came()) output_.wait_at_most(time_for_readers);
        if (only_looks() && !early_) {
            if (asked_.options.json) output_.out_data(looked_text_);
            else output_.out(looked_text_);
            return exit_code::done;
        }
        if (!started_) return tell_early_end(signals.came());
        return tell_end();
    }

    coro::task<void> perform() {
        result<void> ready = co_await prepare();
        if (ready && only_looks()) {
            // Everything was looked at.
        } else if (ready) {
            started_ = true;
            co_await work();
        } else {
            early_ = std::move(ready).error();
        }
        co_await tools_->close();
    }

    /// Nothing is run for its result, or written.
    [[nodiscard]] bool only_looks() const noexcept { return asked_.dry_run || asked_.plan; }

    [[nodiscard]] coro::call_context context() noexcept { return {&tools_->loop(), nullptr, {}}; }

    /// Everything that can be wrong before the first row starts.
    coro::task<result<void>> prepare() {
        rows::row_input input = asked_.rows;
        if (!asked_.where.empty()) input.limit.reset(); // of the rows that the filter takes
        result<std::unique_ptr<rows::row_reader>> reader = rows::row_reader::open(std::move(input));
        if (!reader) co_return std::move(reader).error();
        result<std::unique_ptr<row_session>> first =
            co_await sessions_->take(context().with_cancel(loading_));
        if (!first) {
            rendered_ = sessions_->last_failure();
            co_return std::move(first).error();
        }
        if (auto shown = check_shown_task(asked_.options.show_prompts, (*first)->get()); !shown)
            co_return std::move(shown).error();
        sessions_->put_back(*std::move(first), 1);
        if (!asked_.where.empty()) {
            result<std::unique_ptr<row_filter>> filter = co_await row_filter::make(
                &tools_->loop(), asked_.where, asked_.rows.limit, context().with_cancel(loading_));
            if (!filter) co_return std::move(filter).error();
            filter_ = *std::move(filter);
        }
        if (auto checked = check_files(); !checked) co_return std::move(checked).error();
        if (only_looks()) {
            result<void> looked = co_await look_only(**reader);
            co_return looked;
        }
        std::vector<ports::known_row> known;
        const bool keeps = !asked_.run_folder().empty();
        if (keeps) {
            if (auto opened = open_run(); !opened) co_return std::move(opened).error();
            result<std::vector<ports::known_row>> rows = co_await journal_->known_rows(context());
            if (!rows) co_return std::move(rows).error();
            known = *std::move(rows);
            result<void> matched = co_await match_journal(opened(), known, context());
            if (matched) matched = check_retried_ids(asked_.retry_ids, known);
            if (matched && continues_) matched = co_await match_output();
            if (!matched) co_return std::move(matched).error();
            result<store::row_sample> sample = co_await journal_->sample_rows(context());
            if (!sample) co_return std::move(sample).error();
            result<void> found = co_await note_lost_requests(*journal_, known, *sample, context());
            if (!found) co_return found;
            earlier_ = earlier_rows(journal_->totals(), *sample);
            result<void> noted = co_await note_program(known);
            if (noted) noted = co_await restore_output(known);
            if (!noted) co_return std::move(noted).error();
        }
        if (auto opened = outputs_.open(journal_.get(), manifest_, continues_, known); !opened)
            co_return std::move(opened).error();
        // Not before: what is in the output belongs to the run from then on.
        if (keeps) {
            manifest_.parks = manifest_.parks || asked_.park;
            if (auto wrote = write_manifest(asked_.run_folder(), manifest_); !wrote)
                co_return std::move(wrote).error();
            if (manifest_.parks) {
                parking_.emplace(
                    parked_run::parts{*tools_, asked_, *journal_, *store_workers_, say()});
                result<void> begun = co_await parking_->begin(context().with_cancel(loading_));
                if (!begun) co_return begun;
            }
        }
        known_.emplace(std::move(known), !asked_.rows.id_field.empty());
        auto feed = rows::row_feed::start(tools_->loop(), *std::move(reader));
        if (!feed) co_return std::move(feed).error();
        feed_ = *std::move(feed);
        co_return result<void>();
    }

    [[nodiscard]] opened_files opened() { return {*journal_, manifest_, asked_, continues_}; }

    coro::task<result<void>> match_output() {
        result<output_state> found = co_await state_of_output(*journal_, asked_, context());
        if (!found) co_return std::move(found).error();
        if (auto here = check_location(manifest_, asked_, *found); !here) co_return here;
        asked_.retry_rejected = manifest_.strict && !asked_.strict;
        is_foreign_output_ = *found == output_state::foreign;
        manifest_.output = absolute_path(asked_.out.target.file);
        co_return result<void>();
    }

    /// All results are written again where the file that they are in is not as it is to be.
    coro::task<result<void>> restore_output(std::vector<ports::known_row>& known) {
        if (!is_foreign_output_ && !outputs_.has_lost_files(known) &&
            !writes_output_again(opened(), outputs_.result_file(), known))
            co_return result<void>();
        result<void> forgotten = co_await journal_->forget_output(context());
        for (ports::known_row& each : known) each.emitted = false;
        co_return forgotten;
    }

    coro::task<result<void>> look_only(rows::row_reader& reader) {
        look_parts parts{*tools_,       asked_,          binding_, *sessions_, reader,
                         filter_.get(), *store_workers_, outputs_, {},         0};
        parts.digest = [this](run_manifest& run) { return digest_now(run); };
        if (output_.traits().out_is_terminal) parts.columns = output_.columns();
        result<std::string> text =
            co_await look_at_batch(std::move(parts), context().with_cancel(loading_));
        if (!text) co_return std::move(text).error();
        looked_text_ = *std::move(text);
        co_return result<void>();
    }

    [[nodiscard]] result<void> check_files() {
        std::vector<named_file> read;
        read.push_back({"the workflow", asked_.file});
        for (const std::string& each : asked_.rows.files) read.push_back({"a file of rows", each});
        for (const auto& [name, text] : tools_->imported().texts())
            read.push_back({"a part of the workflow", name});
        for (const std::string& each : templates_of(*tools_)) read.push_back({"a template", each});
        if (const std::string folder = asked_.run_folder(); !folder.empty()) {
            for (const char* name : {"/run.db", "/run.json", "/lock"})
                read.push_back({"a file of the run itself", folder + name});
        }
        return check_written_files(outputs_.written_files(), read);
    }

    [[nodiscard]] result<void> open_run() {
        const std::string folder = asked_.run_folder();
        HEDDLE_CHECK(make_run_folder(folder));
        std::error_code failed;
        continues_ = std::filesystem::exists(manifest_file(folder), failed);
        // Refuses a run of a newer heddle before its journal gets the layout of this one.
        if (continues_) HEDDLE_CHECK(read_manifest(folder));
        HEDDLE_TRY(journal_, open_journal(*store_workers_, folder, asked_.durability, !continues_));
        if (continues_) {
            HEDDLE_TRY(manifest_, read_manifest(folder));
            if (manifest_.is_single()) {
                return error(errc::invalid_argument,
                             "the run in " + folder + " is one of 'heddle run', not a batch")
                    .with_hint("name another directory with --run");
            }
            follow_move(manifest_, asked_, folder);
            return {};
        }
        manifest_.program = asked_.file;
        manifest_.output = absolute_path(asked_.out.target.file);
        manifest_.dead_letters = absolute_path(asked_.dead_letter_file());
        manifest_.id_field = asked_.rows.id_field;
        manifest_.seed =
            asked_.options.seed != 0 ? asked_.options.seed : std::random_device{}() + 1ULL;
        manifest_.started = time_text_now();
        return {};
    }

    [[nodiscard]] std::string digest_now(run_manifest& run) const {
        return program_digest({asked_, program_.text, *tools_, templates_of(*tools_)}, run);
    }

    /// Outdates the rows of an earlier version of the program. Where rows are to be retried, only
    /// those follow the program as it is now.
    coro::task<result<void>> note_program(std::vector<ports::known_row>& known) {
        const std::string digest = digest_now(manifest_);
        if (continues_ && !known.empty())
            edition_ = compare_program(manifest_, digest, asked_.is_retry());
        result<void> ready = co_await outputs_.mend(*journal_, known, context());
        if (ready) ready = outputs_.check(journal_->phase(), edition_.outdates, manifest_);
        if (!ready) co_return ready;
        if (edition_.outdates || (edition_.begun_differ && asked_.is_retry())) {
            result<void> outdated = co_await journal_->outdate_rows(
                edition_.outdates ? ports::outdated_rows::all : ports::outdated_rows::begun,
                context());
            if (!outdated) co_return outdated;
            result<std::vector<ports::known_row>> rows = co_await journal_->known_rows(context());
            if (!rows) co_return std::move(rows).error();
            known = *std::move(rows);
        }
        const bool differs = edition_.outdates || edition_.only_retried;
        if (differs && asked_.options.verbosity >= 0 && !asked_.options.json) {
            const bool is_back = manifest_.program_digest == digest;
            output_.err("heddle: " + change_text(known, asked_, is_back) + "\n");
        }
        if (!continues_) manifest_.program_digest = digest;
        note_edition(manifest_, edition_, digest, known);
        manifest_.strict = asked_.strict;
        note_command(manifest_, {asked_.run_folder(), asked_.inputs, without_retries(arguments_)},
                     *variables_);
        co_return result<void>();
    }

    coro::task<void> work() {
        began_ = tools_->loop().now();
        result_emitter::parts to{
            *workers_, journal_.get(), outputs_.results(), outputs_.letters(), output_, {}, {}, {}};
        to.holds_status = asked_.writes_to_standard_output() && output_.traits().out_is_terminal;
        to.ordered = asked_.ordered;
        to.errors_in_output = asked_.errors_in_output;
        to.file = outputs_.result_file();
        if (journal_) {
            to.keep_mark = [this](std::string mark) {
                return journal_->set_manifest({{output_mark_entry, std::move(mark), {}}});
            };
        }
        to.on_change = [this] {
            if (batch_) batch_->wake();
        };
        emitter_.emplace(std::move(to));
        batch_run::parts of{*tools_,       asked_,         binding_, *sessions_, *feed_,
                            filter_.get(), journal_.get(), *known_,  *emitter_,  {}};
        of.edition = edition_;
        of.earlier = earlier_;
        of.seed = journal_ ? manifest_.seed : asked_.options.seed;
        of.say = say();
        if (parking_) of.parking = &parking_->lot();
        batch_.emplace(std::move(of));
        tell_begin();
        progress_.emplace(tools_->loop(), output_, asked_.progress,
                          [this] { return batch_->counts(); });
        if (journal_) {
            auto served = run_control::serve(tools_->loop(), asked_.run_folder(), *batch_);
            if (served) control_ = *std::move(served);
            else if (asked_.options.verbosity > 0)
                output_.err("heddle: " + served.error().message() + "\n");
        }
        if (interrupted_) batch_->drain(stop_cause::interrupted, asked_.grace);

        coro::nursery writing(context());
        writing.start(emitter_->run(context()));
        coro::nursery submitting(context());
        if (parking_) submitting.start(parking_->work(context()));
        result<void> ended = co_await batch_->run();
        if (parking_) parking_->stop();
        result<void> submitted = co_await submitting.join();
        if (ended && !submitted) ended = std::move(submitted);
        const bool complete = !batch_->has_rows_left();
        if (ended && journal_ && (complete || !asked_.ordered)) {
            ended = co_await emit_unseen(
                {*journal_, *known_, *emitter_, batch_->rows_taken(), complete}, context());
        }
        emitter_->close();
        result<void> written = co_await writing.join();
        outputs_.close_results();
        if (ended && !written) ended = std::move(written);
        if (journal_) {
            result<void> kept = co_await journal_->flush(context());
            if (ended && !kept) ended = std::move(kept);
        }
        if (journal_ && ended) ended = co_await finish_outputs();
        if (parking_ && ended) ended = co_await end_parking();
        end_.counts = batch_->counts();
        end_.cause = batch_->gate().cause();
        // The last results are written when all rows have ended.
        if (emitter_->failure() && end_.cause == stop_cause::none) end_.cause = stop_cause::output;
        end_.rows_left = batch_->has_rows_left();
        end_.waiting = batch_->rows_waiting();
        end_.has_started = batch_->has_started();
        end_.seconds = std::chrono::duration<double>(tools_->loop().now() - began_).count();
        if (!ended) end_.failure = std::move(ended).error();
        if (const auto& why = batch_->settings_failure()) {
            end_.failure = with_model_hint(lang::task_error("configuration_error", *why),
                                           tools_->has_services());
        }
        end_.results = outputs_.result_file();
        end_.dead_letters = outputs_.letter_file();
        failures_ = batch_->failures();
    }

    [[nodiscard]] std::function<void(std::string)> say() {
        return [this](const std::string& line) { output_.err("heddle: " + line + "\n"); };
    }

    /// Submits what the rows have asked for, unless the batch was stopped by hand.
    coro::task<result<void>> end_parking() {
        const stop_cause cause = batch_->gate().cause();
        const bool bounded = cause == stop_cause::budget || cause == stop_cause::calls ||
                             cause == stop_cause::deadline || cause == stop_cause::unpriced;
        if (cause != stop_cause::none && !bounded) co_return result<void>();
        result<void> ended = co_await parking_->end(context().with_cancel(loading_));
        if (!ended && ended.error().is_cancelled()) ended = result<void>(); // the cause is known
        goes_on_ = parking_->frees_rows() && !interrupted_;
        end_.only_waits = batch_->only_waits() && !parking_->has_problems();
        end_.batches = parking_->batches();
        co_return ended;
    }

    /// The files as they are to be at the end.
    coro::task<result<void>> finish_outputs() {
        const bool tidies = outputs_.had_letters(); // of rows that are done now
        if (!tidies && !outputs_.are_beside()) co_return result<void>();
        result<std::vector<ports::known_row>> known = co_await journal_->known_rows(context());
        if (!known) co_return std::move(known).error();
        if (tidies) {
            if (auto tidied = outputs_.tidy(*known); !tidied) co_return tidied;
        }
        if (!outputs_.are_beside()) co_return result<void>();
        end_.outdated = static_cast<std::uint64_t>(
            std::count_if(known->begin(), known->end(),
                          [](const ports::known_row& row) { return row.outdated; }));
        const bool whole_input = !asked_.rows.limit && !asked_.rows.sample;
        const bool complete =
            !batch_->has_rows_left() && !emitter_->failure() && (whole_input || end_.outdated == 0);
        if (!complete) co_return result<void>();
        if (batch_->rows_taken() == 0 && end_.outdated != 0) { // rather a mistake than a wish
            output_.err("heddle: the input has no rows: " + asked_.out.target.file +
                        " keeps the earlier results\n");
            co_return result<void>();
        }
        result<void> replaced = co_await outputs_.replace(context());
        co_return replaced;
    }

    void tell_begin() {
        const batch_counts counts = batch_->counts();
        if (asked_.options.verbosity < 0 || asked_.options.json) return;
        if (counts.kept == 0 && counts.spent.requests == 0) return;
        const std::string spent = dollars(counts.spent.cost_usd);
        output_.err("heddle: continues the run in " + asked_.run_folder() + ": " +
                    counted(counts.kept, "row") + " finished" +
                    (spent.empty() ? "" : ", " + spent + " spent") + "\n");
    }

    void interrupted() {
        interrupted_ = true;
        loading_.request(cancel_reason::user);
        if (!batch_) return;
        batch_->drain(stop_cause::interrupted, asked_.grace);
        if (asked_.options.verbosity >= 0 && !asked_.options.json) {
            const auto seconds = std::chrono::duration<double>(asked_.grace).count();
            output_.err("\nno further row starts; " + counted(batch_->counts().in_progress, "row") +
                        " in progress end within " + duration_text(seconds) +
                        "; Ctrl-C again stops them now\n");
        }
    }
    void interrupted_again() {
        if (batch_) batch_->cancel_rows();
    }

    exit_code tell_early_end(bool was_interrupted) {
        if (was_interrupted) {
            return tell_error(error::cancelled(cancel_reason::user), exit_code::interrupted,
                              asked_.options.json, output_);
        }
        if (rendered_.empty() || asked_.options.json)
            return tell_usage_error(*early_, asked_.options.json, output_);
        output_.err_styled(rendered_);
        return exit_code::usage;
    }

    exit_code tell_end() {
        const exit_code code = end_.code();
        if (goes_on_ && !end_.failure) return code;
        if (asked_.options.json) end_is_told();
        if (end_.failure && !asked_.options.json)
            (void)tell_error(*end_.failure, code, false, output_);
        if (asked_.options.json) {
            const std::string json = summary_json(end_, failures_, asked_);
            if (asked_.writes_to_standard_output()) output_.err(json);
            else output_.out_data(json);
        } else if (asked_.options.verbosity >= 0 || code != exit_code::done) {
            const unsigned columns = output_.traits().err_is_terminal ? output_.columns() : 0;
            output_.err(summary_text(end_, failures_, asked_, columns));
        }
        if (const auto lost = tools_->finish_recording())
            output_.err("heddle: the recording is not whole: " + lost->message() + "\n");
        return code;
    }

    batch_request asked_;
    std::vector<std::string> arguments_;
    console& output_;
    const environment* variables_ = nullptr;
    batch_program program_;
    row_binding binding_;
    std::unique_ptr<application> tools_;
    std::optional<session_pool> sessions_;
    std::unique_ptr<ports::worker_port> workers_; ///< for results: one write at a time
    std::unique_ptr<ports::worker_port> store_workers_;
    coro::cancel_source loading_;
    std::unique_ptr<store::run_store> journal_; ///< null: nothing is kept
    std::optional<parked_run> parking_;         ///< nothing: no requests wait for batches
    bool goes_on_ = false;
    run_manifest manifest_;
    bool continues_ = false;
    bool is_foreign_output_ = false; ///< it is replaced (--force)
    program_edition edition_;
    earlier_rows earlier_;
    batch_outputs outputs_{asked_};
    std::unique_ptr<row_filter> filter_; ///< null: all rows are a part of the run
    std::optional<known_table> known_;
    std::unique_ptr<rows::row_feed> feed_;
    std::optional<result_emitter> emitter_;
    std::optional<batch_run> batch_;
    std::optional<batch_progress> progress_;
    std::unique_ptr<run_control> control_;
    coro::clock::time_point began_;
    bool interrupted_ = false;
    bool started_ = false;
    std::optional<error> early_;
    std::string looked_text_;
    std::string rendered_; ///< of an error in the program
    batch_summary end_;
    failure_table failures_;
};

} // namespace

exit_code run_batch(batch_request asked, std::vector<std::string> arguments,
                    const environment& variables, console& output) {
    for (;;) {
        batch_work work(asked, arguments, output);
        const exit_code code = work.run(variables);
        if (!work.goes_on()) return code;
        // Rows that were to be retried have been.
        asked.retry_failed = false;
        asked.retry_ids.clear();
    }
}

} // namespace heddle::cli
