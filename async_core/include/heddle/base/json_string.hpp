// Strings in JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle {

/// Appends `text` as the contents of a JSON string: quotes, backslashes and control characters (of
/// C0) escaped, everything else as it is. Each invalid sequence of UTF-8 becomes U+FFFD, so that
/// what is appended is always valid. Linear; runs without anything to escape are copied eight bytes
/// at a time.
void append_json_escaped(std::string& out, std::string_view text);
/// As append_json_escaped, between quotes.
void append_json_string(std::string& out, std::string_view text);
/// `text` as a JSON string.
[[nodiscard]] std::string json_string(std::string_view text);

enum class lone_half : std::uint8_t {
    replaced, ///< by U+FFFD
    kept      ///< as the three bytes that would encode it in UTF-8, which valid text never contains
};

/// The JSON text with U+FFFD in place of invalid UTF-8, and with escapes of lone halves of
/// surrogate pairs (`\ud83e` without its other half) treated as `halves` specifies. Nothing if the
/// text contains neither. Servers that cut strings by UTF-16 units send such halves. Linear.
[[nodiscard]] std::optional<std::string> mended_json(std::string_view json,
                                                     lone_half halves = lone_half::replaced);

} // namespace heddle
