#include "commands/commands.hpp"
#include "commands/evaluation.hpp"
#include "input_files.hpp"
#include "task_files.hpp"

namespace heddle::cli {

namespace {

/// The calls of a file of templates; the file joins the templates of the run.
result<std::vector<tasks::template_call>> calls_of(const std::string& file,
                                                   workflow_options& options) {
    if (options.tasks.empty() && has_templates(options.default_tasks)) {
        options.tasks.push_back(options.default_tasks);
    }
    options.tasks.push_back(file);
    tasks::template_load_options plain;
    HEDDLE_TRY(tasks::loaded_templates loaded, load_templates(options.tasks, plain));
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

exit_code run_file(const run_request& asked, const environment& variables, console& output) {
    const bool json = asked.options.json;
    if (asked.file == "-" && asked.input_json == "-") {
        return tell_usage_error(
            error(errc::invalid_argument, "standard input cannot be both FILE and --input-json"),
            json, output);
    }
    auto text = read_input_file(asked.file);
    if (!text) return tell_usage_error(text.error(), json, output);

    program source;
    source.name = asked.file == "-" ? "<stdin>" : asked.file;
    source.text = *std::move(text);
    source.calls_main = true;
    workflow_options options = asked.options;
    if (asked.file != "-") options.default_tasks = tasks_beside(asked.file);
    if (is_template_file(asked.file)) {
        auto calls = calls_of(asked.file, options);
        if (!calls) return tell_usage_error(calls.error(), json, output);
        source.calls = *std::move(calls);
    }
    source.inputs = asked.inputs;
    if (asked.input_json) {
        auto inputs = read_input_file(*asked.input_json);
        if (!inputs) return tell_usage_error(inputs.error(), json, output);
        source.input_json = *std::move(inputs);
    }
    return evaluate_program(std::move(source), options, variables, output);
}

} // namespace heddle::cli
