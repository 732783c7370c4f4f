// Code points in UTF-8. The functions that read take text that is known to be valid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::lang {

struct code_point {
    char32_t value = 0;
    std::size_t bytes = 0;
};

/// The code point that begins at `at`, which must be inside of `text`.
[[nodiscard]] inline code_point decode_at(std::string_view text, std::size_t at) noexcept {
    const auto byte = [&](std::size_t i) {
        return static_cast<char32_t>(static_cast<unsigned char>(text[at + i]));
    };
    const char32_t lead = byte(0);
    if (lead < 0x80) return {lead, 1};
    if (lead < 0xE0) return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2};
    if (lead < 0xF0) return {(lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
    return {(lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F),
            4};
}

[[nodiscard]] inline bool is_continuation_byte(char byte) noexcept { return (byte & 0xC0) == 0x80; }

/// Number of code points.
[[nodiscard]] inline std::size_t count_code_points(std::string_view text) noexcept {
    std::size_t count = 0;
    for (const char byte : text) count += is_continuation_byte(byte) ? 0 : 1;
    return count;
}

inline void append_utf8(std::string& out, char32_t point) {
    const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
    if (point < 0x80) {
        put(point);
    } else if (point < 0x800) {
        put(0xC0 | point >> 6);
        put(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        put(0xE0 | point >> 12);
        put(0x80 | (point >> 6 & 0x3F));
        put(0x80 | (point & 0x3F));
    } else {
        put(0xF0 | point >> 18);
        put(0x80 | (point >> 12 & 0x3F));
        put(0x80 | (point >> 6 & 0x3F));
        put(0x80 | (point & 0x3F));
    }
}

/// White space of Unicode (and the byte order mark, which editors leave behind).
[[nodiscard]] inline bool is_unicode_space(char32_t point) noexcept {
    switch (point) {
    case ' ':
    case '\t':
    case '\n':
    case '\r':
    case '\v':
    case '\f':
    case 0x85:
    case 0xA0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202F:
    case 0x205F:
    case 0x3000:
    case 0xFEFF: return true;
    default: return point >= 0x2000 && point <= 0x200A;
    }
}

/// The value of four hexadecimal digits at `at`, or nothing.
[[nodiscard]] inline std::optional<char32_t> four_hex_digits(std::string_view text,
                                                             std::size_t at) noexcept {
    if (text.size() < 4 || at > text.size() - 4) return std::nullopt;
    char32_t value = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
        const char c = text[i];
        char32_t digit = 0;
        if (c >= '0' && c <= '9') digit = static_cast<char32_t>(c - '0');
        else if (c >= 'a' && c <= 'f') digit = static_cast<char32_t>(c - 'a' + 10);
        else if (c >= 'A' && c <= 'F') digit = static_cast<char32_t>(c - 'A' + 10);
        else return std::nullopt;
        value = value << 4 | digit;
    }
    return value;
}

/// Where the last whole code point within the first `limit` bytes ends.
[[nodiscard]] inline std::size_t cut_at_code_point(std::string_view text,
                                                   std::size_t limit) noexcept {
    if (text.size() <= limit) return text.size();
    while (limit != 0 && is_continuation_byte(text[limit])) --limit;
    return limit;
}

/// A line and a column, both from 1, the column in code points.
struct text_place {
    std::size_t line = 1;
    std::size_t column = 1;
};

/// The place of a byte offset. Linear in the offset: for errors.
[[nodiscard]] inline text_place place_of(std::string_view text, std::size_t offset) noexcept {
    text_place place;
    const std::string_view before = text.substr(0, offset);
    std::size_t line_begin = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i] != '\n') continue;
        ++place.line;
        line_begin = i + 1;
    }
    place.column = count_code_points(before.substr(line_begin)) + 1;
    return place;
}

} // namespace heddle::lang
