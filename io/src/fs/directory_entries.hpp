// The entries of a directory.
#pragma once

#include "confined_path.hpp"

#include <heddle/base/error.hpp>

#include <cstddef>
#include <functional>
#include <string>

#include <dirent.h>

namespace heddle::fs {

/// Takes an entry of the open directory. Result: whether it counts; an error ends the reading.
using take_entry = std::function<result<bool>(int directory, const dirent& entry)>;

/// Reads the directory `name` in the directory `parent`, or AT_FDCWD; a link is not followed. "."
/// and ".." are left out. `path` is the name for messages. Blocks. Errors: those of `take`;
/// limit_exceeded for more than `max_entries` entries that count; as file_error; invalid_argument
/// for a directory that the kernel makes up.
[[nodiscard]] result<void> for_each_entry(int parent, const std::string& name,
                                          const std::string& path, std::size_t max_entries,
                                          const take_entry& take);

} // namespace heddle::fs
