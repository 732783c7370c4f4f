// The files that a version of a program has imported.
#pragma once

#include <heddle/host/import_port.hpp>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace heddle::embed {

/// Has the texts of the files, so that all threads of a version, and all calls that load it again,
/// import the same. Knows whether a file has changed since it was imported, or has appeared since
/// it was missing.
/// Threads: any.
class imported_files {
public:
    using time_type = std::filesystem::file_time_type;

    /// The time of a file for comparison with later ones; min() when it is missing. Also when it
    /// was written since `begun`, or so shortly before that a further change may leave the same
    /// time: it then counts as changed. To be asked before the file is read, or with the time
    /// before that.
    [[nodiscard]] static time_type time_to_note(const std::string& file,
                                                time_type begun = time_type::clock::now());

    /// The file has this time_to_note(). Only the first one counts: who reads it later belongs to
    /// the same version.
    void note(const std::string& file, time_type noted);
    /// The file that `from` imported as `path`; nothing: it has not done so yet.
    [[nodiscard]] std::optional<host::imported_source> find(const std::string& path,
                                                            const std::string& from) const;
    /// Keeps a file that was read. Result: the file of the version, which may have been read
    /// earlier with another text.
    [[nodiscard]] host::imported_source keep(const std::string& path, const std::string& from,
                                             host::imported_source read);
    /// A digest of the texts so far, without the names of their files.
    [[nodiscard]] std::string digest() const;
    /// Looks at the times of all files.
    [[nodiscard]] bool changed() const;

private:
    mutable std::mutex mutex_;
    /// Names of files, by the path and the importing file.
    std::map<std::pair<std::string, std::string>, std::string> names_;
    std::map<std::string, std::string> texts_; ///< by name
    std::map<std::string, time_type> times_;   ///< min(): look again in any case, or it was missing
};

/// `port` for what `files` does not have yet, both kept by the result. Lifetime and threads: those
/// of `port`.
[[nodiscard]] std::unique_ptr<host::import_port> make_noted_imports(
    std::unique_ptr<host::import_port> port, std::shared_ptr<imported_files> files);

} // namespace heddle::embed
