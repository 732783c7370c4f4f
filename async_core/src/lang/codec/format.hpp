// The bytes that values and errors are written as.
#pragma once

#include <cstdint>

namespace heddle::lang::codec {

// An answer is: version, what it is, content. Numbers are varints: seven bits a byte, the lowest
// first. Texts are their size and their bytes. Parts that may be used again are numbered in the
// order in which they end, by a bit of their mark; so nothing refers to what contains it.

inline constexpr char version = 1;
inline constexpr char a_value = 'v';
inline constexpr char an_error = 'e';

enum mark : std::uint8_t {
    mark_nil = 0,
    mark_false = 1,
    mark_true = 2,
    mark_integer = 3,  ///< folded: 0, -1, 1, -2, …
    mark_real = 4,     ///< eight bytes, the lowest first
    mark_string = 5,   ///< text
    mark_symbol = 6,   ///< text
    mark_list = 7,     ///< number of elements, elements
    mark_map = 8,      ///< number of entries, key and item of each
    mark_again = 9,    ///< number of a part
    mark_window = 10,  ///< number of a string or list, first byte or element, how many
    mark_numbered = 16 ///< with string, symbol, list, map
};
/// The integers from 0 to 191 are one byte.
inline constexpr std::uint8_t first_small = 64;
inline constexpr std::int64_t small_integers = 256 - first_small;

// An error: how many (it and its causes), then each: flags, category, code, message, hint, origin,
// reason of a cancellation, what the flags announce in this order, lines of the trace.
enum error_flag : std::uint8_t {
    has_retry_after = 1, ///< milliseconds
    may_be_retried = 2,
    is_final = 4,
    has_attempts = 8,
    has_payload = 16, ///< reason, flags, and data and result as text that holds a value
    is_cut_message =
        32 ///< the error keeps the beginning of the message only, its payload all of it
};
enum payload_flag : std::uint8_t { is_uncatchable = 1, is_complete = 2 };
inline constexpr std::uint64_t max_chain = 65; ///< an error and its causes

[[nodiscard]] constexpr std::uint64_t folded(std::int64_t number) noexcept {
    return static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63);
}
[[nodiscard]] constexpr std::int64_t unfolded(std::uint64_t number) noexcept {
    return static_cast<std::int64_t>(number >> 1 ^ (0 - (number & 1)));
}

} // namespace heddle::lang::codec
