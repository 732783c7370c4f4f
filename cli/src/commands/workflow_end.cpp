#include "commands/workflow_end.hpp"

#include "application.hpp"
#include "failure_hints.hpp"
#include "journal/kept_run.hpp"
#include "journal/step_trace.hpp"
#include "render.hpp"
#include "report_error.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>
#include <heddle/tasks/output/task_result.hpp>

#include <boost/json/object.hpp>

namespace heddle::cli {

namespace {

using lang::value;

/// The value as it is to be printed. Errors: it has no JSON form.
result<std::string> text_of(const value& content, const program& source,
                            const workflow_options& options, const console& output) {
    if (options.json) {
        HEDDLE_TRY(std::string json, lang::value_to_json(content));
        return setup::json_line(json);
    }
    if (source.prints_written_form) return render_written_form(content);
    const console_traits& traits = output.traits();
    return render_result(content, traits.out_is_terminal ? output.columns() : 0);
}

error broken_recording(const error& failure) {
    return error(failure.code(),
                 "the recording is incomplete: " + utf8::printable(failure.message()));
}

/// For a run that reports something else besides. Empty: there is nothing to report.
std::string note_of_recording(const application& tools) {
    const auto failure = tools.recording_failure();
    return failure ? broken_recording(*failure).message() : std::string();
}

exit_code report_failure(error failure, exit_code code, workflow_run& run, application& tools,
                         const workflow_options& options, console& output) {
    const call_counts& counts = tools.counts();
    if (options.errors_as_json()) end_is_reported();
    failure = with_model_hint(std::move(failure), tools.has_services());
    failure = with_input_hint(std::move(failure), run.source.inputs);
    failure = with_map_hint(std::move(failure));
    if (options.errors_as_json()) {
        output.err_data(render_error_json(failure, run.session->realm().sources(), code, counts,
                                          note_of_recording(tools),
                                          run.unwritten ? &*run.unwritten : nullptr));
        return code;
    }
    if (const std::string note = note_of_recording(tools); !note.empty()) {
        output.err("heddle: " + note + "\n");
    }
    if (code == exit_code::interrupted) {
        output.err("interrupted: " + counts.summary() + "\n" +
                   lost_responses_hint(counts, tools.keeps_responses()));
        return code;
    }
    // A mistake of the command line has no place in the source and no kind in the language.
    if (code == exit_code::usage && failure.code() == errc::invalid_argument) {
        return report_usage_error(failure, options.errors_as_json(), output);
    }
    output.err_styled(run.session->render(failure, output.err_in_colour()));
    // The partial response was paid for. As the value of the run it is on standard output.
    const value* failed = run.shows_content ? nullptr : failed_result_in(failure);
    const std::string said = failed ? said_in_failure(*failed) : std::string();
    if (!said.empty()) output.err("what the task had of a response:\n" + said);
    if (counts.any() && options.verbosity >= 0) {
        output.err("before that: " + counts.summary() + "\n" +
                   lost_responses_hint(counts, tools.keeps_responses()));
    }
    return code;
}

/// Reports the model calls of a successful run: on a terminal, elsewhere only with -v.
void report_counts(const call_counts& counts, exit_code code, const workflow_options& options,
                   console& output) {
    const bool watched = output.traits().err_is_terminal && !options.json;
    if (!counts.any() || options.verbosity < (watched ? 0 : 1)) return;
    if (options.errors_as_json()) output.err_data(render_counts_json(counts, code));
    else output.err(counts.summary() + "\n");
}

/// Reports that the run succeeded but its output could not be written, with what was paid for.
exit_code report_loss(const error& lost, application& tools, const workflow_options& options,
                      console& output) {
    const call_counts& counts = tools.counts();
    if (options.errors_as_json()) {
        end_is_reported();
        output.err_data(render_error_json(lost, source_map(), exit_code::failed, counts,
                                          note_of_recording(tools)));
        return exit_code::failed;
    }
    output.err("heddle: " + lost.message() + "\n");
    const std::string note = note_of_recording(tools);
    if (!note.empty() && note != lost.message()) output.err("heddle: " + note + "\n");
    if (counts.any() && options.verbosity >= 0)
        output.err("before that: " + counts.summary() + "\n");
    return exit_code::failed;
}

} // namespace

exit_code report_end(workflow_run& run, application& tools, const workflow_options& options,
                     bool interrupted, console& output) {
    const bool failed = run.ended && tasks::is_failed_result(*run.ended);
    // The answer of a dispatch is a result in any case, and JSON shows all of it.
    const bool shows_failure = failed && run.source.dispatches && options.json;
    if (failed && !shows_failure) {
        run.shows_content = !options.json;
        if (run.shows_content) output.out_data(said_in_failure(*run.ended));
        run.ended = tasks::task_error_of(*run.ended).with_span(run.last_form);
    }
    const auto report_lost_output = [&] {
        return report_loss(error(errc::io_error, std::string(output_lost_message)), tools, options,
                           output);
    };
    if (output.output_lost() && !interrupted) return report_lost_output();
    if (!run.ended) {
        if (run.shows_content && !output.flush() && !interrupted) return report_lost_output();
        const exit_code code = interrupted ? exit_code::interrupted : run.on_failure;
        return report_failure(run.ended.error(), code, run, tools, options, output);
    }
    auto text = text_of(*run.ended, run.source, options, output);
    if (!text) {
        if (options.json) run.unwritten = *run.ended;
        return report_failure(text.error(), exit_code::failed, run, tools, options, output);
    }
    output.out_data(*text);
    if (!output.flush()) return report_lost_output();
    if (const auto failure = tools.finish_recording()) {
        return report_loss(broken_recording(*failure), tools, options, output);
    }
    if (options.verbosity >= 0) {
        for (const std::string& line : run.remarks) output.err("heddle: " + line + "\n");
        for (const std::string& line : tools.models().closing_remarks()) {
            output.err("heddle: " + line + "\n");
        }
    }
    const exit_code code = shows_failure ? run.on_failure : exit_code::done;
    report_counts(tools.counts(), code, options, output);
    return code;
}

exit_code report_waiting(const workflow_run& run, const workflow_options& options,
                         console& output) {
    const run_parking& parking = run.parking;
    if (!parking.problems().empty() && parking.open_batches() == 0) {
        return report_error(
            error(errc::io_error, "no batch could be submitted: " + parking.problems().front())
                .with_hint("the same command tries again"),
            exit_code::failed, options.errors_as_json(), output);
    }
    if (parking.cancels()) return exit_code::done; // what was cancelled has been said
    if (options.errors_as_json()) {
        end_is_reported();
        output.err_data(setup::json_line(
            boost::json::object{{"exit_code", static_cast<int>(exit_code::rows_wait)},
                                {"parked_calls", parking.open_calls()},
                                {"batches", parking.open_batches()},
                                {"run", run.kept->folder()}}));
    } else if (options.verbosity >= 0) {
        output.err("heddle: " + setup::counted(parking.open_calls(), "call") +
                   (parking.open_calls() == 1 ? " waits" : " wait") +
                   " for a batch; the same command continues the run in " + run.kept->folder() +
                   "\n");
    }
    return exit_code::rows_wait;
}

exit_code report_replay(const workflow_run& run, const step_trace& trace) {
    replay_end how{end_of_run(run.ended, run.session->realm().sources()), run.kept->missing()};
    how.differs = run.kept->differs_from_record(how.row);
    return trace.end(how) ? exit_code::done : exit_code::failed;
}

} // namespace heddle::cli
