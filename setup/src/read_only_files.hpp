// Files that a workflow may read but not write.
#pragma once

#include <heddle/ports/file_port.hpp>

#include <memory>

namespace heddle::setup {

/// The files of `behind`, without writing. Errors of write: PermissionError. Threads: as `behind`.
[[nodiscard]] std::shared_ptr<ports::file_port> make_read_only_files(
    std::shared_ptr<ports::file_port> behind);

} // namespace heddle::setup
