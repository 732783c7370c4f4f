// `heddle call`
#include "command_line/command.hpp"
#include "command_line/input_options.hpp"
#include "command_line/workflow_option_reader.hpp"
#include "commands/evaluation.hpp"
#include "report_error.hpp"

namespace heddle::cli {

namespace {

/// Runs a workflow, template or tool by what it is called.
struct call_request {
    workflow_options options;
    std::string identifier;
    input_options inputs;
    std::vector<std::string> files; ///< context of a template
};

} // namespace

static exit_code call_by_name(const call_request& asked, const setup::environment& variables,
                              console& output) {
    program source;
    source.name = "<call>";
    source.text = asked.identifier;
    source.dispatches = true;
    source.inputs = asked.inputs.pairs;
    source.files = asked.files;
    auto object = read_input_json(asked.inputs);
    if (!object) return report_usage_error(object.error(), asked.options.json, output);
    source.input_json = *std::move(object);
    workflow_options options = asked.options;
    options.default_tasks = "tasks";
    return evaluate_program(std::move(source), options, variables, output);
}

namespace {

class call_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("IDENTIFIER", asked_.identifier,
                    "Template, type:subtype, tool, or workflow in parentheses")
            .required();
        to.argument("INPUT", asked_.inputs.pairs, "NAME=TEXT, or NAME:=JSON for other values");
        to.group("Input");
        add_input_json_option(to, asked_.inputs, "IDENTIFIER");
        to.option("-f,--file", asked_.files, "File for the context of a template; repeatable")
            .value("PATH");
        reader_.add_to(to, asked_.options);
    }
    std::optional<std::string> mistake() override { return reader_.finish(asked_.options); }
    exit_code run(command_context context) override {
        return call_by_name(asked_, context.variables, context.output);
    }

private:
    workflow_option_reader reader_;
    call_request asked_;
};

constexpr command_row rows[] = {{
    .name = "call",
    .summary = "Run a workflow, a template or a tool by its name",
    .details =
        R"(The result is a task result: its content is printed, or all of it with --json. An identifier that
begins with ( is a workflow, and the inputs are its globals. Any other identifier is a template, by
name or type:subtype, or a tool, and the inputs are its inputs.

Examples:
  heddle call summarise text="A long story." --model openai:gpt-4o-mini
  heddle call review --file src/main.cpp --input-json review.json --json
  heddle call '(+ a b)' a:=1 b:=2

Exit codes: the same as for heddle run; 1 for a FAILED result.)",
    .group = command_group::run,
    .make = &make_command<call_work>,
}};

} // namespace

std::span<const command_row> call_commands() noexcept { return rows; }

} // namespace heddle::cli
