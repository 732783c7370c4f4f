#include "batch/command/batch_command.hpp"

#include "application.hpp"
#include "batch/command/batch_round.hpp"
#include "batch/command/emitter_parts.hpp"
#include "batch/command/name_check.hpp"
#include "batch/command/round_end.hpp"
#include "batch/execution/batch_run.hpp"
#include "batch/plan/batch_look.hpp"
#include "batch/progress/batch_progress.hpp"
#include "batch/progress/batch_reports.hpp"
#include "batch/progress/batch_summary.hpp"
#include "batch/request/run_manifest.hpp"
#include "batch/results/unseen_results.hpp"
#include "batch/run_folder/found_run.hpp"
#include "batch/run_folder/run_files.hpp"
#include "batch/steering/batch_steering.hpp"
#include "batch/steering/run_control.hpp"
#include "interrupts.hpp"
#include "parking/parked_run.hpp"
#include "report_error.hpp"
#include "run_to_end.hpp"
#include "service_options.hpp"

#include <heddle/fs/local_tree.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/setup/input_files.hpp>
#include <heddle/store/run_store.hpp>

#include <random>

namespace heddle::cli {

namespace {

/// One start of the command.
class batch_work {
public:
    /// `before`: what the rounds before this one have left.
    batch_work(batch_request asked, std::vector<std::string> arguments, console& output,
               batch_round before)
        : asked_(std::move(asked)), arguments_(std::move(arguments)), output_(output),
          round_(std::move(before)) {
        steering_.pause(round_.is_paused);
        asked_.cancel_batches = asked_.cancel_batches || round_.is_cancelled;
    }

    exit_code run(const setup::environment& variables) {
        variables_ = &variables;
        if (asked_.options.progress == progress_style::json) output_.write_notes_as_json();
        auto text = setup::read_input_file(asked_.file);
        if (!text)
            return report_usage_error(text.error(), asked_.options.errors_as_json(), output_);
        program_.name = asked_.file;
        program_.text = *std::move(text);
        binding_.inputs = asked_.inputs;
        binding_.strict = asked_.strict;
        binding_.id_column = asked_.rows.id_field;
        raise_open_file_limit();
        const run_manifest before = manifest_before();
        if (before.has_parked && asked_.threads > 1) {
            return report_usage_error(
                error(errc::invalid_argument,
                      asked_.run_folder() + ": requests of the run were sent in batches")
                    .with_hint("their responses are taken by one thread: continue it without "
                               "--threads"),
                asked_.options.errors_as_json(), output_);
        }
        // On several threads, nothing is parked, and nothing was.
        allow_parking(before.parks && asked_.threads == 1);
        auto tools = application::create(asked_.file, asked_.options, variables, output_);
        if (!tools)
            return report_usage_error(tools.error(), asked_.options.errors_as_json(), output_);
        tools_ = *std::move(tools);
        sessions_.emplace(tools_->rows(), program_, top_level_notes(seed_of_run()));
        const exit_code code = run_loop();
        filter_.reset();
        sessions_.reset();
        return code;
    }

    /// Rows have waited for batches that have ended: the batch is to begin again.
    [[nodiscard]] bool goes_on() const noexcept { return goes_on_ && !end_.failure; }
    /// For the next one.
    [[nodiscard]] batch_round take_round() noexcept { return std::move(round_); }
    /// Whether rows have begun in this round or an earlier one.
    [[nodiscard]] bool has_begun() const noexcept { return round_.began.has_value(); }
    /// Whether rows could begin in this round.
    [[nodiscard]] bool has_started() const noexcept { return started_; }
    /// Whether no other process can work on the run.
    [[nodiscard]] bool holds_run() const noexcept { return round_.hold != nullptr; }
    /// Why they could not.
    [[nodiscard]] early_stop stopped_early_by() const noexcept { return early_cause_; }

private:
    /// Tasks may have their requests parked wherever the run is kept.
    void allow_parking(bool has_before) {
        workflow_options& options = asked_.options;
        const bool is_recorded = options.record || options.replay;
        options.parks_all = asked_.park || has_before;
        options.parks = options.parks_all ||
                        (!asked_.run_folder().empty() && asked_.threads == 1 && !is_recorded);
        if (asked_.threads > 1)
            options.why_not_parked = "no request waits for a batch with --threads";
        else if (is_recorded) options.why_not_parked = no_parking_of_recordings;
    }

