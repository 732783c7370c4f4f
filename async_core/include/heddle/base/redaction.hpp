// Taking secrets out of text that people or files will see.
#pragma once

#include <heddle/base/secret.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Finds the values of secrets in text and puts a mark in their place, also where they are written
/// with escapes: of JSON and of most languages, in any number of layers (a document within a text
/// of another), and of addresses. A text that holds three quarters of a secret, but not all of it,
/// is hidden as well. It knows no format: give it the strings of a document, not its JSON, whose
/// names are nobody's secret. Immutable once made. Threads: any.
class redactor {
public:
    /// Shorter secrets are not looked for: placeholders such as "none" or "ollama" are words that
    /// any text may hold, and a real key is longer.
    static constexpr std::size_t usual_min_length = 12;
    /// For messages of errors, where a word too many is better hidden than a short key shown.
    static constexpr std::size_t min_length_in_errors = 4;

    /// Hides nothing.
    redactor() = default;
    explicit redactor(std::vector<secret> secrets, std::string_view mark = "[hidden]",
                      std::size_t min_length = usual_min_length);

    /// True when there is something to look for.
    [[nodiscard]] bool hides() const noexcept { return !secrets_.empty(); }
    /// Result: true when something was hidden. Time: the text's length for each secret.
    /// Where a mark is put in place of escapes, the text may be no document of its format any more.
    bool hide(std::string& text) const;
    [[nodiscard]] std::string hidden(std::string_view text) const;

private:
    /// One to look for: the middle of it tells where it might be.
    struct wanted {
        secret value;
        std::size_t least = 0; ///< so much of it is hidden
    };
    [[nodiscard]] static bool hide_one(std::string& text, const wanted& one,
                                       const std::string& mark);

    std::vector<wanted> secrets_; ///< the longest first: one may be a part of another
    std::string mark_;
};

} // namespace heddle
