// The blocking file operations, for a worker thread.
#pragma once

#include "confined_path.hpp"

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

namespace heddle::fs {

/// `abandoned` becomes true when nobody waits for the result any more.
using abandon_flag = std::atomic<bool>;

[[nodiscard]] result<std::string> read_file(const workspace_root& root, const std::string& path,
                                            std::size_t max_bytes, const abandon_flag& abandoned);
/// Writes a temporary file beside the target and renames it. Keeps the mode of a file it replaces.
/// Abandoned before the rename: nothing has changed.
[[nodiscard]] result<void> write_file(const workspace_root& root, const std::string& path,
                                      const std::string& text, const abandon_flag& abandoned);
[[nodiscard]] result<bool> file_exists(const workspace_root& root, const std::string& path);
[[nodiscard]] result<std::vector<std::string>> list_directory(const workspace_root& root,
                                                              const std::string& path,
                                                              std::size_t max_entries,
                                                              const abandon_flag& abandoned);

} // namespace heddle::fs
