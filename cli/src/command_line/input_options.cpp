#include "command_line/input_options.hpp"

#include <heddle/setup/input_files.hpp>

namespace heddle::cli {

void add_input_options(option_list& command, input_options& into, const std::string& of) {
    command.group("Input");
    command
        .option("-i,--input", into.pairs,
                "Input of " + of + ": NAME=TEXT, or NAME:=JSON for other values; repeatable")
        .value("NAME=VALUE");
    add_input_json_option(command, into, of);
}

void add_input_json_option(option_list& command, input_options& into, const std::string& of) {
    command
        .option("--input-json", into.json_file,
                "JSON object with inputs of " + of + "; - for standard input")
        .value("FILE");
}

result<std::optional<std::string>> read_input_json(const input_options& asked) {
    if (!asked.json_file) return std::optional<std::string>();
    HEDDLE_TRY(std::string text, setup::read_input_file(*asked.json_file));
    return std::optional<std::string>(std::move(text));
}

} // namespace heddle::cli
