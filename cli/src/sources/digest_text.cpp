#include "sources/digest_text.hpp"

#include <heddle/base/hex.hpp>

namespace heddle::cli {

std::string hex_of(const ports::digest128& digest) {
    return hex_text(digest.high) + hex_text(digest.low);
}

} // namespace heddle::cli
