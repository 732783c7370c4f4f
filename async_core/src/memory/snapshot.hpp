// An index as bytes of a file.
#pragma once

#include "memory/index/inverted_index.hpp"

#include <string>
#include <string_view>

namespace heddle::memory {

/// Version, size, checksum and the index. Compacts it.
[[nodiscard]] std::string write_snapshot(inverted_index& index);

/// Errors: invalid_argument that says what is wrong: no index, another version, damaged.
[[nodiscard]] result<inverted_index> read_snapshot(std::string_view bytes);

} // namespace heddle::memory
