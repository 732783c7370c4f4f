#include "commands/commands.hpp"
#include "commands/evaluation.hpp"
#include "input_files.hpp"

namespace heddle::cli {

exit_code eval_expression(const eval_request& asked, const environment& variables,
                          console& output) {
    program source;
    source.name = "<expr>";
    source.text = asked.expression;
    source.prints_written_form = true;
    if (asked.expression == "-") {
        auto text = read_input_file("-");
        if (!text) return tell_usage_error(text.error(), asked.options.json, output);
        source.name = "<stdin>";
        source.text = *std::move(text);
    }
    return evaluate_program(std::move(source), asked.options, variables, output);
}

} // namespace heddle::cli
