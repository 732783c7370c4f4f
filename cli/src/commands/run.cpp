#include "command_line/command.hpp"
#include "command_line/command_line.hpp"
#include "command_line/input_options.hpp"
#include "command_line/progress_option.hpp"
#include "command_line/workflow_option_reader.hpp"
#include "commands/evaluation.hpp"
#include "journal/kept_run.hpp"
#include "journal/run_setup.hpp"
#include "journal/step_trace.hpp"
#include "report_error.hpp"

#include <heddle/setup/input_files.hpp>
#include <heddle/setup/task_files.hpp>

namespace heddle::cli {

namespace {

struct run_request {
    workflow_options options;
    std::string file; ///< "-": standard input
    input_options inputs;
    std::string run; ///< the folder of the run; empty: nothing is kept
    bool retry_failed = false;
    bool cancel_batches = false;
    std::vector<std::string> arguments;     ///< of the command line
    const replay_request* replay = nullptr; ///< null: it is run
};

/// A text of the command line, or that which the run noted.
result<std::string> text_of_input(const run_request& asked, const std::string& file,
                                  std::string_view entry) {
    if (!asked.replay) return setup::read_input_file(file);
    HEDDLE_TRY(const auto entries, kept_run::entries_of(asked.run));
    const std::string* noted = text_of_entry(entries, entry);
    if (noted && !noted->empty()) return *noted; // the text of an object with secrets is not
    return setup::read_input_file(file);
}

/// The calls of a file of templates; the file joins the templates of the run.
result<std::vector<tasks::template_call>> calls_of(const std::string& file,
                                                   workflow_options& options) {
    options.adds_default_tasks = options.tasks.empty();
    options.tasks.push_back(file);
    std::vector<setup::template_place> places = setup::named_templates(options.tasks);
    if (options.adds_default_tasks && setup::has_templates(options.default_tasks))
        places.insert(places.begin(), setup::found_templates(options.default_tasks));
    tasks::template_load_options plain;
    HEDDLE_TRY(tasks::loaded_templates loaded, setup::load_templates(places, plain));
    std::erase_if(loaded.calls, [&](const tasks::template_call& call) {
        return call.source.substr(0, call.source.rfind(':')) != file;
    });
    if (loaded.calls.empty()) {
        return error(errc::invalid_argument, file + " holds no <call>, so there is nothing to run")
            .with_hint("call a template of it with: heddle call NAME --tasks " + file);
    }
    return std::move(loaded.calls);
}

} // namespace

static exit_code run_file(const run_request& asked, const setup::environment& variables,
                          console& output) {
    const bool json = asked.options.errors_as_json();
    if (asked.file == "-" && asked.inputs.json_file == "-") {
        return report_usage_error(
            error(errc::invalid_argument, "standard input cannot be both FILE and --input-json"),
            json, output);
    }
    program source;
    source.name = asked.file == "-" ? "<stdin>" : asked.file;
    auto text = text_of_input(asked, asked.file, workflow_entry(source.name));
    if (!text) return report_usage_error(text.error(), json, output);
    source.text = *std::move(text);
    source.calls_main = true;
    workflow_options options = asked.options;
    if (asked.file != "-") options.default_tasks = setup::tasks_beside(asked.file);
    if (setup::is_template_file(asked.file)) {
        auto calls = calls_of(asked.file, options);
        if (!calls) return report_usage_error(calls.error(), json, output);
        source.calls = *std::move(calls);
    }
    source.inputs = asked.inputs.pairs;
    if (asked.inputs.json_file) {
        auto object = text_of_input(asked, *asked.inputs.json_file, input_json_entry);
        if (!object) return report_usage_error(object.error(), json, output);
        source.input_json = *std::move(object);
    }
    source.run_folder = asked.run;
    source.arguments = asked.arguments;
    source.retry_failed = asked.retry_failed;
    source.cancel_batches = asked.cancel_batches;
    source.replay = asked.replay;
    return evaluate_program(std::move(source), options, variables, output);
}

namespace {

class run_work final : public command, public replayable_command {
public:
    void add_options(option_list& to) override {
        to.argument("FILE", asked_.file, "The workflow; - for standard input").required();
        add_input_options(to, asked_.inputs, "main");
        to.group("Run");
        to.option("--run", asked_.run,
                  "Directory for the journal of the run; the same command continues from it "
                  "after a crash or Ctrl-C")
            .value("DIR");
        to.flag("--retry-failed", asked_.retry_failed,
                "With --run, continue a run that ended with an error and repeat the step that "
                "failed");
        to.flag("--cancel-batches", asked_.cancel_batches, "As 'heddle runs cancel' asks").hidden();
        reader_.add_to(to, asked_.options);
        add_progress_option(to, progress_);
    }
    std::optional<std::string> mistake() override {
        if (asked_.retry_failed && asked_.run.empty()) return "--retry-failed needs --run DIR";
        if (asked_.cancel_batches && asked_.run.empty()) return "--cancel-batches needs --run DIR";
        if (auto wrong = read_progress_option(progress_, asked_.options.progress)) return wrong;
        return reader_.finish(asked_.options);
    }
    exit_code run(command_context context) override {
        asked_.arguments = context.program.arguments();
        std::erase(asked_.arguments, "--cancel-batches"); // no part of what continues the run
        return run_file(asked_, context.variables, context.output);
    }
    exit_code replay(const replay_request& asked, command_context context) override {
        asked_.run = asked.run;
        asked_.replay = &asked;
        asked_.options.json = asked.json;
        asked_.options.timeout.reset();
        return run_file(asked_, context.variables, context.output);
    }

private:
    workflow_option_reader reader_;
    run_request asked_;
    std::optional<std::string> progress_;
};

constexpr command_row rows[] = {{
    .name = "run",
    .summary = "Run the workflow in a file",
    .details =
        R"(If the file defines main, main is called with the inputs, matched to its parameters by name. Otherwise
the result is the value of the last expression. A string is printed unchanged, a list of
maps as a table; --json prints JSON. Without --tasks, templates are read from tasks/ next to FILE.

  --input name=text    the text after the first =
  --input rows:=[1,2]  any JSON value
  --input-json FILE    an object with several inputs; --input takes precedence

Examples:
  heddle run hello.heddle --input name=Ada
  heddle run report.heddle --input limit:=20 --concurrency 200 --timeout 60 --json
  jq '{rows: .items}' data.json | heddle run rows.heddle --input-json -
  heddle run hello.heddle --model scripted:rules.json
  heddle run hello.heddle --model openai:llama3 --base-url http://localhost:11434/v1
  heddle run long.heddle --run long.run

With --run DIR, the same command continues the workflow after Ctrl-C, a crash, kill -9 or the end of
--timeout, and repeats no finished call, not even in a map that was interrupted. A run that is done
prints its result again. 'heddle runs replay DIR' shows its steps.

On a terminal, a status line shows the progress of the outermost maps, the rate, the time left and
the calls; otherwise a line is printed after 2 and 10 seconds, and then every 30 seconds.

Ctrl-C cancels all calls, reports what was done and exits with 130. A second Ctrl-C stops at once.

Exit codes: 0 success, 1 the workflow failed, 2 usage or syntax error, 5 with --run: the rest waits for
batches of the services (tasks with the setting park), 130 interrupted.)",
    .group = command_group::run,
    .make = &make_command<run_work>,
}};

} // namespace

std::span<const command_row> run_commands() noexcept { return rows; }

} // namespace heddle::cli
