// Paths that cannot leave a directory.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/fs/descriptor.hpp>

#include <string>
#include <string_view>

namespace heddle::fs {

/// A directory that is held open, and how users may call it.
struct workspace_root {
    descriptor directory;
    std::string path; ///< absolute, without links, without a closing slash
};

/// Errors: not_found when `path` is not a directory.
[[nodiscard]] result<workspace_root> open_root(const std::string& path);

/// The last directory of a path, held open, and the name in it. The name is not a link at the time
/// of the resolution and need not exist; "." means the directory itself.
struct resolved_path {
    descriptor directory;
    std::string name;
    std::string below_root; ///< the path from the root, without links; empty for the root itself
};

/// Walks `path` from the root, one component at a time, following links by hand.
/// Errors: invalid_argument when it leads out of the root or to what the kernel makes up, not_found
/// for a missing directory, io_error. Blocks for as long as the file system does.
[[nodiscard]] result<resolved_path> resolve(const workspace_root& root, std::string_view path);

/// The name of a file as ports::file_port::names_of() has it. Blocks like resolve().
[[nodiscard]] std::string name_of_file(const workspace_root& root, const std::string& path);

/// Whether an open file or directory is one that the kernel makes up: of /proc, /sys and the like.
/// They show processes, their variables among it, and change the machine: they belong to no
/// workspace.
[[nodiscard]] bool is_made_by_kernel(int file) noexcept;
[[nodiscard]] error made_by_kernel(std::string_view path);

/// The system's error `number` about `path` in our words.
[[nodiscard]] error file_error(int number, std::string_view action, std::string_view path);

} // namespace heddle::fs
