// The command of a run, which a later command starts again.
#pragma once

#include "batch/request/run_manifest.hpp"

#include <heddle/base/error.hpp>
#include <heddle/setup/environment.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// A command that works on a run.
struct given_command {
    std::string folder;                 ///< of the run
    std::vector<std::string> inputs;    ///< NAME=VALUE
    std::vector<std::string> arguments; ///< of the command line
};

/// Notes the command in the manifest, and in the state directory of the user, so that a later
/// `heddle runs retry` knows that the user has given it: a run may come from a stranger. Values of
/// inputs whose names look like those of secrets ("token") are left out. Without a state directory
/// (HOME) only the manifest has it. Errors: none; for what cannot be written there, the retry asks.
void note_command(run_manifest& manifest, given_command given, const setup::environment& variables);

/// Whether the user has started this run where it is now. A run may come from a stranger, and then
/// it does not decide what a command of the user may spend.
[[nodiscard]] bool is_run_of_user(const run_manifest& manifest, const std::string& folder,
                                  const setup::environment& variables);

/// What `heddle runs retry` or `replay` was asked for.
struct command_request {
    bool allow = false;              ///< also a command that the user has not given
    std::vector<std::string> inputs; ///< NAME=VALUE: values that were left out
};

/// The arguments of the command of the run in `folder`. Errors: invalid_argument if the user has
/// not given this command for this directory, if the run was moved, or if a value is missing.
[[nodiscard]] result<std::vector<std::string>> command_of_run(const run_manifest& manifest,
                                                              const std::string& folder,
                                                              const command_request& asked,
                                                              const setup::environment& variables);

/// Whether the value of an input of that name is not kept. Pure.
[[nodiscard]] bool is_name_of_secret(std::string_view name);
/// The name of an input as it is written, NAME=TEXT or NAME:=JSON. Pure.
[[nodiscard]] std::string name_of_input(const std::string& input);

} // namespace heddle::cli
