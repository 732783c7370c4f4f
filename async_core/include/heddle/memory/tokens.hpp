// Words and identifiers of text and code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::memory {

/// Terms in the order of the text, in one block of memory.
class token_list {
public:
    [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
    [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
        const std::uint32_t begin = i == 0 ? 0 : ends_[i - 1];
        return std::string_view(bytes_).substr(begin, ends_[i] - begin);
    }
    void clear() noexcept {
        bytes_.clear();
        ends_.clear();
    }
    void add(std::string_view term) {
        bytes_ += term;
        ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    }

private:
    std::string bytes_;
    std::vector<std::uint32_t> ends_;
};

/// Longer terms are not indexed.
inline constexpr std::size_t max_term_length = 64;

/// Appends the terms of `text` to `out`, at most `most` of them.
///
/// An identifier or word (letters, digits, `_`, and `-` between letters) is split into its parts
/// and, if there are several, also added as a whole: `parseHttpRequest`, `parse_http_request` and
/// `parse-http-request` all become parse, http, request, parsehttprequest. Parts begin at a capital
/// after a small letter, at the last capital before a small letter (HTTPServer: http, server), and
/// between letters and digits. Terms are in lower case; stop words, single ASCII characters and
/// terms longer than max_term_length are skipped.
///
/// Case is folded for ASCII. Other letters are kept as they are (any UTF-8 sequence except white
/// space and punctuation is a letter), so a word written with É is not found as é. Invalid UTF-8
/// counts as letters too. Linear. Threads: any.
void append_tokens(std::string_view text, token_list& out, std::size_t most = SIZE_MAX);

/// Words without relevance to the topic of a text ("the", "of"), in lower case.
[[nodiscard]] bool is_stop_word(std::string_view term) noexcept;

} // namespace heddle::memory
