// Files as workflows see them.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/visibility.hpp>

#include <memory>
#include <string>
#include <vector>

namespace HEDDLE_PUBLIC heddle {

/// The files that workflows may read and write. Paths are relative and use "/".
/// Threads: called from each thread of the runtime, maybe at the same time. The functions wait in
/// place: use it for what is in memory or on a fast disk, and a function of the host for the rest.
class file_source {
public:
    virtual ~file_source() = default;
    /// Errors: not_found.
    [[nodiscard]] virtual result<std::string> read(const std::string& path) = 0;
    [[nodiscard]] virtual result<void> write(const std::string& path, std::string text) = 0;
    [[nodiscard]] virtual result<bool> exists(const std::string& path) = 0;
    /// Sorted names; those of folders end in "/".
    [[nodiscard]] virtual result<std::vector<std::string>> list(const std::string& path) = 0;
};

} // namespace heddle
