// Whether a file of results is the one that a run has written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::cli {

/// The entry of the journal's manifest that holds the mark of the output.
inline constexpr const char* output_mark_entry = "output";

/// The entry whose digest names the stream (rows::result_writer::stream) that a batch of results is
/// being written to; empty: none is, and all lines there are whole.
inline constexpr const char* open_batch_entry = "open batch";

/// Describes the last bytes before `size` of a regular file, "SIZE:DIGEST": a later process finds
/// out whether it has the same file. Empty: there is nothing to describe. Reads a few KiB.
[[nodiscard]] std::string mark_of_output(const std::string& file, std::uint64_t size);

/// Whether the file has what the mark describes. Nothing: there is no mark, or no regular file.
[[nodiscard]] std::optional<bool> fits_mark(const std::string& file, std::string_view mark);

} // namespace heddle::cli
