// A ports::process_port for programs of this machine.
#pragma once

#include <heddle/coro/event_loop.hpp>
#include <heddle/ports/process_port.hpp>
#include <heddle/process/stray_guard.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::process {

struct process_options {
    /// The directory to which request.directory is relative, and that it cannot leave.
    std::string workspace = ".";
    /// Variables of this process that children inherit: exact names, or patterns with `*` for any
    /// characters ("LC_*"). Case is ignored. Absent: all variables.
    std::optional<std::vector<std::string>> inherited;
    /// Variables, named in the same way, that children nevertheless do not inherit unless a request
    /// names them.
    std::vector<std::string> withheld;
    /// Whether to withhold as well variables that contain an address with a password
    /// ("postgres://me:secret@host/db"), and those named "*_proxy" whose address has a user, with a
    /// scheme or without.
    bool withhold_passwords = false;
    std::vector<std::string> passed; ///< exact names that every child inherits in any case
    /// Called when a child takes the terminal (true) and when it has returned it (false), so that
    /// the host does not write there meanwhile. Called on the loop; must not throw. May be empty.
    std::function<void(bool taken)> on_terminal;
    /// Ends the remains of programs that have killed the starter and their keeper. Outlives the
    /// port. Null: they are not ended. Only for programs that start no other children.
    stray_guard* strays = nullptr;
};

/// Variables that programs need: paths, the user, languages, proxies. None of them usually holds a
/// secret. For process_options::inherited.
[[nodiscard]] std::vector<std::string> usual_variables();
/// Names that usually hold keys and passwords, for process_options::withheld.
[[nodiscard]] std::vector<std::string> usual_secrets();

/// Starts children in a process group of their own, with only the standard descriptors, each under
/// a keeper: a process forked from a fork of this one, which is made here. However this process
/// ends, the keepers kill what their programs leave, including daemons. Two pipes and a socket are
/// watched on the loop; there are no threads. Input is passed as a file in memory, so the call does
/// not depend on the child reading it. Create the port early: the fork keeps the memory pages of
/// that time that are modified later. Errors of this function: not_found if the workspace is not a
/// directory, process_errc::start_failed. `loop` and its io_context outlive the port. Destroying
/// the port while a child runs kills all of its processes and waits for that; the call is then
/// never resumed.
/// Threads: the shard's only.
[[nodiscard]] result<std::unique_ptr<ports::process_port>> make_process_port(
    coro::event_loop& loop, process_options options);

} // namespace heddle::process
