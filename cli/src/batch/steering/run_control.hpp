// The socket in the folder of a run, by which others steer it.
#pragma once

#include "batch/steering/batch_steering.hpp"

#include <heddle/base/error.hpp>
#include <heddle/coro/event_loop.hpp>

#include <memory>
#include <string>

namespace heddle::cli {

/// "DIR/control.sock".
[[nodiscard]] std::string control_socket(const std::string& folder);

/// Serves a Unix socket that only its owner can use. A request is a line of JSON, {"do": "status" |
/// "pause" | "resume" | "cancel" | "set", "concurrency"?: N, "budget_usd"?: X}; the response is
/// one: {"ok": true, …} or {"ok": false, "message": "…"}. A few connections at a time, lines and
/// times are bounded. Threads: the loop's.
class run_control {
public:
    virtual ~run_control() = default;
    /// `batch` and the loop outlive the result. Errors: io_error.
    [[nodiscard]] static result<std::unique_ptr<run_control>> serve(coro::event_loop& loop,
                                                                    const std::string& folder,
                                                                    batch_steering& batch);
};

/// Sends one request to a run and returns the response, both without the line end. Blocks for at
/// most five seconds. Errors: not_found when the run is not going, io_error.
[[nodiscard]] result<std::string> ask_run(const std::string& folder, const std::string& request);

/// The same, for a run that is starting or between two rounds of --park-wait: while a process has
/// the run open and does not answer, asks again, for three seconds at most. What the process has
/// done and not answered, because its round has ended meanwhile, is asked for twice.
[[nodiscard]] result<std::string> ask_open_run(const std::string& folder,
                                               const std::string& request);

/// As find_run, and also a new run whose program is still being loaded.
[[nodiscard]] result<std::string> find_going_run(const std::string& name);

} // namespace heddle::cli
