// Files that the command line names: workflows, inputs, rules. Read before the loop runs.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/scripted/engine.hpp>

#include <functional>
#include <memory>
#include <string>

#include <sys/stat.h>

namespace heddle::setup {

inline constexpr std::size_t max_input_bytes = 64 << 20;

/// The whole of a file; "-" is standard input. Never waits for the other end of a pipe: only
/// regular files, /dev/null, and streams that the caller has already opened (/dev/stdin, /dev/fd/N,
/// as a shell creates for <(…)) are accepted.
/// Errors: not_found, io_error, limit_exceeded.
[[nodiscard]] result<std::string> read_input_file(const std::string& path,
                                                  std::size_t max_bytes = max_input_bytes);

/// As read_input_file, for what is read more than once: neither "-" nor an open stream is accepted.
[[nodiscard]] result<std::string> read_stored_file(const std::string& path,
                                                   std::size_t max_bytes = max_input_bytes);

/// Checks a file that is open and has not been read yet.
using file_check = std::function<result<void>(int file, const struct stat& about)>;

/// The whole of a file that passes `check`. Its name must not be a link: one that was created in
/// the meantime is not followed. Errors: as read_input_file, and that of `check`.
[[nodiscard]] result<std::string> read_checked_file(const std::string& path, std::size_t max_bytes,
                                                    const file_check& check);

/// Reads a file with the rules of a scripted model. Errors: as above, and a rules_report.
[[nodiscard]] result<std::shared_ptr<scripted::engine>> load_rules(const std::string& path);

/// Whether to give up; called during a wait. May be empty: never.
using stop_check = std::function<bool()>;

/// Opens an existing file for writing, with additional `flags` of ::open; the caller closes it. A
/// pipe must get a reader within two seconds. Blocks for at most that long. Errors: not_found,
/// io_error; cancelled by `stop`.
[[nodiscard]] result<int> open_existing_output(const std::string& path, int flags = 0,
                                               const stop_check& stop = {});

/// Writes a small file in one step: readers never see a part of it. Follows symbolic links. An
/// existing file keeps its permissions. Open streams (/dev/stdout) and files that are not regular
/// are not replaced but written to (open_existing_output). Errors: not_found, io_error; cancelled
/// by `stop`.
[[nodiscard]] result<void> write_output_file(const std::string& path, const std::string& text,
                                             const stop_check& stop = {});

/// As write_output_file, for a file that only its owner may read.
[[nodiscard]] result<void> write_private_file(const std::string& path, const std::string& text);

/// Writes a new file. Errors: invalid_argument if it exists; io_error.
[[nodiscard]] result<void> write_new_file(const std::string& path, const std::string& text);

/// Replaces the content of a file in one step: a reader sees either the old or the new one, and a
/// failure leaves the old one. Keeps permissions and symbolic links. Errors: not_found, io_error
/// (also for a file that is not regular).
[[nodiscard]] result<void> replace_file(const std::string& path, const std::string& text);

} // namespace heddle::setup
