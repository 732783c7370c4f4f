#include "memory/index/term_counts.hpp"

#include <heddle/base/keyed_hash.hpp>

#include <unordered_map>

namespace heddle::memory {

term_counts::term_counts(const token_list& tokens) {
    length_ = static_cast<std::uint32_t>(tokens.size());
    std::unordered_map<std::string_view, std::uint32_t, keyed_hash> places(
        64, keyed_hash{random_hash_key()});
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::string_view term = tokens[i];
        const auto [place, fresh] =
            places.try_emplace(term, static_cast<std::uint32_t>(terms_.size()));
        if (!fresh) {
            ++terms_[place->second].count;
            continue;
        }
        terms_.push_back({static_cast<std::uint32_t>(bytes_.size()),
                          static_cast<std::uint32_t>(term.size()), 1});
        bytes_ += term;
    }
}

term_counts count_terms(std::string_view text, std::size_t most) {
    token_list tokens;
    append_tokens(text, tokens, most);
    return term_counts(tokens);
}

} // namespace heddle::memory