    /// Of the run that is there; an empty one if there is none.
    [[nodiscard]] run_manifest manifest_before() const {
        const std::string folder = asked_.run_folder();
        if (folder.empty()) return {};
        auto about = read_manifest(folder);
        return about ? *std::move(about) : run_manifest();
    }

    /// That of the run that is there, so that chance is the same in each of its processes.
    [[nodiscard]] std::uint64_t seed_of_run() const {
        const std::string folder = asked_.run_folder();
        if (const auto about = read_manifest(folder); !folder.empty() && about) return about->seed;
        return asked_.options.seed != 0 ? asked_.options.seed : std::random_device{}() + 1ULL;
    }

    exit_code run_loop() {
        coro::event_loop& loop = tools_->loop();
        workers_ = fs::make_worker_pool(loop, 1);
        store_workers_ = fs::make_worker_pool(loop, 2);
        files_.emplace(run_files::parts{asked_, arguments_, program_.text, *tools_, *sessions_,
                                        *store_workers_, output_, *variables_, round_.hold});
        interrupts signals(
            loop.context(), [this] { interrupted(); }, [this] { interrupted_again(); });
        {
            const console::loop_time looping(output_);
            run_to_end(loop, perform(), [&] {
                progress_.reset();
                control_.reset();
                signals.stop();
            });
        }
        // What came too late for this round is for the next one.
        round_.is_cancelled = steering_.was_cancelled();
        round_.is_paused = steering_.is_paused();
        // The files and threads of the run end before the loop does.
        steering_.detach();
        batch_.reset();
        threads_.reset();
        emitter_.reset();
        feed_.reset();
        parking_.reset();
        files_.reset();
        store_workers_.reset();
        workers_.reset();
        // Others find a run that has ended. Where its end is yet to be noted, it is held until
        // then.
        if (!goes_on() && (started_ || !has_begun())) round_.hold.reset();
        if (signals.came()) output_.wait_at_most(time_for_readers);
        if (only_looks() && !early_) {
            if (asked_.options.json) output_.out_data(looked_text_);
            else output_.out(looked_text_);
            return exit_code::done;
        }
        if (!started_) return report_early_end(signals.came());
        return report_end();
    }

    coro::task<void> perform() {
        if (!only_looks()) {
            progress_.emplace(tools_->loop(), output_, asked_.progress,
                              [this] { return steering_.counts(); });
        }
        result<void> ready = co_await prepare();
        if (ready && only_looks()) {
            // Everything was looked at.
        } else if (ready) {
            started_ = true;
            co_await work();
        } else {
            early_ = std::move(ready).error();
            control_.reset();
            if (interrupted_) early_cause_ = early_stop::interrupted;
            else if (steering_.was_cancelled() && early_->is_cancelled())
                early_cause_ = early_stop::cancelled;
            files_->give_up(end_of(early_cause_));
        }
        if (threads_) co_await threads_->close();
        co_await tools_->close();
    }

    /// Others can ask how far the run is, and end it, also while its program is being loaded.
    void serve_control() {
        if (!files_->journal()) return;
        auto served = run_control::serve(tools_->loop(), asked_.run_folder(), steering_);
        if (served) control_ = *std::move(served);
        else if (asked_.options.verbosity > 0)
            output_.err("heddle: " + served.error().message() + "\n");
    }

    /// 'heddle runs cancel', before the first row.
    void cancel_loading() {
        // The batches of the services are cancelled by a run that has begun.
        if (asked_.options.parks_all) asked_.cancel_batches = true;
        else loading_.request(cancel_reason::user);
    }

    /// Of 'heddle runs set': for the summary, and for later processes.
    void keep_limits(const run_limits& limits) {
        for (const auto& [name, value] : limits) round_.set.insert_or_assign(name, value);
        adopt_limits(asked_, limits);
        if (auto noted = files_->note_limits(limits); !noted) say()(noted.error().message());
    }

    /// Nothing is run for its result, or written.
    [[nodiscard]] bool only_looks() const noexcept { return asked_.dry_run || asked_.plan; }

