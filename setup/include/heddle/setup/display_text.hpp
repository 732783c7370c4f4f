// Text in columns and counts.
#pragma once

#include <heddle/base/number_text.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::setup {

/// Cuts to `width` columns of a terminal; longer text ends in "…".
[[nodiscard]] std::string cut_to_width(std::string_view text, std::size_t width);

using heddle::counted;
using heddle::grouped;

/// "1.5 s", "41 s", "12 min", "3 h 20 min"
[[nodiscard]] std::string duration_text(double seconds);

/// A cost in US dollars, to the cent; below a dollar with more decimal places and without trailing
/// zeros: "$12.30", "$0.0042", "$0.00000015". Empty for zero.
[[nodiscard]] std::string dollars(double amount);

/// A cost for JSON: 10 digits behind the point, without those that sums of floats leave (0.0375,
/// not 0.037500000000000006).
[[nodiscard]] double rounded_usd(double amount) noexcept;

/// A network address without secrets: without user name and password, and without the query, which
/// may contain a key. Of an invalid address only the scheme: what looks like its host may be a part
/// of a password. The origin of requests is kept whole.
[[nodiscard]] std::string public_address(std::string_view address);

/// The address for a line of text: public_address, printable, with a long path cut. The origin, to
/// which keys and prompts are sent, is never cut.
[[nodiscard]] std::string shown_address(std::string_view address);

} // namespace heddle::setup
