// `heddle check`
#include "commands/commands.hpp"
#include "commands/evaluation.hpp"
#include "display_text.hpp"
#include "input_files.hpp"
#include "source_diagnostics.hpp"
#include "still_world.hpp"

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

void check_file(const std::string& path, const check_request& asked, found_problems& found,
                console& output) {
    auto text = read_input_file(path);
    auto world = still_world::create();
    if (!text || !world) {
        found.unreadable = true;
        (void)tell_usage_error(text ? world.error() : text.error(), asked.json, output);
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
        output.out(asked.json ? problem_as_json(each, realm.sources())
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