    [[nodiscard]] coro::call_context context() noexcept { return {&tools_->loop(), nullptr, {}}; }

    [[nodiscard]] batch_parts parts() noexcept {
        return {*tools_, asked_, binding_, *sessions_, filter_.get(), columns_};
    }

    /// Everything that can be wrong before the first row starts.
    coro::task<result<void>> prepare() {
        rows::row_input input = asked_.rows;
        if (!asked_.where.empty()) input.limit.reset(); // of the rows that the filter takes
        result<std::unique_ptr<rows::row_reader>> reader = rows::row_reader::open(std::move(input));
        if (!reader) co_return std::move(reader).error();
        result<void> begun = co_await begin();
        if (!begun) co_return begun;
        result<std::unique_ptr<row_session>> first =
            co_await sessions_->open(context().with_cancel(loading_));
        if (!first) {
            rendered_ = sessions_->last_failure();
            co_return std::move(first).error();
        }
        if (asked_.options.parks) tools_->allow_parked_branches((*first)->get());
        if (auto shown = check_shown_task(asked_.options.show_prompts, (*first)->get()); !shown)
            co_return std::move(shown).error();
        if (auto fits = binding_.check_inputs((*first)->get(), (*first)->main()); !fits)
            co_return std::move(fits).error();
        if (auto known = check_defined_names(program_, (*first)->get(), output_, rendered_); !known)
            co_return known;
        if (!asked_.where.empty()) {
            result<std::unique_ptr<row_filter>> filter = co_await row_filter::make(
                &tools_->loop(), asked_.where, asked_.rows.limit, context().with_cancel(loading_));
            if (!filter) co_return std::move(filter).error();
            filter_ = *std::move(filter);
            columns_.of_filter = filter_->columns();
        }
        columns_.of_main = binding_.needed_columns((*first)->get(), (*first)->main());
        needed_columns of_header = columns_;
        if (filter_) of_header.of_main.clear(); // it may take no row of the file
        (*reader)->check_columns([of_header](const std::vector<std::string>& columns) {
            return of_header.look(columns);
        });
        if (auto checked = files_->check_names(); !checked) co_return std::move(checked).error();
        if (only_looks()) {
            result<void> looked = co_await look_only(**reader);
            co_return looked;
        }
        result<std::vector<ports::known_row>> known = co_await files_->open(context());
        if (!known) co_return std::move(known).error();
        if (files_->journal() && asked_.options.parks) {
            parking_.emplace(parked_run::parts{
                tools_->parking(), tools_->models().batches(), tools_->prices(),
                asked_.parking(files_->manifest().has_parked), *files_->journal(), *store_workers_,
                say(), [this] { return files_->note_parking(); }});
            result<void> parked = co_await parking_->begin(context().with_cancel(loading_));
            if (!parked) co_return parked;
        }
        known_.emplace(*std::move(known), !asked_.rows.id_field.empty());
        if (asked_.threads > 1) {
            result<std::unique_ptr<row_workers>> started = co_await row_workers::start(
                {*tools_, asked_.options, *variables_, program_, binding_, *sessions_},
                asked_.threads, context().with_cancel(loading_), &rendered_);
            if (!started) co_return std::move(started).error();
            threads_ = *std::move(started);
        }
        sessions_->end_loading();
        auto feed = rows::row_feed::start(tools_->loop(), *std::move(reader));
        if (!feed) co_return std::move(feed).error();
        feed_ = *std::move(feed);
        co_return result<void>();
    }

    /// Before the program is evaluated: what it has got before is not asked again.
    coro::task<result<void>> begin() {
        source_watch& sources = tools_->sources();
        sources.set_own(files_->outputs().own_files());
        const coro::call_context loading = context().with_cancel(loading_);
        top_level_store kept;
        run_manifest about;
        if (only_looks()) {
            // Rows of a sample are run.
            if (asked_.sample_rows == 0) sources.perform_nothing();
            result<found_top_levels> before =
                co_await read_top_levels(store_workers_.get(), &asked_, loading);
            if (!before) co_return std::move(before).error();
            kept = std::move(before->kept);
            about = std::move(before->manifest);
            files_->take_settings(about);
        } else {
            result<void> begun = co_await files_->begin(loading);
            if (!begun) co_return begun;
            adopt_limits(asked_, round_.set);
            serve_control();
            kept = files_->top_levels();
            about = files_->manifest();
        }
        result<top_level_store::found_notes> found =
            co_await kept.find({asked_, program_.text, *tools_, about}, loading);
        if (!found) co_return std::move(found).error();
        if (found->notes) sessions_->begin_with(*std::move(found->notes));
        else files_->note_change(std::move(found->change));
        co_return result<void>();
    }

