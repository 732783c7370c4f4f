#include <heddle/base/json_string.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/hex.hpp>
#include <heddle/base/utf8.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace heddle {

namespace {

constexpr std::uint64_t repeat(std::uint8_t byte) noexcept { return 0x0101010101010101ULL * byte; }

constexpr std::uint64_t has_zero(std::uint64_t word) noexcept {
    return (word - repeat(0x01)) & ~word & repeat(0x80);
}

/// True if none of the eight bytes is a control character, a quote, a backslash or not ASCII.
bool all_plain(const char* at) noexcept {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    const std::uint64_t control = (word - repeat(0x20)) & ~word;
    return ((control | word) & repeat(0x80)) == 0 &&
           (has_zero(word ^ repeat('"')) | has_zero(word ^ repeat('\\'))) == 0;
}

bool is_plain(unsigned char byte) noexcept {
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

void append_escape(std::string& out, unsigned char byte) {
    switch (byte) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    default: break;
    }
    out += "\\u00";
    const char code = static_cast<char>(byte);
    append_hex(out, {&code, 1});
}

struct escape {
    std::size_t bytes;
    char32_t lone_half = 0; ///< 0: it is none
};

/// The escape that begins at `at`, with a backslash; a pair of halves counts as one.
escape read_escape(std::string_view json, std::size_t at) noexcept {
    if (json.substr(at + 1, 1) != "u") return {std::min<std::size_t>(2, json.size() - at)};
    const auto unit = ascii::four_hex_digits(json, at + 2);
    if (!unit) return {2};
    if (utf8::is_low_surrogate(*unit)) return {6, *unit};
    if (!utf8::is_high_surrogate(*unit)) return {6};
    const bool follows = json.substr(at + 6, 2) == "\\u";
    const auto second = follows ? ascii::four_hex_digits(json, at + 8) : std::nullopt;
    if (second && utf8::is_low_surrogate(*second)) return {12};
    return {6, *unit};
}

void append_half(std::string& out, char32_t half, lone_half halves) {
    if (halves == lone_half::replaced) return utf8::append(out, half); // as U+FFFD
    out += '\xED';
    out += static_cast<char>(0x80 | (half >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (half & 0x3F));
}

} // namespace

void append_json_escaped(std::string& out, std::string_view text) {
    std::size_t run = 0; // where the bytes begin that are appended as they are
    std::size_t at = 0;
    const auto flush = [&] { out.append(text.data() + run, at - run); };
    while (at < text.size()) {
        if (at + 8 <= text.size() && all_plain(text.data() + at)) {
            at += 8;
            continue;
        }
        const auto byte = static_cast<unsigned char>(text[at]);
        if (is_plain(byte)) {
            ++at;
        } else if (byte < 0x80) {
            flush();
            append_escape(out, byte);
            run = ++at;
        } else if (const utf8::code_point point = utf8::decode(text, at); point.valid) {
            at += point.bytes;
        } else {
            flush();
            out += utf8::replacement;
            run = at += point.bytes;
        }
    }
    flush();
}

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    append_json_escaped(out, text);
    out += '"';
}

std::string json_string(std::string_view text) {
    std::string out;
    out.reserve(text.size() + 2);
    append_json_string(out, text);
    return out;
}

std::optional<std::string> mended_json(std::string_view json, lone_half halves) {
    const bool valid = utf8::is_valid(json);
    std::string text; // valid
    if (!valid) utf8::append_valid(text, json);
    std::string_view rest = valid ? json : std::string_view(text);
    std::string out;
    bool found = false;
    for (std::size_t at = rest.find('\\'); at < rest.size(); at = rest.find('\\', at)) {
        const escape seen = read_escape(rest, at);
        at += seen.bytes;
        if (seen.lone_half == 0) continue;
        found = true;
        out += rest.substr(0, at - seen.bytes);
        append_half(out, seen.lone_half, halves);
        rest.remove_prefix(at);
        at = 0;
    }
    if (!found) return valid ? std::nullopt : std::optional(std::move(text));
    return out += rest;
}

} // namespace heddle
