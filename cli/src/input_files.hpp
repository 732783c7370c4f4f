// Files that the command line names: workflows, inputs, rules. Read before the loop runs.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/scripted/engine.hpp>

#include <functional>
#include <memory>
#include <string>

#include <sys/stat.h>

namespace heddle::cli {

inline constexpr std::size_t max_input_bytes = 64 << 20;

/// The whole of a file; "-" is standard input. Never waits for somebody to open the other end of a
/// pipe: what is no regular file is refused, but for streams that the caller has opened already
/// (/dev/stdin, /dev/fd/N, which is what a shell makes of <(…)) and /dev/null.
/// Errors: not_found, io_error, limit_exceeded.
[[nodiscard]] result<std::string> read_input_file(const std::string& path,
                                                  std::size_t max_bytes = max_input_bytes);

/// Looks at a file that has been opened and not been read yet.
using file_check = std::function<result<void>(int file, const struct stat& about)>;

/// The whole of a file that `check` has nothing against. Its name is no link: what has become one
/// since somebody looked is not followed. Errors: as read_input_file, and that of `check`.
[[nodiscard]] result<std::string> read_checked_file(const std::string& path, std::size_t max_bytes,
                                                    const file_check& check);

/// A file with the rules of a scripted model. Errors: as above, and a rules_report.
[[nodiscard]] result<std::shared_ptr<scripted::engine>> load_rules(const std::string& path);

/// Whether to give up; asked while somebody waits. May be empty: no.
using stop_check = std::function<bool()>;

/// Opens for writing what is there already, with `flags` of ::open besides: the caller closes it. A
/// pipe must have a reader; who reads it has two seconds to come. Blocks for that long at most.
/// Errors: not_found, io_error; cancelled when `stop` says so.
[[nodiscard]] result<int> open_existing_output(const std::string& path, int flags = 0,
                                               const stop_check& stop = {});

/// Writes a small file in one step: who waits for it never sees a part of it. Follows symbolic
/// links. A file that is there keeps its permissions. What is no regular file, and an open stream
/// (/dev/stdout), stays what it is and is written to (open_existing_output). Errors: not_found,
/// io_error; cancelled when `stop` says so.
[[nodiscard]] result<void> write_output_file(const std::string& path, const std::string& text,
                                             const stop_check& stop = {});

/// The same for a file that only its owner may read.
[[nodiscard]] result<void> write_private_file(const std::string& path, const std::string& text);

/// Writes a file that is not there yet. Errors: invalid_argument when it is, io_error.
[[nodiscard]] result<void> write_new_file(const std::string& path, const std::string& text);

/// Gives a file a new content in one step: a reader sees the old one or the new one, and a failure
/// leaves the old one. Keeps its permissions; a symbolic link goes on pointing to it. Errors:
/// not_found, io_error (also for what is no regular file).
[[nodiscard]] result<void> replace_file(const std::string& path, const std::string& text);

} // namespace heddle::cli
