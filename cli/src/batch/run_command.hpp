// The command of a run, which a later command starts again.
#pragma once

#include "batch/batch_request.hpp"
#include "batch/run_manifest.hpp"
#include "environment.hpp"

#include <heddle/base/error.hpp>

#include <string>
#include <vector>

namespace heddle::cli {

/// Notes the command in the manifest, and in the state directory of the user, so that a later
/// `heddle runs retry` knows that the user has given it: a run may come from a stranger. Values of
/// inputs whose names look like those of secrets ("token") are left out. Without a state directory
/// (HOME) only the manifest has it. Errors: none; for what cannot be written there, the retry asks.
void note_command(run_manifest& manifest, const batch_request& asked,
                  std::vector<std::string> arguments, const environment& variables);

/// What `heddle runs retry` was asked for.
struct command_request {
    bool allow = false;              ///< also a command that the user has not given
    std::vector<std::string> inputs; ///< NAME=VALUE: values that were left out
};

/// The arguments of the command of the run in `folder`. Errors: invalid_argument if the user has
/// not given this command for this directory, if the run was moved, or if a value is missing.
[[nodiscard]] result<std::vector<std::string>> command_of_run(const run_manifest& manifest,
                                                              const std::string& folder,
                                                              const command_request& asked,
                                                              const environment& variables);

/// Whether the value of an input of that name is not kept. Pure.
[[nodiscard]] bool is_name_of_secret(std::string_view name);

} // namespace heddle::cli
