// Programs of this machine, behind ports::process_port.
#pragma once

#include <heddle/coro/event_loop.hpp>
#include <heddle/ports/process_port.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace heddle::process {

struct process_options {
    /// The directory that request.directory is relative to and cannot leave.
    std::string workspace = ".";
    /// Variables of this process that children do not inherit unless a request names them: exact
    /// names, or patterns with `*` for any characters ("*_API_KEY"). Letters match in either case.
    std::vector<std::string> withheld;
    std::vector<std::string> passed; ///< exact names that every child inherits all the same
    /// Told when a child takes the terminal (true) and when it has given it back (false), so that
    /// the host does not write there meanwhile. Called on the loop; must not throw. Empty: nobody.
    std::function<void(bool taken)> on_terminal;
};

/// Names that usually hold keys and passwords, for process_options::withheld.
[[nodiscard]] std::vector<std::string> usual_secrets();

/// Starts children with posix_spawn, so that threads of this process are not in the way, in a process
/// group of their own, with no descriptors but the standard ones. Two pipes and a pidfd (on kernels
/// without: a timer) are waited for on the loop; there are no threads. Input is handed over as a file
/// in memory, so that no child has to read it for us to go on.
/// Errors here: not_found when the workspace is no directory. `loop` and its io_context outlive the
/// port. Destroying the port while a child runs kills its group and reaps it; the call is never
/// resumed then.
/// Threads: the shard's only.
[[nodiscard]] result<std::unique_ptr<ports::process_port>> make_process_port(
    coro::event_loop& loop, process_options options);

} // namespace heddle::process
