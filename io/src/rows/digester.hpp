// SHA-256, cut to 128 bits.
#pragma once

#include "store/sha256.hpp"

#include <heddle/ports/run_journal.hpp>

#include <string_view>

namespace heddle::rows {

/// Kept, because to set it up costs more than the digest of a short text.
class digester {
public:
    /// Texts of distinct `purpose` have distinct digests.
    [[nodiscard]] ports::digest128 digest(std::string_view purpose, std::string_view text);

private:
    store::sha256 whole_;
};

/// What digest_of_id and digest_of_content pass.
inline constexpr std::string_view id_purpose{"heddle row id\0", 14};
inline constexpr std::string_view content_purpose{"heddle row content\0", 19};

} // namespace heddle::rows
