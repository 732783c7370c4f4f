// A ports::file_port for the files below one directory.
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
    /// Maximum number of names that list() returns.
    std::size_t max_entries = 100'000;
    /// Number of threads for blocking calls; they start with the first call.
    unsigned threads = 2;
};

/// Opens the workspace `root`; paths passed to the port are relative to it, or absolute below it.
/// Confinement: each component is opened relative to the directory before it, and links are
/// resolved here, so that neither "..", a link, nor a directory replaced meanwhile leads out of the
/// root. Errors of this function: not_found if `root` is not a directory. Errors of the port:
/// not_found; limit_exceeded; invalid_argument for a path that leads out, for what is not a regular
/// file, for text that is not UTF-8 (read), and for a zero byte in a path; io_error with the
/// message of the system for the rest.
/// Cancellation: the caller continues at once; work in progress ends by itself, and a write that is
/// abandoned before its file is complete leaves the old file and nothing else. `loop` and its
/// io_context outlive the port; the destructor of the port waits for work in progress. Threads: the
/// shard's only.
[[nodiscard]] result<std::shared_ptr<ports::file_port>> make_workspace_files(
    std::string root, coro::event_loop& loop, workspace_options options = {});

/// Reads a file below the directory `root` with the confinement of the port, but blocks. Errors: as
/// the port, and not_found if `root` is not a directory. Any thread.
[[nodiscard]] result<std::string> read_workspace_file(const std::string& root,
                                                      const std::string& path,
                                                      std::size_t max_bytes);

} // namespace heddle::fs
