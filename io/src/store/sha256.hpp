// SHA-256.
#pragma once

#include <array>
#include <initializer_list>
#include <memory>
#include <string_view>

namespace heddle::store {

/// Kept for several digests, because to set it up costs more than the digest of a short text. One
/// thread at a time.
class sha256 {
public:
    using digest = std::array<unsigned char, 32>;

    /// Throws std::bad_alloc.
    sha256();
    ~sha256();
    sha256(const sha256&) = delete;
    sha256& operator=(const sha256&) = delete;

    /// Of the parts one after the other. Throws std::bad_alloc.
    [[nodiscard]] digest of(std::initializer_list<std::string_view> parts);

private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace heddle::store
