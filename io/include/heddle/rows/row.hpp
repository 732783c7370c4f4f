// One row of the input of a batch, and a row that could not be read.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/run_journal.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace heddle::rows {

/// Where a row comes from, and what names it.
struct row_origin {
    std::uint64_t number = 0; ///< position over all files, from 0; limits and samples keep it
    /// The text of the id field; without one, or of a bad row without a usable one, the number and
    /// the beginning of the digest of its content: "17:9f3a5c02d1e4".
    std::string id;
    ports::digest128 id_digest;              ///< of `id`: digest_of_id
    ports::digest128 content;                ///< of the text of the row: digest_of_content
    std::shared_ptr<const std::string> file; ///< its path; "-" is standard input. Never null
    std::uint64_t line = 0;                  ///< where it begins in the decompressed file, from 1
};

/// A row as an object of JSON on one line, without blanks between its tokens. Numbers have the
/// digits of the input, members its order.
struct row : row_origin {
    std::string json;
};

/// A row that could not be read. It has a number of its own.
struct bad_row : row_origin {
    error problem; ///< names file, line and, where known, column; its hint describes how to fix it
    std::string raw;      ///< the bytes as they were read, at most row_input::max_raw_bytes
    bool raw_cut = false; ///< the row has more bytes than `raw`
};

using row_item = std::variant<row, bad_row>;

[[nodiscard]] const row_origin& origin_of(const row_item& item) noexcept;

/// Digests that are the same in all processes, versions and machines: the first 128 bits of
/// SHA-256, separate for ids and contents. The content of a row is its JSON, of a bad row its raw
/// text.
[[nodiscard]] ports::digest128 digest_of_id(std::string_view id);
[[nodiscard]] ports::digest128 digest_of_content(std::string_view text);

} // namespace heddle::rows
