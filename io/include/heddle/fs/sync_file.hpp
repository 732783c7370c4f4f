// Waiting until a file is on the disk.
#pragma once

#include <string>

namespace heddle::fs {

/// As fsync(), with its `errno`; an interrupted one is repeated. True as well where the kind of
/// file or the file system knows no synchronization, as some of FUSE, 9p and network file systems:
/// nothing was lost there, and there is nothing to wait for.
[[nodiscard]] bool sync_file(int file) noexcept;
/// The same without what only describes the file, as fdatasync().
[[nodiscard]] bool sync_data(int file) noexcept;
/// Waits until the folder that `file` is in has its name, or the new one of a rename, on the disk.
/// True as well where the folder may not be read. Otherwise as sync_file().
[[nodiscard]] bool sync_folder_of(const std::string& file);

} // namespace heddle::fs
