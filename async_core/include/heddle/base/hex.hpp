// Bytes written as two hexadecimal digits: in URLs and in texts that hold bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle {

/// Two digits for each byte, in lower case.
void append_hex(std::string& out, std::string_view bytes);
/// The bytes of a text of such digits, in either case; nothing when it is none.
[[nodiscard]] std::optional<std::string> bytes_of_hex(std::string_view digits);

/// What becomes of a percent sign without two hexadecimal digits behind it.
enum class broken_escape : std::uint8_t {
    kept,   ///< it stands for itself
    refused ///< there is no result
};

/// The part of a URL with the byte that each `%XX` stands for (RFC 3986, 2.1). The result may hold
/// any bytes. A plus sign is one.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text,
                                                         broken_escape broken);

} // namespace heddle
