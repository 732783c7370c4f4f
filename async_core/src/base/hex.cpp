#include <heddle/base/hex.hpp>

#include <heddle/base/ascii.hpp>

namespace heddle {

namespace {

/// The byte of two digits at `at`, or -1.
int byte_at(std::string_view digits, std::size_t at) noexcept {
    if (digits.size() < 2 || at > digits.size() - 2) return -1;
    const int high = ascii::hex_value(digits[at]);
    const int low = ascii::hex_value(digits[at + 1]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

} // namespace

void append_hex(std::string& out, std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += digits[byte >> 4];
        out += digits[byte & 15];
    }
}

std::string hex_text(std::uint64_t number) {
    std::string bytes;
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xFF);
    std::string digits;
    append_hex(digits, bytes);
    return digits;
}

std::optional<std::string> bytes_of_hex(std::string_view digits) {
    if (digits.size() % 2 != 0) return std::nullopt;
    std::string bytes;
    bytes.reserve(digits.size() / 2);
    for (std::size_t at = 0; at < digits.size(); at += 2) {
        const int byte = byte_at(digits, at);
        if (byte < 0) return std::nullopt;
        bytes += static_cast<char>(byte);
    }
    return bytes;
}

void append_percent_encoded(std::string& out, std::string_view text, std::string_view also_plain) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    constexpr std::string_view unreserved = "-._~";
    for (const char c : text) {
        if (ascii::is_letter(c) || ascii::is_digit(c) || unreserved.find(c) != unreserved.npos ||
            also_plain.find(c) != also_plain.npos) {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += '%';
        out += digits[byte >> 4];
        out += digits[byte & 15];
    }
}

std::optional<std::string> percent_decoded(std::string_view text, broken_escape broken) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        const int byte = text[at] == '%' ? byte_at(text, at + 1) : -1;
        if (byte >= 0) {
            out += static_cast<char>(byte);
            at += 2;
        } else if (text[at] == '%' && broken == broken_escape::refused) {
            return std::nullopt;
        } else {
            out += text[at];
        }
    }
    return out;
}

} // namespace heddle
