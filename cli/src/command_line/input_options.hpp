// The inputs of a workflow or task on the command line.
#pragma once

#include "command_line/option_list.hpp"

#include <heddle/base/error.hpp>

#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

/// Inputs as they are written on the command line.
struct input_options {
    std::vector<std::string> pairs;       ///< NAME=TEXT or NAME:=JSON
    std::optional<std::string> json_file; ///< a file with an object; "-": standard input
};

/// Adds the group "Input" with --input and --input-json, which are stored in `into`. `of` is what
/// --help names as their receiver: "main".
void add_input_options(option_list& command, input_options& into, const std::string& of);
/// Adds --input-json.
void add_input_json_option(option_list& command, input_options& into, const std::string& of);

/// The text of --input-json; nothing without it. Errors: as read_input_file.
[[nodiscard]] result<std::optional<std::string>> read_input_json(const input_options& asked);

} // namespace heddle::cli