    coro::task<result<void>> look_only(rows::row_reader& reader) {
        look_parts of{parts(), reader, *store_workers_, files_->outputs(), {}, 0};
        of.digest = [this](run_manifest& run) { return files_->digest_now(run); };
        if (output_.traits().out_is_terminal) of.columns = output_.columns();
        result<std::string> text =
            co_await look_at_batch(std::move(of), context().with_cancel(loading_));
        if (!text) co_return std::move(text).error();
        looked_text_ = *std::move(text);
        co_return result<void>();
    }

    coro::task<void> work() {
        const bool is_first = !round_.began;
        round_.begin_rows(tools_->loop().now(), known_->rows());
        store::run_store* const journal = files_->journal();
        result_emitter::parts to = emitter_parts(asked_, *files_, *workers_, output_);
        to.on_change = [this] {
            if (batch_) batch_->wake();
        };
        emitter_.emplace(std::move(to));
        batch_run::parts of{parts(), *feed_, journal, *known_, *emitter_, {}};
        of.edition = files_->edition();
        of.earlier = files_->earlier();
        // With what was in batches and is there now.
        if (parking_) of.earlier.spent = journal->totals().spent;
        of.seed = journal ? files_->manifest().seed : sessions_->notes().seed();
        of.say = say();
        if (parking_) {
            of.parking = &parking_->lot();
            of.on_cancel = [this] { parking_->cancel_batches(); };
        }
        of.workers = threads_.get();
        if (!round_.until) {
            round_.until = asked_.deadline ? coro::deadline(*round_.began + *asked_.deadline)
                                           : coro::deadline::never();
        }
        of.until = *round_.until;
        of.rows_failed = round_.rows_failed;
        of.is_continued = [this](std::uint64_t row) { return round_.continues(row); };
        batch_.emplace(std::move(of));
        if (is_first) reports_.report_begin(batch_->counts());
        steering_.attach(*batch_);
        if (interrupted_) batch_->drain(stop_cause::interrupted, asked_.grace);
        else if (asked_.cancel_batches) batch_->drain(stop_cause::cancelled, asked_.grace);

        coro::nursery writing(context());
        writing.start(emitter_->run(context()));
        coro::nursery submitting(context());
        if (parking_) submitting.start(parking_->work(context()));
        result<void> ended = co_await batch_->run();
        if (parking_) parking_->stop();
        result<void> submitted = co_await submitting.join();
        if (ended && !submitted) ended = std::move(submitted);
        const bool complete = !batch_->has_rows_left();
        if (ended && journal && (complete || !asked_.ordered)) {
            ended = co_await emit_unseen(
                {*journal, *known_, *emitter_, batch_->rows_taken(), complete}, context());
        }
        emitter_->close();
        result<void> written = co_await writing.join();
        files_->outputs().close_results();
        if (ended && !written) ended = std::move(written);
        if (journal) {
            result<void> kept = co_await journal->flush(context());
            if (ended && !kept) ended = std::move(kept);
        }
        if (journal && ended) {
            ended = co_await files_->finish(
                {batch_->has_rows_left(), emitter_->failure().has_value(), batch_->rows_taken()},
                context());
            end_.outdated = files_->outdated();
        }
        if (parking_ && ended) ended = co_await end_parking();
        const ended_round round{*batch_, *emitter_, *files_, *tools_};
        note_end(round, ended ? std::nullopt : std::optional(ended.error()), round_, end_);
        if (goes_on()) co_return;
        if (journal) { // first: a kill during the report finds a run that has ended
            if (auto noted = files_->note_end(end_of(end_)); !noted && !end_.failure)
                say()(noted.error().message());
        }
        failure_table failures = co_await failures_to_report(round, end_.counts, context());
        failures_ = std::move(failures);
    }

