// Programs of this machine, behind ports::process_port.
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
    /// The directory that request.directory is relative to and cannot leave.
    std::string workspace = ".";
    /// Variables of this process that children inherit: exact names, or patterns with `*` for any
    /// characters ("LC_*"). Letters match in either case. Nothing: all of them.
    std::optional<std::vector<std::string>> inherited;
    /// Variables, named so too, that they do not inherit all the same unless a request names them.
    std::vector<std::string> withheld;
    /// Nor those that hold an address with a password ("postgres://me:secret@host/db"), nor those
    /// named "*_proxy" whose address has a user, written with a scheme or without.
    bool withhold_passwords = false;
    std::vector<std::string> passed; ///< exact names that every child inherits all the same
    /// Told when a child takes the terminal (true) and when it has given it back (false), so that
    /// the host does not write there meanwhile. Called on the loop; must not throw. Empty: nobody.
    std::function<void(bool taken)> on_terminal;
    /// Ends what programs leave that have killed the starter and their keeper. Outlives the port.
    /// Null: nobody does; only a program that starts no other children can have one.
    stray_guard* strays = nullptr;
};

/// What programs need to work: where things are, who the user is, how to speak to whom. No secret
/// has such a name. For process_options::inherited.
[[nodiscard]] std::vector<std::string> usual_variables();
/// Names that usually hold keys and passwords, for process_options::withheld.
[[nodiscard]] std::vector<std::string> usual_secrets();

/// Starts children in a process group of their own, with no descriptors but the standard ones, each
/// under a keeper: a process that is forked from a fork of this one, made here. In whatever way
/// this process ends, keepers kill what their programs have left, daemons too. Two pipes and a
/// socket are waited for on the loop; there are no threads. Input is handed over as a file in
/// memory, so that no child has to read it for us to go on. Make the port early: the fork holds on
/// to the pages of that moment which are written to later. Errors here: not_found when the
/// workspace is no directory, process_errc::start_failed. `loop` and its io_context outlive the
/// port. Destroying the port while a child runs kills all of it and waits for that; the call is
/// never resumed then. Threads: the shard's only.
[[nodiscard]] result<std::unique_ptr<ports::process_port>> make_process_port(
    coro::event_loop& loop, process_options options);

} // namespace heddle::process
