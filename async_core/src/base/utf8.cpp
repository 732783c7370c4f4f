#include <heddle/base/utf8.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace heddle::utf8 {

namespace {

constexpr std::size_t word_size = sizeof(std::uint64_t);
constexpr std::uint64_t each_byte = 0x0101010101010101ULL;

[[nodiscard]] std::uint64_t word_at(std::string_view text, std::size_t at) noexcept {
    std::uint64_t word;
    std::memcpy(&word, text.data() + at, sizeof word);
    return word;
}

/// Offset of the first byte from `at` on that is not ASCII, or the size.
[[nodiscard]] std::size_t skip_ascii(std::string_view text, std::size_t at) noexcept {
    const std::size_t size = text.size();
    while (size - at >= word_size && (word_at(text, at) & each_byte * 0x80) == 0) at += word_size;
    while (at < size && static_cast<unsigned char>(text[at]) < 0x80) ++at;
    return at;
}

/// How many of eight bytes begin a character.
[[nodiscard]] std::size_t starts_in(std::uint64_t word) noexcept {
    const std::uint64_t continuations = (word >> 7) & ~(word >> 6) & each_byte;
    return word_size - static_cast<std::size_t>((continuations * each_byte) >> 56);
}

enum class line_breaks : std::uint8_t { kept, blanks };

std::string made_printable(std::string_view text, line_breaks breaks) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t first = at;
        while (at < text.size() && text[at] >= 0x20 && text[at] < 0x7F) ++at;
        out.append(text, first, at - first);
        if (at == text.size()) break;
        const code_point point = decode(text, at);
        const bool breaks_line = point.value == '\n' || point.value == '\t';
        if (breaks == line_breaks::blanks && (breaks_line || point.value == '\r')) out += ' ';
        else if (is_display_control(point.value) && !breaks_line) out += '?';
        else if (!point.valid) out += replacement;
        else out.append(text, at, point.bytes);
        at += point.bytes;
    }
    return out;
}

} // namespace

namespace {

/// Bytes of the valid sequence that begins here with a byte of 0x80 or above; 0: there is none
/// (Unicode, table 3-7).
inline std::size_t sequence_size(const unsigned char* bytes, std::size_t available) noexcept {
    const unsigned char lead = bytes[0];
    const auto tail = [&](std::size_t i) -> unsigned { return bytes[i] ^ 0x80U; }; // below 0x40
    if (lead < 0xE0) return lead >= 0xC2 && available >= 2 && tail(1) < 0x40 ? 2 : 0;
    if (lead < 0xF0) {
        if (available < 3 || (tail(1) | tail(2)) >= 0x40) return 0;
        if (lead == 0xE0) return tail(1) >= 0x20 ? 3 : 0; // no overlong forms
        if (lead == 0xED) return tail(1) < 0x20 ? 3 : 0;  // no surrogates
        return 3;
    }
    if (lead > 0xF4 || available < 4 || (tail(1) | tail(2) | tail(3)) >= 0x40) return 0;
    if (lead == 0xF0) return tail(1) >= 0x10 ? 4 : 0;
    return lead < 0xF4 || tail(1) < 0x10 ? 4 : 0; // nothing above U+10FFFF
}

/// What is wrong with the sequence at `at`: the longest part of it that could have gone on.
code_point invalid_sequence(std::string_view text, std::size_t at) noexcept {
    const std::size_t available = text.size() - at;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
    const unsigned char lead = byte(0);
    if (lead < 0xC2 || lead > 0xF4) return {};
    // The second byte keeps out overlong forms, surrogates and what is above U+10FFFF.
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    if (lead == 0xE0) low = 0xA0;
    else if (lead == 0xED) high = 0x9F;
    else if (lead == 0xF0) low = 0x90;
    else if (lead == 0xF4) high = 0x8F;
    std::size_t bytes = 1;
    while (bytes < available && bytes < 4 && byte(bytes) >= low && byte(bytes) <= high) {
        ++bytes;
        low = 0x80;
        high = 0xBF;
    }
    return {replacement_character, bytes, false};
}

} // namespace

code_point detail::decode_sequence(std::string_view text, std::size_t at) noexcept {
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data()) + at;
    const auto bits = [&](std::size_t i) -> char32_t { return bytes[i] & 0x3FU; };
    const char32_t lead = bytes[0];
    switch (sequence_size(bytes, text.size() - at)) {
    case 2: return {(lead & 0x1F) << 6 | bits(1), 2, true};
    case 3: return {(lead & 0x0F) << 12 | bits(1) << 6 | bits(2), 3, true};
    case 4: return {(lead & 0x07) << 18 | bits(1) << 12 | bits(2) << 6 | bits(3), 4, true};
    default: return invalid_sequence(text, at);
    }
}

