#include "commands/commands.hpp"
#include "commands/evaluation.hpp"
#include "input_files.hpp"

namespace heddle::cli {

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
    source.inputs = asked.inputs;
    if (asked.input_json) {
        auto inputs = read_input_file(*asked.input_json);
        if (!inputs) return tell_usage_error(inputs.error(), json, output);
        source.input_json = *std::move(inputs);
    }
    return evaluate_program(std::move(source), asked.options, variables, output);
}

} // namespace heddle::cli