    [[nodiscard]] std::function<void(std::string)> say() {
        return [this](const std::string& line) { output_.err("heddle: " + line + "\n"); };
    }

    /// Submits what the rows have asked for, unless the batch was stopped by hand.
    coro::task<result<void>> end_parking() {
        const stop_cause cause = batch_->gate().cause();
        const bool bounded = cause == stop_cause::budget || cause == stop_cause::calls ||
                             cause == stop_cause::deadline || cause == stop_cause::unpriced ||
                             cause == stop_cause::cancelled;
        if (cause != stop_cause::none && !bounded) co_return result<void>();
        result<void> ended = co_await parking_->end(context().with_cancel(loading_));
        if (!ended && ended.error().is_cancelled()) ended = result<void>(); // the cause is known
        const bool is_over = cause == stop_cause::deadline || cause == stop_cause::cancelled;
        goes_on_ = parking_->frees_rows() && !interrupted_ && !is_over;
        end_.problems = parking_->problems();
        end_.only_waits = batch_->only_waits() && end_.problems.empty();
        end_.batches = parking_->batches();
        co_return ended;
    }

    void interrupted() {
        interrupted_ = true;
        loading_.request(cancel_reason::user);
        if (!batch_) return;
        batch_->drain(stop_cause::interrupted, asked_.grace);
        reports_.report_interruption(batch_->counts().in_progress);
    }
    void interrupted_again() {
        if (batch_) batch_->cancel_rows();
    }

    [[nodiscard]] exit_code report_early_end(bool was_interrupted) {
        if (was_interrupted) early_cause_ = early_stop::interrupted;
        return reports_.report_early_end({*early_, rendered_, early_cause_});
    }

    exit_code report_end() {
        if (goes_on()) return end_.code();
        const exit_code code = reports_.report_end(end_, failures_);
        if (const auto lost = tools_->finish_recording())
            output_.err("heddle: the recording is incomplete: " + lost->message() + "\n");
        return code;
    }

    batch_request asked_;
    std::vector<std::string> arguments_;
    console& output_;
    batch_reports reports_{asked_, output_};
    const setup::environment* variables_ = nullptr;
    batch_program program_;
    row_binding binding_;
    needed_columns columns_;
    std::unique_ptr<application> tools_;
    std::optional<row_sessions> sessions_;
    std::unique_ptr<ports::worker_port> workers_; ///< for results: one write at a time
    std::unique_ptr<ports::worker_port> store_workers_;
    coro::cancel_source loading_;
    std::optional<run_files> files_;
    std::optional<parked_run> parking_; ///< nothing: no requests wait for batches
    bool goes_on_ = false;
    batch_round round_;
    std::unique_ptr<row_filter> filter_; ///< null: all rows are a part of the run
    std::optional<known_table> known_;
    std::unique_ptr<rows::row_feed> feed_;
    std::unique_ptr<row_workers> threads_; ///< null: rows are executed on the loop of the run
    std::optional<result_emitter> emitter_;
    std::optional<batch_run> batch_;
    batch_steering steering_{asked_.file, [this] { cancel_loading(); },
                             [this](const run_limits& limits) { keep_limits(limits); }};
    std::optional<batch_progress> progress_;
    std::unique_ptr<run_control> control_;
    bool interrupted_ = false;
    bool started_ = false;
    std::optional<error> early_;
    early_stop early_cause_ = early_stop::error;
    std::string looked_text_;
    std::string rendered_; ///< of an error in the program
    batch_summary end_;
    failure_table failures_;
};

} // namespace

exit_code run_batch(batch_request asked, std::vector<std::string> arguments,
                    const setup::environment& variables, console& output) {
    batch_round round;
    for (;;) {
        batch_work work(asked, arguments, output, std::move(round));
        const exit_code code = work.run(variables);
        if (!work.goes_on()) {
            if (work.has_begun() && !work.has_started() && work.holds_run())
                note_early_end(asked.run_folder(), work.stopped_early_by());
            return code;
        }
        round = work.take_round();
        // Rows that were to be retried have been.
        asked.has_retried = asked.is_retry();
        asked.retry_failed = false;
        asked.retry_ids.clear();
    }
}

} // namespace heddle::cli
