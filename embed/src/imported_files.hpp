// The files that a version of a program has imported.
#pragma once

#include <heddle/host/import_port.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace heddle::embed {

/// Knows whether a file has changed since it was imported, or has appeared since it was missing.
/// Threads: any.
class imported_files {
public:
    using time_type = std::filesystem::file_time_type;

    /// The file was read, or was missing, after `begun`. Only the first time counts: who reads it
    /// later belongs to the same version.
    void note(const std::string& file, time_type begun);
    /// Looks at the times of all files.
    [[nodiscard]] bool changed() const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, time_type> times_; ///< min(): look again in any case, or it was missing
};

/// `port` with a note of each file in `files`, both kept by the result. Lifetime and threads: those
/// of `port`.
[[nodiscard]] std::unique_ptr<host::import_port> make_noted_imports(
    std::unique_ptr<host::import_port> port, std::shared_ptr<imported_files> files);

} // namespace heddle::embed
