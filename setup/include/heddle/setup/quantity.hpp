// Numbers with units, as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::setup {

/// Number and unit of "1.5 h", or nothing.
[[nodiscard]] std::optional<std::pair<double, std::string>> split_quantity(std::string_view text);

/// Bytes of "500MB", "1.5 GiB" or "4096"; nothing unless it is a size from 1 byte to 1 PB.
[[nodiscard]] std::optional<std::uint64_t> bytes_of(std::string_view text);

} // namespace heddle::setup
