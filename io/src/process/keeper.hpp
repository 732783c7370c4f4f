// What runs in the processes beside ours: the starter, and a keeper for each program.
#pragma once

namespace heddle::process {

/// Serves start_messages from `socket` until its end, each with a keeper in a process of its own.
/// To be called in a fresh fork and never left. Everything in it is safe after a fork of a program
/// with threads: no memory is taken, no lock, nothing is logged.
[[noreturn]] void serve_starts(int socket) noexcept;

} // namespace heddle::process
