// Terms and their numbers.
#pragma once

#include <heddle/base/keyed_hash.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::memory {

/// Numbers terms from 0 in the order in which they come. About 24 bytes a term beside its text.
class term_table {
public:
    [[nodiscard]] std::uint32_t intern(std::string_view term);
    [[nodiscard]] std::optional<std::uint32_t> find(std::string_view term) const noexcept;
    [[nodiscard]] std::uint32_t size() const noexcept {
        return static_cast<std::uint32_t>(ends_.size());
    }
    [[nodiscard]] std::string_view text(std::uint32_t number) const noexcept;
    [[nodiscard]] std::size_t memory_bytes() const noexcept;

private:
    struct place {
        std::uint32_t hash = 0;  ///< distinguishes most terms
        std::uint32_t entry = 0; ///< 0: free, else number + 1
    };

    [[nodiscard]] std::uint32_t hash_of(std::string_view term) const noexcept;
    [[nodiscard]] std::size_t place_of(std::string_view term, std::uint32_t hash) const noexcept;
    void grow();

    hash_key key_ = random_hash_key(); ///< the words come from files of strangers
    std::string bytes_;
    std::vector<std::uint64_t> ends_;
    std::vector<place> places_; ///< open addressing
};

} // namespace heddle::memory
