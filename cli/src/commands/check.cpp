// `heddle check`
#include "commands/commands.hpp"
#include "commands/evaluation.hpp"
#include "display_text.hpp"
#include "input_files.hpp"
#include "source_diagnostics.hpp"
#include "still_world.hpp"
#include "task_files.hpp"

#include <heddle/lang/check.hpp>
#include <heddle/tasks/definition_check.hpp>

#include <algorithm>

namespace heddle::cli {

namespace {

struct found_problems {
    std::size_t errors = 0;
    std::size_t warnings = 0;
    bool unreadable = false;
};

/// The templates that a program can call: what --tasks names, else the folder beside it.
result<tasks::loaded_templates> templates_for(const std::string& path, const check_request& asked) {
    std::vector<std::string> paths = asked.tasks;
    const std::string beside = path == "-" ? std::string() : tasks_beside(path);
    if (paths.empty() && has_templates(beside)) paths.push_back(beside);
    if (is_template_file(path)) paths.push_back(path);
    return load_templates(paths, {});
}

void check_file(const std::string& path, const check_request& asked, found_problems& found,
                console& output) {
    auto text = read_input_file(path);
    auto templates = templates_for(path, asked);
    if (!text || !templates) {
        found.unreadable = true;
        (void)tell_usage_error(text ? templates.error() : text.error(), asked.json, output);
        return;
    }
    if (is_template_file(path)) return; // it was checked with the others
    auto world = still_world::create(std::move(templates->templates));
    if (!world) {
        found.unreadable = true;
        (void)tell_usage_error(world.error(), asked.json, output);
        return;
    }
    lang::realm& realm = (*world)->realm();
    const std::uint32_t position = realm.sources().add(path == "-" ? "<stdin>" : path, *text);
    const tasks::definition_check definitions;
    lang::check_options options;
    options.externs = asked.externs;
    options.tasks = &definitions;
    for (const lang::problem& each : lang::check_program(realm, *text, position, options)) {
        ++(each.level == lang::severity::error ? found.errors : found.warnings);
        output.out_styled(asked.json ? problem_as_json(each, realm.sources())
                                     : render_problem(each, realm.sources(), output));
    }
}

} // namespace

exit_code check_files(const check_request& asked, console& output) {
    found_problems found;
    for (const std::string& path : asked.files) check_file(path, asked, found, output);
    if (!asked.json && found.errors + found.warnings != 0) {
        output.out(counted(found.errors, "error") + ", " + counted(found.warnings, "warning") +
                   "\n");
    }
    if (found.unreadable) return exit_code::usage;
    const bool bad = found.errors != 0 || (asked.strict && found.warnings != 0);
    return bad ? exit_code::failed : exit_code::done;
}

} // namespace heddle::cli