void append(std::string& out, char32_t point) {
    const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
    if (point < 0x80) {
        put(point);
    } else if (point < 0x800) {
        put(0xC0 | point >> 6);
        put(0x80 | (point & 0x3F));
    } else if (is_high_surrogate(point) || is_low_surrogate(point) || point > 0x10FFFF) {
        out += replacement;
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

bool is_ascii(std::string_view text) noexcept { return skip_ascii(text, 0) == text.size(); }

std::size_t find_invalid(std::string_view text) noexcept {
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    for (std::size_t at = skip_ascii(text, 0); at < text.size();) {
        const std::size_t size = sequence_size(bytes + at, text.size() - at);
        if (size == 0) return at;
        at += size;
        if (at < text.size() && bytes[at] < 0x80) at = skip_ascii(text, at);
    }
    return std::string_view::npos;
}

std::size_t incomplete_end(std::string_view text) noexcept {
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
        const std::size_t at = text.size() - back;
        if (is_continuation(text[at])) continue;
        const auto lead = static_cast<unsigned char>(text[at]);
        const code_point point = decode(text, at);
        const bool begins = lead >= 0xC2 && lead <= 0xF4;
        return begins && !point.valid && point.bytes == back ? back : 0;
    }
    return 0;
}

std::string replace_invalid(std::string text) {
    const std::size_t first = find_invalid(text);
    if (first == std::string::npos) return text;
    std::string out;
    out.reserve(text.size() + 2 * replacement.size());
    append_valid(out, text);
    return out;
}

void append_valid(std::string& out, std::string_view text) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    std::size_t added = 0; // bytes of the text that `out` has, or their replacements
    for (std::size_t at = 0; at < text.size();) {
        if (bytes[at] < 0x80) {
            at = skip_ascii(text, at + 1);
            continue;
        }
        const std::size_t size = sequence_size(bytes + at, text.size() - at);
        if (size != 0) {
            at += size;
            continue;
        }
        if (at != added) out.append(text, added, at - added);
        for (bool invalid = true; invalid;) { // where there is one, more often follow
            out += replacement;
            at += invalid_sequence(text, at).bytes;
            invalid = at < text.size() && bytes[at] >= 0x80 &&
                      sequence_size(bytes + at, text.size() - at) == 0;
        }
        added = at;
    }
    out.append(text, added);
}

std::size_t count(std::string_view text) noexcept {
    std::size_t found = 0;
    std::size_t at = 0;
    for (; text.size() - at >= word_size; at += word_size) found += starts_in(word_at(text, at));
    for (; at < text.size(); ++at) found += is_continuation(text[at]) ? 0 : 1;
    return found;
}

std::size_t offset_of(std::string_view text, std::size_t n) noexcept {
    std::size_t at = 0;
    while (text.size() - at >= word_size) {
        const std::size_t starts = starts_in(word_at(text, at));
        if (starts > n) break;
        n -= starts;
        at += word_size;
    }
    for (; at < text.size(); ++at) {
        if (is_continuation(text[at])) continue;
        if (n == 0) break;
        --n;
    }
    return at;
}

std::size_t prefix_size(std::string_view text, std::size_t max_bytes) noexcept {
    if (text.size() <= max_bytes) return text.size();
    // No character has more than three bytes before one in the middle of it.
    for (std::size_t back = 0; back <= std::min<std::size_t>(3, max_bytes); ++back) {
        const std::size_t at = max_bytes - back;
        if (is_continuation(text[at])) continue;
        return decode(text, at).bytes > back ? at : max_bytes;
    }
    return max_bytes;
}

std::string shortened(std::string_view text, std::size_t max_bytes, std::string_view mark) {
    std::string out(prefix(text, max_bytes));
    if (text.size() > max_bytes) out += mark;
    return out;
}

void shorten(std::string& text, std::size_t max_bytes) {
    text.resize(prefix_size(text, max_bytes));
}

bool is_space(char32_t point) noexcept {
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

std::string printable(std::string_view text) { return made_printable(text, line_breaks::kept); }

std::string printable_line(std::string_view text) {
    return made_printable(text, line_breaks::blanks);
}

} // namespace heddle::utf8
