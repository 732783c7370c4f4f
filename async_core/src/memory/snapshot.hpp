// An index as bytes of a file.
#pragma once

#include "memory/index/inverted_index.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::memory {

/// Version, size, checksum and the index. Compacts it.
[[nodiscard]] std::string write_snapshot(inverted_index& index);

/// How many bytes of a file show whether it is an index at all.
inline constexpr std::size_t snapshot_mark_bytes = 13;
/// True for the beginning of an index, of whatever version and however damaged.
[[nodiscard]] bool begins_snapshot(std::string_view beginning) noexcept;
/// That a file holds something else: what belongs to somebody is not replaced by an index.
[[nodiscard]] error not_an_index(const std::string& file);

/// Payload of errors that say that an index cannot be used: it may be made anew in the same place.
class unusable_index final : public error_payload {};

/// Errors: invalid_argument with what is wrong: no index; with an unusable_index: nothing at
/// all, another version, damaged.
[[nodiscard]] result<inverted_index> read_snapshot(std::string_view bytes);

} // namespace heddle::memory
