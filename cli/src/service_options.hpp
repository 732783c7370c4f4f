// The services of a run, as its options ask for them.
#pragma once

#include "command_line/workflow_options.hpp"
#include "parking/parking_port.hpp"

#include <heddle/setup/environment.hpp>
#include <heddle/setup/service_set.hpp>
#include <heddle/tasks/run/task_system_parts.hpp>

#include <string>

namespace heddle::cli {

/// `program`: the file to run, or a name for other sources. `parking` outlives the services.
/// Programs are not allowed yet, and nothing observes the requests.
[[nodiscard]] setup::service_set_options service_options(const std::string& program,
                                                         const workflow_options& options,
                                                         const setup::environment& variables,
                                                         const parking_slot& parking);

/// Adds what tasks of rows need besides the services.
void add_row_parts(const workflow_options& options, tasks::task_system_parts& parts);

} // namespace heddle::cli
