// Digests as text.
#pragma once

#include <heddle/ports/run_journal.hpp>

#include <string>

namespace heddle::cli {

/// 32 hexadecimal digits.
[[nodiscard]] std::string hex_of(const ports::digest128& digest);

} // namespace heddle::cli
