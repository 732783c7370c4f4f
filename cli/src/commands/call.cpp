// `heddle call`
#include "commands/commands.hpp"
#include "commands/evaluation.hpp"
#include "input_files.hpp"

namespace heddle::cli {

exit_code call_by_name(const call_request& asked, const environment& variables, console& output) {
    program source;
    source.name = "<call>";
    source.text = asked.identifier;
    source.dispatches = true;
    source.inputs = asked.inputs;
    source.files = asked.files;
    if (asked.input_json) {
        auto inputs = read_input_file(*asked.input_json);
        if (!inputs) return tell_usage_error(inputs.error(), asked.options.json, output);
        source.input_json = *std::move(inputs);
    }
    workflow_options options = asked.options;
    options.default_tasks = "tasks";
    return evaluate_program(std::move(source), options, variables, output);
}

} // namespace heddle::cli
