// Strings and symbols.
#pragma once

#include <heddle/lang/heap.hpp>

#include <string>
#include <string_view>

namespace heddle::lang {

/// A string value with a copy of `text`, which must be shorter than 256 MiB. Invalid UTF-8 becomes
/// U+FFFD, so every string of the language is valid, whatever a host passes.
[[nodiscard]] value make_string(heap& memory, std::string_view text);
/// As make_string, for bytes that are known to be valid UTF-8 (asserted): the concatenation of
/// strings, a text that was checked as a whole.
[[nodiscard]] value make_valid_string(heap& memory, std::string_view text);
/// The bytes of a string; valid as long as some value keeps the storage and nothing is appended to
/// it past its capacity (which makes new storage: the old bytes stay).
[[nodiscard]] std::string_view string_bytes(const value& string) noexcept;
/// left + right, which must be valid UTF-8; in place when `left` owns the end of its storage, so a
/// loop that appends is linear.
[[nodiscard]] value string_concat(heap& memory, value left, std::string_view right);
/// Whether string_concat() can append that many bytes without copying.
[[nodiscard]] bool string_grows_in_place(const value& string, std::size_t bytes) noexcept;
/// An empty string with room for `bytes` before string_concat() has to copy it.
[[nodiscard]] value make_string_with_capacity(heap& memory, std::size_t bytes);
/// Number of code points.
[[nodiscard]] std::size_t string_length(const value& string) noexcept;
/// The bytes [begin, end), which begin and end between characters. The caller has checked the
/// bounds. The result shares the storage of `string`, unless it is small and the storage large.
[[nodiscard]] value string_window(const value& string, std::size_t begin, std::size_t end);

[[nodiscard]] std::string_view symbol_name(const value& symbol) noexcept;

} // namespace heddle::lang
