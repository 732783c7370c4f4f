// Which files of a directory are indexed.
#pragma once

#include "memory/index/inverted_index.hpp"

#include <heddle/base/error.hpp>
#include <heddle/memory/index_options.hpp>
#include <heddle/ports/tree_port.hpp>

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

namespace heddle::memory {

struct found_file {
    std::string path;
    file_stamp stamp;
};

struct walk_outcome {
    std::vector<found_file> files; ///< in the order of the walk
    std::size_t skipped_large = 0;
    bool complete = true;
    std::vector<std::string> warnings;
};

/// Adds a warning unless there are enough.
void add_warning(std::vector<std::string>& warnings, std::string text);

/// Walks options.root, which is absolute and without links. Links are not followed, so there are no
/// loops. With `repository`, its info/exclude counts and repositories inside it are left out.
/// Errors: of the root; cancelled when `abandoned`.
[[nodiscard]] result<walk_outcome> walk_tree(const ports::tree_port& tree,
                                             const index_options& options, bool repository,
                                             const std::atomic<bool>& abandoned);

/// The folder at or above `folder` that holds .git. Errors: not_found.
[[nodiscard]] result<std::string> repository_of(const ports::tree_port& tree, std::string folder);

} // namespace heddle::memory
