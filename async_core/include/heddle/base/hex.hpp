// Bytes written as two hexadecimal digits: in URLs and in texts that hold bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle {

/// Two digits for each byte, in lower case.
void append_hex(std::string& out, std::string_view bytes);
/// The 16 digits of a number, in lower case. Any thread.
[[nodiscard]] std::string hex_text(std::uint64_t number);
/// Decodes such digits, in either case. Nothing if `digits` is not hexadecimal.
[[nodiscard]] std::optional<std::string> bytes_of_hex(std::string_view digits);

/// Appends `text` to a URL: `%XX` in the place of each byte that is not one of the unreserved
/// characters of RFC 3986, 2.3 (letters, digits, "-._~") or in `also_plain`. Any thread.
void append_percent_encoded(std::string& out, std::string_view text,
                            std::string_view also_plain = {});

/// How a percent sign without two hexadecimal digits after it is decoded.
enum class broken_escape : std::uint8_t {
    kept,   ///< to itself
    refused ///< not at all: there is no result
};

/// Decodes each `%XX` of a part of a URL (RFC 3986, 2.1). The result may hold any bytes. A plus
/// sign is left as it is.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text,
                                                         broken_escape broken);

} // namespace heddle
