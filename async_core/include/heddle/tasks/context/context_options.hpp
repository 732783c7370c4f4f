// Bounds of context preparation, and options of the second stage of a lookup.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace heddle::tasks {

/// A model chooses among the files that the index found (docs/reference/memory.md), by the tasks
/// `internal:associative_matching_content` and `internal:associative_matching_metadata`; a template
/// registered under one of these names replaces it.
struct model_matching {
    bool enabled = false;
    std::size_t limit = 20;           ///< number of files if a request has no limit
    std::size_t candidates = 40;      ///< number of index results to consider
    std::size_t shard = 10;           ///< candidates in one request; shards run concurrently
    std::size_t excerpt_bytes = 2000; ///< of each candidate's text; content strategy only
};

struct context_options {
    std::size_t max_files = 1000;       ///< of one context; more are omitted with a warning
    std::size_t max_bytes = 512 * 1024; ///< of a context if the window of the model is unknown
    std::size_t lookup_limit = 20;      ///< files that a lookup returns
    std::size_t concurrent_reads = 8;
    std::chrono::milliseconds command_timeout{30'000}; ///< of file_paths source="command"
    std::size_t max_command_output = 1024 * 1024;
    model_matching matching;
    /// The directory that contains relative paths, in each absolute spelling (as named, and with
    /// links resolved). A path that begins with one of them is passed to the file port without it;
    /// the port names the file. Empty: absolute paths are passed as they are.
    std::vector<std::string> roots;
};

} // namespace heddle::tasks
