// The services of a run, as its options ask for them.
#pragma once

#include "parking/parking_port.hpp"
#include "workflow_options.hpp"

#include <heddle/host/session.hpp>
#include <heddle/setup/environment.hpp>
#include <heddle/setup/service_set.hpp>
#include <heddle/tasks/run/task_system_parts.hpp>

#include <cstddef>
#include <string>

namespace heddle::cli {

/// `program`: the file to run, or a name for other sources. `parking` outlives the services.
/// Programs are not allowed yet, and nothing observes the requests.
[[nodiscard]] setup::service_set_options service_options(const std::string& program,
                                                         const workflow_options& options,
                                                         const setup::environment& variables,
                                                         const parking_slot& parking);

inline constexpr const char* no_parking_of_recordings =
    "no request waits for a batch with --record and --replay";
/// Branches of a row at once whose requests wait for the same batch.
inline constexpr std::size_t parked_branches = 4096;
/// Whether a task of the session, or heddle.toml, has requests wait for batches.
[[nodiscard]] bool wants_parking(const setup::service_set& services, host::session& session);

/// Adds what tasks of rows need besides the services.
void add_row_parts(const workflow_options& options, tasks::task_system_parts& parts);

} // namespace heddle::cli
