#include "journal/run_setup.hpp"

#include "batch/run_folder/run_command.hpp"
#include "journal/refused_requests.hpp"
#include "json_or_text.hpp"
#include "service_options.hpp"

#include <heddle/setup/input_files.hpp>
#include <heddle/setup/task_files.hpp>

#include <boost/json/object.hpp>

#include <algorithm>
#include <filesystem>

namespace heddle::cli {

namespace {

/// Tasks may have their requests wait for batches: the run can go on in another process.
void allow_parking(workflow_options& options) {
    options.parks = !options.record && !options.replay;
    if (!options.parks) options.why_not_parked = no_parking_of_recordings;
}

result<std::unique_ptr<kept_run>> prepare_run(const program& source, workflow_options& options,
                                              step_trace* trace,
                                              const setup::environment& variables) {
    if (source.run_folder.empty()) return std::unique_ptr<kept_run>();
    kept_run_request asked;
    asked.folder = source.run_folder;
    asked.program = source.name;
    asked.arguments = source.arguments;
    asked.inputs = source.inputs;
    asked.variables = variables;
    asked.retry_failed = source.retry_failed;
    asked.seed = options.seed;
    options.has_journal = true;
    if (source.replay) {
        asked.use = run_use::replay;
        asked.on_replayed = [trace](const ports::step_record& record) { trace->show(record); };
        use_journal_only(options, false);
        return std::make_unique<kept_run>(std::move(asked));
    }
    HEDDLE_TRY(const auto status, kept_run::status_of(source.run_folder));
    const bool goes_on = !status || (status == ports::row_status::failed && source.retry_failed);
    if (!goes_on) {
        asked.use = run_use::report_again;
        use_journal_only(options, true);
    }
    if (goes_on) allow_parking(options);
    return std::make_unique<kept_run>(std::move(asked));
}

/// Whether a member of the object has the name of a secret, so that its text is not kept.
bool holds_a_secret(const std::string& object) {
    const boost::json::value parsed = json_or_text(object);
    if (!parsed.is_object()) return false;
    const boost::json::object& members = parsed.get_object();
    return std::any_of(members.begin(), members.end(),
                       [](const auto& each) { return is_name_of_secret(each.key()); });
}

/// What the run depends on.
run_sources sources_of(const program& source, const workflow_options& options,
                       const application& tools) {
    run_sources all;
    all.add_text(workflow_entry(source.name), source.text);
    std::string inputs;
    for (const std::string& each : source.inputs) inputs += each + '\0';
    all.add_setting("the inputs", inputs); // they may have secrets
    const std::string object = source.input_json.value_or("");
    if (holds_a_secret(object)) all.add_setting(std::string(input_json_entry), object);
    else all.add_text(std::string(input_json_entry), object);
    if (const auto files = setup::template_files(tools.template_places())) {
        for (const setup::template_place& file : *files) {
            if (auto text = setup::read_template_file(file))
                all.add_templates(file.path, *std::move(text));
        }
    }
    all.add_setting("the settings of models", tools.models().asked_settings());
    // As it was named: which services have keys does not matter for a run that has ended.
    all.add_setting("--model", options.model.value_or(""));
    all.add_setting("--base-url", options.base_url.value_or(""));
    all.add_setting("--seed", std::to_string(options.seed));
    // What is recorded in one order cannot come in another one.
    all.add_setting("--concurrency", std::to_string(tools.bounds().concurrency));
    std::error_code failed;
    all.add_setting("--workspace", std::filesystem::absolute(options.workspace, failed).string());
    return all;
}

} // namespace

std::string workflow_entry(const std::string& name) { return "the workflow " + name; }

void use_journal_only(workflow_options& options, bool shows_output) {
    static refused_requests refused; // has no state
    options.from_journal = true;
    options.without_keys = true;
    options.watch = &refused;
    options.cache = false;
    options.record.reset();
    if (shows_output) return;
    options.drops_output = true;
    options.show_prompts.clear();
    options.stream = false;
}

result<run_tools> set_up_run(const program& source, workflow_options& options, step_trace* trace,
                             const setup::environment& variables, console& output) {
    run_tools run;
    const workflow_options asked = options;
    HEDDLE_TRY(run.kept, prepare_run(source, options, trace, variables));
    HEDDLE_TRY(run.tools, application::create(source.name, options, variables, output));
    if (!run.kept) return run;
    run.sources = sources_of(source, options, *run.tools);
    if (run.kept->use() != run_use::report_again) return run;
    HEDDLE_TRY(const auto noted, kept_run::entries_of(source.run_folder));
    if (run.sources.changes_since(noted).empty()) return run;
    // It has ended, and begins anew with another program.
    options = asked;
    options.has_journal = true;
    allow_parking(options);
    run.kept->work_again();
    run.tools.reset();
    HEDDLE_TRY(run.tools, application::create(source.name, options, variables, output));
    run.sources = sources_of(source, options, *run.tools);
    return run;
}

} // namespace heddle::cli
