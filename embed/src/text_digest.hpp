// Digests that journals keep.
#pragma once

#include <heddle/rows/row.hpp>

#include <string>
#include <string_view>

namespace heddle::embed {

/// The same in all processes and versions.
[[nodiscard]] inline std::string digest_of_text(std::string_view text) {
    const ports::digest128 digest = rows::digest_of_content(text);
    return std::to_string(digest.high) + '-' + std::to_string(digest.low);
}

} // namespace heddle::embed
