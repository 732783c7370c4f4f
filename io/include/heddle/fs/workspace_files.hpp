// Files below one directory, behind ports::file_port.
#pragma once

#include <heddle/coro/event_loop.hpp>
#include <heddle/ports/file_port.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace heddle::fs {

struct workspace_options {
    /// Largest file that is read or written.
    std::size_t max_file_bytes = 16 * 1024 * 1024;
    /// Most names that list() gives.
    std::size_t max_entries = 100'000;
    /// Threads for blocking calls; they start with the first file.
    unsigned threads = 2;
};

/// Opens the workspace `root`; paths given to the port are relative to it, or absolute below it.
/// Confinement: each component is opened from the directory before it and links are followed by
/// hand, so that neither "..", a link, nor a directory swapped meanwhile leads out of the root.
/// Errors here: not_found when `root` is no directory. Of the port: not_found; limit_exceeded;
/// invalid_argument for a path that leads out, something that is no regular file, text that is not
/// UTF-8 (read), bytes zero in a path; io_error with the system's words for the rest.
/// Cancellation: the caller goes on at once; work already begun ends by itself, and a write that
/// was abandoned before its file was complete leaves the old file and no trace. `loop` and its
/// io_context outlive the port; destroying the port waits for work that has begun. Threads: the
/// shard's only.
[[nodiscard]] result<std::shared_ptr<ports::file_port>> make_workspace_files(
    std::string root, coro::event_loop& loop, workspace_options options = {});

} // namespace heddle::fs
