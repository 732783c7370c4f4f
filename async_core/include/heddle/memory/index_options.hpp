// What is chosen of a directory that is indexed.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace heddle::memory {

/// Progress of an indexing.
struct index_progress {
    std::size_t files_done = 0;
    std::size_t files_total = 0; ///< number of new or changed files
};

/// Which files of a directory are indexed. Patterns are those of a .gitignore file, relative to
/// `root`.
struct index_options {
    std::string root;                 ///< absolute
    std::vector<std::string> include; ///< empty: every file
    std::vector<std::string> exclude;
    bool honour_gitignore = true; ///< .gitignore files in `root` and below
    std::size_t max_file_bytes = 1024 * 1024;
    std::size_t max_files = 200'000;          ///< of folders too; the report notes an excess
    std::size_t max_folder_entries = 200'000; ///< a folder with more entries is excluded
    std::size_t max_depth = 64;               ///< of folders below `root`
    /// Called on the loop between batches; may be empty.
    std::function<void(const index_progress&)> on_progress;
};

} // namespace heddle::memory
