// Which files a batch reads and which it writes.
#pragma once

#include <heddle/base/error.hpp>

#include <string>
#include <vector>

namespace heddle::cli {

/// A file and what it is to the batch: "a file of rows".
struct named_file {
    std::string role;
    std::string file; ///< "-" is standard input
};

/// Whether both names lead to one place, which may be empty yet.
[[nodiscard]] bool is_same_path(const std::string& one, const std::string& other);

/// Refuses to write to what is read, or to one file twice: no --force makes that right. Files are
/// the same by device and number, or by their places while they are not there. Empty names,
/// standard output, devices and pipes are left out. Errors: invalid_argument that names the file.
[[nodiscard]] result<void> check_written_files(const std::vector<named_file>& written,
                                               const std::vector<named_file>& read);

/// From the working directory on; "" and "-" as they are. For a process that is started elsewhere.
[[nodiscard]] std::string absolute_path(const std::string& file);

} // namespace heddle::cli
