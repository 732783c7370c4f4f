// Taking secrets out of text that people or files will see.
#pragma once

#include <heddle/base/secret.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Replaces the values of secrets in strings with a mark. Also finds values of which any characters
/// are escaped: by backslashes, \uNNNN and \xNN, at any depth (a document inside a string of
/// another); for URLs, %NN, also encoded again (%25NN, %2525NN); and by number for HTML and XML,
/// &#115; and &#x73;. Not found: Base64 and other encodings of the whole value.
/// Three quarters of a secret of 12 to 512 characters are enough, so that a truncated value is
/// hidden as well; of any other all of it must be there.
/// Knows no document format: apply it to the strings of a document, not to its JSON text, in which
/// it could also replace member names. Immutable after construction. Threads: any.
class redactor {
public:
    /// Shorter secrets are not searched for: placeholders such as "none" or "ollama" are words that
    /// any text may hold, and a real key is longer.
    static constexpr std::size_t usual_min_length = 8;
    /// Nor are secrets of up to this length that look like words ("placeholder", "lm-studio"):
    /// letters of one case, dashes and underscores. With a smaller minimum they are.
    static constexpr std::size_t max_word_length = 11;
    /// For messages of errors, where a word too many is better hidden than a short key shown.
    static constexpr std::size_t min_length_in_errors = 4;

    /// Hides nothing.
    redactor() = default;
    explicit redactor(std::vector<secret> secrets, std::string_view mark = "[hidden]",
                      std::size_t min_length = usual_min_length);

    /// True if there is a secret to search for.
    [[nodiscard]] bool hides() const noexcept { return !secrets_.empty(); }
    /// Hides the secrets in `text`. Result: true when something was hidden. Replacing an escaped
    /// value can leave a document that is no longer valid in its format. Complexity: linear in the
    /// length of the text for each secret.
    bool hide(std::string& text) const;
    [[nodiscard]] std::string hidden(std::string_view text) const;
    /// For streamed text: the length of the suffix of `text` that may be the start of a secret, and
    /// so must be withheld until the next piece arrives. Complexity: linear in that length.
    [[nodiscard]] std::size_t undecided(std::string_view text) const;

private:
    /// A secret to search for. A match of its middle part marks a candidate.
    struct wanted {
        secret value;
        std::size_t least = 0;           ///< length of the shortest part to hide
        std::array<bool, 256> letters{}; ///< bytes that can occur in it, escapes included
    };
    [[nodiscard]] static bool hide_one(std::string& text, const wanted& one,
                                       const std::string& mark);
    [[nodiscard]] static std::size_t undecided(std::string_view text, const wanted& one);

    std::vector<wanted> secrets_; ///< the longest first: one may be a part of another
    std::string mark_;
};

} // namespace heddle
