// UTF-8: decoding, validation, and the treatment of invalid bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::utf8 {

/// U+FFFD, which replaces what cannot be decoded.
inline constexpr std::string_view replacement = "\xEF\xBF\xBD";
inline constexpr char32_t replacement_character = 0xFFFD;
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// One code point of a text, or one invalid sequence of it.
struct code_point {
    char32_t value = replacement_character;
    std::size_t bytes = 1; ///< that it occupies; at least 1, never past the end of the text
    bool valid = false;
};

namespace detail {
[[nodiscard]] code_point decode_sequence(std::string_view text, std::size_t at) noexcept;
}

/// The code point that begins at `at`, which must be less than the size. An invalid sequence is the
/// longest that could have begun a character, or one byte ("maximal subpart", Unicode 3.9; what
/// browsers do): its value is U+FFFD. Reads nothing past the end of the text.
[[nodiscard]] inline code_point decode(std::string_view text, std::size_t at) noexcept {
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead < 0x80) return {lead, 1, true};
    return detail::decode_sequence(text, at);
}

/// Appends a code point. A surrogate, or a number above U+10FFFF, is appended as U+FFFD.
void append(std::string& out, char32_t point);
/// Bytes that a code point takes; four for a number above U+10FFFF, too.
[[nodiscard]] constexpr std::size_t size_of(char32_t point) noexcept {
    return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
}

[[nodiscard]] constexpr bool is_continuation(char byte) noexcept { return (byte & 0xC0) == 0x80; }

/// True if no byte is 0x80 or above. Eight bytes at a time.
[[nodiscard]] bool is_ascii(std::string_view text) noexcept;

/// Byte offset of the first invalid sequence, or npos. Overlong forms, surrogates and code points
/// above U+10FFFF are invalid. Linear; ASCII is skipped eight bytes at a time.
[[nodiscard]] std::size_t find_invalid(std::string_view text) noexcept;
[[nodiscard]] inline bool is_valid(std::string_view text) noexcept {
    return find_invalid(text) == std::string_view::npos;
}

/// The text behind a byte order mark, if it begins with one.
[[nodiscard]] inline std::string_view skip_byte_order_mark(std::string_view text) noexcept {
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    return text;
}

/// Number of bytes at the end that begin a character without completing it: 0 to 3. Without them, a
/// prefix of a valid text is valid.
[[nodiscard]] std::size_t incomplete_end(std::string_view text) noexcept;

/// The text with U+FFFD in place of each invalid sequence. A valid text is returned as it is.
[[nodiscard]] std::string replace_invalid(std::string text);
/// Appends the text as replace_invalid returns it.
void append_valid(std::string& out, std::string_view text);

/// Number of code points; of an invalid text, the bytes that are not continuation bytes.
[[nodiscard]] std::size_t count(std::string_view text) noexcept;
/// Byte offset of code point number `n`, from 0; the size of the text if it has at most `n`.
[[nodiscard]] std::size_t offset_of(std::string_view text, std::size_t n) noexcept;

/// Size of the longest prefix of at most `max_bytes` bytes that does not end inside a character.
[[nodiscard]] std::size_t prefix_size(std::string_view text, std::size_t max_bytes) noexcept;
/// That prefix.
[[nodiscard]] inline std::string_view prefix(std::string_view text,
                                             std::size_t max_bytes) noexcept {
    return text.substr(0, prefix_size(text, max_bytes));
}
/// The text; if it has more than `max_bytes` bytes, their prefix and the mark.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t max_bytes,
                                    std::string_view mark = "…");
/// Shortens in place to prefix_size; no mark.
void shorten(std::string& text, std::size_t max_bytes);

/// Control characters: C0, DEL and C1 (U+0080 to U+009F, among them the CSI of terminals).
[[nodiscard]] constexpr bool is_control(char32_t point) noexcept {
    return point < 0x20 || (point >= 0x7F && point <= 0x9F);
}
/// Characters that a terminal interprets instead of displaying: control characters; the marks,
/// embeddings, overrides and isolates that change the order in which other text is shown (Unicode
/// Standard Annex 9), by which an address can be made to look like another; and the line and
/// paragraph separators.
[[nodiscard]] constexpr bool is_display_control(char32_t point) noexcept {
    return is_control(point) || point == 0x061C || point == 0x200E || point == 0x200F ||
           (point >= 0x2028 && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
}
/// White space of Unicode (and the byte order mark, which editors leave behind).
[[nodiscard]] bool is_space(char32_t point) noexcept;

/// For terminals: what is_display_control becomes '?', except line feeds and tabs; invalid bytes
/// become U+FFFD.
[[nodiscard]] std::string printable(std::string_view text);
/// For one line of a terminal: as printable, with a blank for each line feed, carriage return and
/// tab.
[[nodiscard]] std::string printable_line(std::string_view text);

[[nodiscard]] constexpr bool is_high_surrogate(char32_t unit) noexcept {
    return unit >= 0xD800 && unit <= 0xDBFF;
}
[[nodiscard]] constexpr bool is_low_surrogate(char32_t unit) noexcept {
    return unit >= 0xDC00 && unit <= 0xDFFF;
}
/// The code point that a surrogate pair encodes.
[[nodiscard]] constexpr char32_t join_surrogates(char32_t high, char32_t low) noexcept {
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

} // namespace heddle::utf8
