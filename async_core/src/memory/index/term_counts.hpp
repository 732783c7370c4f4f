// A text as the index takes it: each term once, with how often it occurs.
#pragma once

#include <heddle/memory/tokens.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::memory {

struct term_count {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
    std::uint32_t count = 0;
};

/// Made off the loop and without a lock; merged into an index later.
class term_counts {
public:
    term_counts() = default;
    explicit term_counts(const token_list& tokens);

    [[nodiscard]] const std::vector<term_count>& terms() const noexcept { return terms_; }
    [[nodiscard]] std::string_view text(const term_count& term) const noexcept {
        return std::string_view(bytes_).substr(term.begin, term.size);
    }
    /// Terms with repetitions.
    [[nodiscard]] std::uint32_t length() const noexcept { return length_; }

private:
    std::string bytes_;
    std::vector<term_count> terms_;
    std::uint32_t length_ = 0;
};

/// The terms of a text, at most `most` tokens of it.
[[nodiscard]] term_counts count_terms(std::string_view text, std::size_t most);

} // namespace heddle::memory
