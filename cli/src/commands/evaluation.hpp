// What `run` and `eval` have in common: a program on the loop, from Ctrl-C to the exit code.
#pragma once

#include "command_line/workflow_options.hpp"
#include "console.hpp"
#include "exit_code.hpp"
#include "failure_hints.hpp"

#include <heddle/base/error.hpp>
#include <heddle/setup/environment.hpp>
#include <heddle/tasks/template_files/template_loader.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

struct replay_request;

/// The message when the reader of standard output has gone, or the disk is full.
inline constexpr std::string_view output_lost_message = "standard output cannot be written";

struct program {
    std::string name; ///< in errors
    std::string text;
    /// The program consists of these calls, which are in `text`.
    std::vector<tasks::template_call> calls;
    /// Call the function `main`, if the program defines one, with the inputs.
    bool calls_main = false;
    std::vector<std::string> inputs;       ///< NAME=TEXT or NAME:=JSON
    std::optional<std::string> input_json; ///< text of a JSON object
    /// Print the written form in place of a rendering for people.
    bool prints_written_form = false;
    /// `text` is an identifier for tasks::dispatch, with the inputs and these files.
    bool dispatches = false;
    std::vector<std::string> files;
    std::string run_folder;             ///< keeps what the run does; empty: nothing is kept
    std::vector<std::string> arguments; ///< of the command line, for that folder
    bool retry_failed = false;          ///< failed steps of the run are asked again
    bool cancel_batches = false; ///< nothing is evaluated: services cancel the batches of the run
    /// The run is only replayed, and its steps are printed; null: it is not. Outlives the call.
    const replay_request* replay = nullptr;
};

/// The name of the workflow in the manifest of its run.
[[nodiscard]] std::string workflow_entry(const std::string& name);
/// The name of what --input-json had.
inline constexpr std::string_view input_json_entry = "--input-json";

/// Evaluates, prints the result or the error, closes all connections.
[[nodiscard]] exit_code evaluate_program(program source, const workflow_options& options,
                                         const setup::environment& variables, console& output);

/// Prints why a command ends: text for people, or one JSON object with the exit code. Result:
/// `code`.
[[nodiscard]] exit_code tell_error(const error& failure, exit_code code, bool json,
                                   console& output);
/// As tell_error, for a mistake in the command line or the configuration: exit_code::usage.
[[nodiscard]] exit_code tell_usage_error(const error& failure, bool json, console& output);

} // namespace heddle::cli
