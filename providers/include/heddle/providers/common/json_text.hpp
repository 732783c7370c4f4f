// JSON as text: writing strings, checking texts that are spliced in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::providers {

/// Appends `text` as a JSON string with its quotes (RFC 8259, 7): quote, backslash and control
/// characters escaped, all else as it is. Bytes that are not UTF-8 (overlong forms, surrogates and
/// cut sequences as well) become U+FFFD, one for each maximal wrong part (Unicode, 3.9).
void append_json_string(std::string& out, std::string_view text);

/// As append_json_string, without the quotes.
void append_json_escaped(std::string& out, std::string_view text);

void append_json_number(std::string& out, std::int64_t value);
/// Shortest form that reads back the same; infinities and NaN, which JSON lacks, become null.
void append_json_number(std::string& out, double value);

enum class json_kind : std::uint8_t { none, object, array, string, number, boolean, null };

/// The kind of the one JSON value that `text` holds, or none if it is not JSON or is nested deeper
/// than `max_depth`. Does not check that strings are UTF-8. Linear; no allocation; no recursion.
[[nodiscard]] json_kind check_json(std::string_view text, std::size_t max_depth = 64) noexcept;

/// True if `text` is UTF-8 throughout.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// `text` with every wrong part replaced by U+FFFD, as append_json_string does it.
[[nodiscard]] std::string replace_invalid_utf8(std::string_view text);

/// Remembers the last few texts that check_json found to be objects: a schema is checked once and
/// not for each of a million calls.
class json_memo {
public:
    /// True if `text` is a JSON object in UTF-8.
    [[nodiscard]] bool is_object(std::string_view text);

private:
    std::array<std::string, 8> known_;
    std::size_t next_ = 0;
};

} // namespace heddle::providers
