// `heddle check`
#include "command_line/command.hpp"
#include "command_line/workflow_option_reader.hpp"
#include "offline_session.hpp"
#include "report_error.hpp"
#include "source_diagnostics.hpp"

#include <heddle/lang/check.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/input_files.hpp>
#include <heddle/setup/task_files.hpp>
#include <heddle/tasks/tools/definition_check.hpp>

#include <algorithm>

namespace heddle::cli {

namespace {

struct check_request {
    std::vector<std::string> files;   ///< "-": standard input
    std::vector<std::string> externs; ///< names that the host will provide
    bool json = false;
    bool strict = false;            ///< warnings count as errors
    std::vector<std::string> tasks; ///< folders of task templates; empty: that beside each file
};

struct found_problems {
    std::size_t errors = 0;
    std::size_t warnings = 0;
    bool unreadable = false;
};

/// The templates that a program can call: what --tasks names, else the folder beside it.
result<tasks::loaded_templates> templates_for(const std::string& path, const check_request& asked) {
    std::vector<setup::template_place> places = setup::named_templates(asked.tasks);
    const std::string beside = path == "-" ? std::string() : setup::tasks_beside(path);
    if (places.empty() && setup::has_templates(beside))
        places.push_back(setup::found_templates(beside));
    if (setup::is_template_file(path)) places.push_back({path});
    return setup::load_templates(places, {});
}

void check_file(const std::string& path, const check_request& asked, found_problems& found,
                console& output) {
    auto text = setup::read_input_file(path);
    auto templates = templates_for(path, asked);
    if (!text || !templates) {
        found.unreadable = true;
        (void)report_usage_error(text ? templates.error() : text.error(), asked.json, output);
        return;
    }
    if (setup::is_template_file(path)) return; // it was checked with the others
    auto session = offline_session::create(std::move(templates->templates));
    if (!session) {
        found.unreadable = true;
        (void)report_usage_error(session.error(), asked.json, output);
        return;
    }
    lang::realm& realm = (*session)->realm();
    const std::uint32_t position = realm.sources().add(path == "-" ? "<stdin>" : path, *text);
    const tasks::definition_check definitions;
    lang::check_options options;
    options.externs = asked.externs;
    options.extern_option = "--extern";
    options.tasks = &definitions;
    for (const lang::problem& each : lang::check_program(realm, *text, position, options)) {
        ++(each.level == lang::severity::error ? found.errors : found.warnings);
        output.out_styled(asked.json ? problem_as_json(each, realm.sources())
                                     : render_problem(each, realm.sources(), output));
    }
}

} // namespace

static exit_code check_files(const check_request& asked, console& output) {
    found_problems found;
    for (const std::string& path : asked.files) check_file(path, asked, found, output);
    if (!asked.json && found.errors + found.warnings != 0) {
        output.out(setup::counted(found.errors, "error") + ", " +
                   setup::counted(found.warnings, "warning") + "\n");
    }
    if (found.unreadable) return exit_code::usage;
    const bool bad = found.errors != 0 || (asked.strict && found.warnings != 0);
    return bad ? exit_code::failed : exit_code::done;
}

namespace {

class check_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("FILE", asked_.files, "Files to check; - for standard input").required();
        to.flag("--strict", asked_.strict, "Treat warnings as errors");
        to.option("--extern", asked_.externs,
                  "Name that is defined elsewhere, as a task or a global; repeatable")
            .value("NAME");
        add_tasks_option(to, asked_.tasks);
        to.flag("--json", asked_.json, "Print one JSON object per line for each problem");
    }
    exit_code run(command_context context) override { return check_files(asked_, context.output); }

private:
    check_request asked_;
};

constexpr command_row rows[] = {{
    .name = "check",
    .summary = "Find mistakes in source files without running them",
    .details =
        R"(Reads and resolves the files, runs nothing and calls no model. Reports all problems at once, each
with its line: syntax, malformed forms, unknown names, wrong numbers of arguments, templates and
calls of tasks, clauses that are never reached, unused bindings. Names that begin with _ may be
unused. Imported files are not read: a name that might come from one is a warning.

Examples:
  heddle check review.heddle
  heddle check --extern user:plan --extern search workflow.heddle
  heddle check --json - < review.heddle

Exit codes: 0 no errors, 1 errors (with --strict: or warnings), 2 usage, or a file that cannot be
read.)",
    .group = command_group::write,
    .make = &make_command<check_work>,
}};

} // namespace

std::span<const command_row> check_commands() noexcept { return rows; }

} // namespace heddle::cli
