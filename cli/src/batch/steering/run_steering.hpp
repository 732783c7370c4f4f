#pragma once

#include "console.hpp"
#include "exit_code.hpp"

#include <boost/json/object.hpp>

#include <string>

namespace heddle::cli {

/// Sends a request to the process that works on a batch, and prints its response; `as_json`: with
/// the progress of the run. `run` is the folder of the run or its output file. A process that has
/// it open and does not answer yet gets three seconds. Result: `done`; `failed` if the process
/// cannot be reached, `usage` if there is no such run, if it is not a batch, or if the process
/// refuses the request.
[[nodiscard]] exit_code steer_run(const std::string& run, const boost::json::object& request,
                                  bool as_json, console& output);

} // namespace heddle::cli
