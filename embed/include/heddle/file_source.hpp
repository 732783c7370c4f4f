// The files that workflows read and write.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/visibility.hpp>

#include <memory>
#include <string>
#include <vector>

namespace HEDDLE_PUBLIC heddle {

/// The files that workflows may read and write. Paths are relative and use "/".
/// Threads: called on any thread of the runtime, possibly at the same time. The functions block the
/// workflow's thread: use a file_source for files in memory or on a fast disk, and functions of the
/// host for others.
class file_source {
public:
    virtual ~file_source() = default;
    /// Errors: not_found.
    [[nodiscard]] virtual result<std::string> read(const std::string& path) = 0;
    [[nodiscard]] virtual result<void> write(const std::string& path, std::string text) = 0;
    [[nodiscard]] virtual result<bool> exists(const std::string& path) = 0;
    /// Sorted names; the names of folders end in "/".
    [[nodiscard]] virtual result<std::vector<std::string>> list(const std::string& path) = 0;
};

} // namespace heddle
