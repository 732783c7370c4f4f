// Compressed bytes, as servers send them.
#pragma once

#include <string>
#include <string_view>

namespace heddle::loopback {

/// How the bytes are framed: the window bits of zlib.
inline constexpr int gzip_frame = 15 + 16;
inline constexpr int zlib_frame = 15;
inline constexpr int no_frame = -15;

/// The text, deflated. `level`: 1, the quickest, to 9, the smallest.
[[nodiscard]] std::string packed(std::string_view text, int frame = gzip_frame, int level = 9);

} // namespace heddle::loopback
