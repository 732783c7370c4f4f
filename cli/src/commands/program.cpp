#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "report_error.hpp"

namespace heddle::cli {

namespace {

exit_code report_end(const early_end& end, bool json, console& output) {
    if (end.code == exit_code::done) {
        output.out_data(end.text);
        return end.code;
    }
    if (json && !end.mistake.empty()) {
        return report_error(error(errc::invalid_argument, end.mistake).with_hint(end.hint),
                            end.code, true, output);
    }
    output.err(end.text);
    return end.code;
}

exit_code run_command(std::vector<std::string> arguments, bool json,
                      const setup::environment& variables, console& output) {
    command_line line(all_commands());
    const console_traits& traits = output.traits();
    const auto parsed =
        line.parse(std::move(arguments), traits.out_is_terminal ? traits.columns : 100);
    if (const auto* end = std::get_if<early_end>(&parsed)) return report_end(*end, json, output);
    return std::get<command*>(parsed)->run({variables, output, line});
}

} // namespace

exit_code run_program(std::vector<std::string> arguments, const setup::environment& variables,
                      console& output) {
    const bool json = wants_json(arguments);
    exit_code code = exit_code::done;
    try {
        code = run_command(std::move(arguments), json, variables, output);
    } catch (const std::exception& bug) {
        return report_error(error(errc::internal, std::string("internal error: ") + bug.what()),
                            exit_code::failed, json, output);
    }
    if (output.flush() || code != exit_code::done) return code;
    return report_error(error(errc::io_error, std::string(output_lost_message)), exit_code::failed,
                        json, output);
}

} // namespace heddle::cli
