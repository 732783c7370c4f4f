// Reads the files of a context.
#pragma once

#include <heddle/ports/file_port.hpp>
#include <heddle/tasks/context/assembled_context.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace heddle::tasks {

struct reading_limits {
    std::size_t at_once = 8;
    std::size_t max_bytes = 512 * 1024; ///< of a context: longer texts are dropped as they come
};

struct files_read {
    std::vector<context_part> parts;   ///< in the order of the paths
    std::vector<std::string> left_out; ///< what was too long, or behind four times max_bytes
    std::vector<std::string> warnings; ///< one for each file that cannot be read
};

/// Reads `paths`, some at a time; what is given depends on the files alone, not on which read ends
/// first. At most max_bytes of text, and what is being read, are held. Errors: cancelled; a file
/// that is missing or refused is a warning. Cancellation: ends once the reads under way have ended.
[[nodiscard]] coro::task<result<files_read>> read_context_files(ports::file_port& files,
                                                                std::vector<std::string> paths,
                                                                reading_limits limits,
                                                                coro::call_context context);

} // namespace heddle::tasks
