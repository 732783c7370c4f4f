#include "commands/evaluation.hpp"

#include "application.hpp"
#include "commands/workflow_end.hpp"
#include "commands/workflow_run.hpp"
#include "inputs.hpp"
#include "interrupts.hpp"
#include "journal/run_setup.hpp"
#include "journal/step_trace.hpp"
#include "progress.hpp"
#include "report_error.hpp"
#include "run_to_end.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_result.hpp>
#include <heddle/tasks/session/dispatch.hpp>

#include <boost/asio/post.hpp>

namespace heddle::cli {

namespace {

using lang::value;

/// The call of main with the inputs. Errors leave `run` marked as a usage error where they are one.
result<std::vector<value>> arguments_of_main(workflow_run& run, const value& main) {
    run.on_failure = exit_code::usage;
    if (!host::session::parameters_of(main)) {
        return error(errc::invalid_argument, "main is not a function")
            .with_hint("write (define (main …) …)");
    }
    auto inputs = read_inputs(run.session->memory(), run.source.inputs, run.source.input_json);
    if (!inputs) return std::move(inputs).error();
    auto arguments = bind_inputs(main, *inputs);
    if (arguments) run.on_failure = exit_code::failed;
    return arguments;
}

/// What is to be dispatched. Errors leave `run` marked as a usage error.
result<tasks::dispatch_request> dispatch_of(workflow_run& run, host::run_options options) {
    lang::heap& memory = run.session->memory();
    run.on_failure = exit_code::usage;
    auto inputs = read_inputs(memory, run.source.inputs, run.source.input_json);
    if (!inputs) return std::move(inputs).error();
    tasks::dispatch_request request;
    request.identifier = run.source.text;
    request.options = options;
    request.params = value::empty_map();
    for (auto& [name, item] : *inputs) {
        request.params = lang::map_put(memory, std::move(request.params), name, std::move(item));
    }
    if (!run.source.files.empty()) {
        value files = value::empty_list();
        for (const std::string& file : run.source.files) {
            files = lang::list_push_back(memory, std::move(files), lang::make_string(memory, file));
        }
        request.params =
            lang::map_put(memory, std::move(request.params), "file_context", std::move(files));
    }
    run.on_failure = exit_code::failed;
    return request;
}

/// True if running the forms of `text` calls main: a call that is not inside of a definition, a
/// function or quoted data. The text has been read before, so an error cannot come up here.
bool calls_main_itself(lang::heap& memory, std::string_view text) {
    auto forms = lang::read_all(memory, utf8::skip_byte_order_mark(text));
    if (!forms) return false;
    std::vector<value> pending;
    for (lang::datum& form : *forms) pending.push_back(std::move(form.content));
    while (!pending.empty()) {
        const value form = std::move(pending.back());
        pending.pop_back();
        if (!form.is(lang::kind::list)) continue;
        const auto items = lang::list_items(form);
        if (items.empty()) continue;
        if (items.front().is(lang::kind::symbol)) {
            const std::string_view head = lang::symbol_name(items.front());
            if (head == "main") return true;
            if (head == "lambda" || head == "quote" || head == "quasiquote" ||
                head.starts_with("def")) {
                continue;
            }
        }
        pending.insert(pending.end(), items.begin(), items.end());
    }
    return false;
}

/// The last form of a program that has been read before. A FAILED result has no place of its own,
/// and is the value of that form.
source_span last_form_of(workflow_run& run) {
    const std::string_view text = utf8::skip_byte_order_mark(run.source.text);
    const std::uint32_t position =
        run.session->realm().sources().add(run.source.name, std::string(text));
    const auto forms = lang::read_all(run.session->memory(), text, position);
    return position == 0 || !forms || forms->empty() ? source_span() : forms->back().span;
}

coro::task<result<value>> evaluate_source(workflow_run* run, host::run_options options) {
    host::session& session = *run->session;
    const program& source = run->source;
    if (source.calls.empty()) {
        result<value> ended = co_await session.evaluate(source.name, source.text, options);
        if (ended && tasks::is_failed_result(*ended)) run->last_form = last_form_of(*run);
        co_return ended;
    }
    const std::uint32_t position = session.realm().sources().add(
        source.name, std::string(utf8::skip_byte_order_mark(source.text)));
    if (source.calls.size() == 1) {
        const tasks::template_call& call = source.calls.front();
        run->last_form = {position + call.begin, position + call.end};
    }
    auto forms = tasks::forms_of_calls(session.memory(), source.calls, position);
    if (!forms) co_return std::move(forms).error();
    result<value> ended = co_await session.evaluate_forms(*std::move(forms), options);
    co_return ended;
}

/// By a limit or from outside, while macros ran.
bool was_ended(const error& failure) {
    return failure.is_cancelled() || failure.code() == lang::errc::timeout ||
           lang::error_kind_name(failure) == "LimitError";
}

coro::task<result<value>> perform(workflow_run* run, host::run_options options) {
    host::session& session = *run->session;
    if (run->source.dispatches) {
        auto request = dispatch_of(*run, options);
        if (!request) co_return std::move(request).error();
        result<value> answer = co_await tasks::dispatch(session, *std::move(request));
        // As for a program below: a workflow that could not be read or compiled.
        const bool is_workflow = run->source.text.find('(') < 2;
        if (is_workflow && answer && tasks::is_failed_result(*answer) && !session.has_run_code()) {
            run->on_failure = exit_code::usage;
        }
        co_return answer;
    }
    if (run->kept) options.steps = run->kept->top();
    result<value> last = co_await evaluate_source(run, options);
    if (run->kept) {
        run->kept->note_imports(run->tools->imported());
        run->tools->allow_parked_branches(session);
        options.concurrency = run->tools->bounds().concurrency;
    }
    if (!last) {
        // Nothing was run: the text could not be read or compiled.
        if (!session.has_run_code() && !was_ended(last.error())) run->on_failure = exit_code::usage;
        co_return last;
    }
    if (!run->source.calls_main) co_return last;
    const auto main = session.global("main");
    if (!main) {
        if (run->source.inputs.empty() && !run->source.input_json) co_return last;
        run->on_failure = exit_code::usage;
        co_return error(errc::invalid_argument,
                        run->source.name + " defines no main, so it takes no inputs");
    }
    if (auto shown = check_shown_task(run->shown_task, session); !shown) {
        run->on_failure = exit_code::usage;
        co_return std::move(shown).error();
    }
    auto arguments = arguments_of_main(*run, *main);
    if (!arguments) co_return std::move(arguments).error();
    if (calls_main_itself(session.memory(), run->source.text)) {
        run->remarks.push_back(run->source.name +
                               " calls main itself, and 'heddle run' has called it once more; "
                               "remove one of the calls");
    }
    // A file of one call defines main with that call.
    if (run->source.calls.empty()) run->last_form = {};
    if (run->kept) {
        result<host::step_log*> steps = co_await run->kept->begin_main();
        if (!steps) co_return std::move(steps).error();
        options.steps = *steps;
    }
    result<value> answer = co_await session.call(*main, *std::move(arguments), options);
    co_return answer;
}

/// Opens what is kept of the run. False: the run is over, with an error.
coro::task<bool> open_kept(workflow_run* run, application* tools) {
    result<void> opened = co_await run->kept->open(tools, run->session.get(), &run->sources);
    if (!opened) {
        run->on_failure = exit_code::usage;
        run->ended = std::move(opened).error();
        co_return false;
    }
    run->is_open = true;
    if (const std::string& line = run->kept->greeting(); !line.empty()) run->say(line);
    co_return true;
}

/// Keeps how the run has ended.
coro::task<void> keep_end(workflow_run* run) {
    run_end how;
    const bool waits = run->parking.holds_run() || run->kept->is_parked();
    const bool is_over =
        !run->stopped && !waits && (run->ended || run->on_failure != exit_code::usage);
    if (is_over) how = end_of_run(run->ended, run->session->realm().sources());
    result<void> kept = co_await run->kept->end(std::move(how));
    if (!kept && run->ended) run->ended = std::move(kept).error();
}

coro::task<void> perform_and_close(workflow_run* run, host::run_options options,
                                   application* tools) {
    bool goes = true;
    if (run->kept) goes = co_await open_kept(run, tools);
    if (goes && !run->parking.holds_run()) {
        result<value> ended = co_await perform(run, options);
        run->ended = std::move(ended);
    }
    run->stopped = run->cancel.requested() || options.until.passed(tools->loop().now());
    if (run->is_open) {
        run->kept->note_imports(tools->imported());
        co_await keep_end(run);
        const coro::call_context submitting{&tools->loop(), &run->cancel, {}};
        result<void> submitted = co_await run->parking.end(run->stopped, submitting);
        if (!submitted) run->ended = std::move(submitted).error();
    }
    run->parking.close();
    co_await tools->close();
}

/// What on_output_lost() calls goes with the run, however that ends: a writer may call it from a
/// thread of its own.
struct loss_watch {
    console& of;
    ~loss_watch() { of.on_output_lost(nullptr); }
};

} // namespace

exit_code evaluate_program(program source, const workflow_options& asked,
                           const setup::environment& variables, console& output) {
    raise_open_file_limit();
    workflow_options options = asked;
    if (options.progress == progress_style::json) output.write_notes_as_json();
    std::optional<step_trace> trace;
    if (source.replay) trace.emplace(*source.replay, output);
    auto parts = set_up_run(source, options, trace ? &*trace : nullptr, variables, output);
    if (!parts) return report_usage_error(parts.error(), options.errors_as_json(), output);
    const std::unique_ptr<application> tools = std::move(parts->tools);
    workflow_run run;
    run.source = std::move(source);
    run.shown_task = options.show_prompts;
    auto session = tools->engine().new_session();
    if (!session) return report_usage_error(session.error(), options.errors_as_json(), output);
    run.session = *std::move(session);
    // It ends before the loop.
    const std::unique_ptr<kept_run> keeper = std::move(parts->kept);
    if (keeper) {
        run.kept = keeper.get();
        run.tools = tools.get();
        run.sources = std::move(parts->sources);
        run.say = [&](const std::string& line) {
            if (options.verbosity >= 0 && !options.json) output.err("heddle: " + line + "\n");
        };
    }
    if (trace) trace->attach(*run.session, run.cancel);
    if (keeper && options.parks) {
        run.parking.attach(*keeper, *tools, run.say, run.cancel);
        if (run.source.cancel_batches) run.parking.cancel_batches();
    }

    coro::event_loop& loop = tools->loop();
    interrupts signals(loop.context(), [&] {
        run.cancel.request(cancel_reason::user);
        if (output.traits().err_is_terminal && !options.json && options.verbosity >= 0) {
            output.err("\nending " + std::to_string(tools->counts().running) +
                       " calls; Ctrl-C again stops at once\n");
        }
    });
    // Nobody reads any more: calls that are still to come would be paid for nothing.
    output.on_output_lost([&] {
        boost::asio::post(loop.context(), [&run] { run.cancel.request(cancel_reason::user); });
    });
    std::optional<progress> status;
    if (options.verbosity >= 0 || options.progress != progress_style::automatic) {
        progress_source watched{&tools->counts()};
        // With --json, standard error is for an object about the end, unless lines were asked for.
        if (!options.json || options.progress != progress_style::automatic)
            watched.maps = [&run] { return run.session->outermost_maps(); };
        status.emplace(loop, output, std::move(watched), options.progress);
    }

    host::run_options bounds = tools->bounds();
    bounds.cancel = &run.cancel;
    if (options.timeout) bounds.until = coro::deadline(loop.now() + *options.timeout);
    {
        const loss_watch watched{output};
        const console::loop_time looping(output);
        run_to_end(loop, perform_and_close(&run, bounds, tools.get()), [&] {
            status.reset();
            signals.stop();
        });
    }
    // Who wants the run to end gets an end, whether or not somebody reads.
    const bool timed_out = !run.ended && bounds.until.passed(loop.now());
    if (signals.came() || timed_out) output.wait_at_most(time_for_readers);
    if (trace && run.is_open && !signals.came()) return report_replay(run, *trace);
    if (run.parking.waits()) return report_waiting(run, options, output);
    const exit_code code = report_end(run, *tools, options, signals.came(), output);
    if (run.is_open && run.stopped && run.kept->use() == run_use::work)
        run.say("the same command continues the run in " + run.kept->folder());
    return code;
}

} // namespace heddle::cli
