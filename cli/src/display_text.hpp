// Text in columns and counts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::cli {

/// At most `width` columns of a terminal; what was longer ends in "…".
[[nodiscard]] std::string cut_to_width(std::string_view text, std::size_t width);

/// "1,234,567"
[[nodiscard]] std::string grouped(long long number);

/// "1 call", "2 calls"
[[nodiscard]] std::string counted(unsigned long long count, std::string_view noun);

/// An address of the net as anybody may see it: without a user name and password, and without what
/// follows a question mark, which may be a key. Of one that is none, no more than the scheme: what
/// looks like its host may be a part of a password. The origin that a request would go to is whole.
[[nodiscard]] std::string public_address(std::string_view address);

/// The address as a line of text shows it: public_address, printable, and with a long path cut. The
/// origin, where keys and prompts go, is never cut.
[[nodiscard]] std::string shown_address(std::string_view address);

} // namespace heddle::cli
