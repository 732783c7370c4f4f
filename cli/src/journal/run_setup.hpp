// A run of `heddle run`, with or without a directory that keeps it, from what was asked.
#pragma once

#include "application.hpp"
#include "journal/kept_run.hpp"
#include "journal/step_trace.hpp"
#include "program.hpp"
#include "workflow_options.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace heddle::cli {

/// The name of the workflow in the manifest of its run.
[[nodiscard]] std::string workflow_entry(const std::string& name);
/// The name of what --input-json had.
inline constexpr std::string_view input_json_entry = "--input-json";

/// Has a workflow take all that it asks from a journal: nothing is sent, written or started.
/// `shows_output`: what it prints and logs is shown.
void use_journal_only(workflow_options& options, bool shows_output);

/// What works for a run.
struct run_tools {
    std::unique_ptr<application> tools;
    std::unique_ptr<kept_run> kept; ///< null: no directory was named
    run_sources sources;            ///< of `kept`
};

/// Looks at the directory of the run, and sets the options for what is to be done with it. `trace`:
/// of source.replay. Errors: those of application::create and of kept_run::status_of.
[[nodiscard]] result<run_tools> set_up_run(const program& source, workflow_options& options,
                                           step_trace* trace, const setup::environment& variables,
                                           console& output);

} // namespace heddle::cli
