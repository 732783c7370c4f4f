#include <heddle/memory/tokens.hpp>

#include <heddle/base/ascii.hpp>

#include <algorithm>
#include <array>

namespace heddle::memory {

namespace {

enum class letter : std::uint8_t { none, lower, upper, digit, other, underscore };

/// How many bytes at `at` are white space or punctuation beyond ASCII; 0 when they are a letter.
[[nodiscard]] std::size_t separator_bytes(std::string_view text, std::size_t at) noexcept {
    const auto byte = [&](std::size_t i) {
        return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
    };
    const unsigned lead = byte(0);
    // U+0080 to U+00BF without the ordinals and the micro sign.
    if (lead == 0xC2) {
        const unsigned next = byte(1);
        return next == 0xAA || next == 0xB5 || next == 0xBA ? 0 : 2;
    }
    if (lead == 0xC3 && (byte(1) == 0x97 || byte(1) == 0xB7)) return 2; // × ÷
    // U+2000 to U+206F, arrows to box drawing (U+2190 to U+25FF), U+3000 to U+303F, U+FEFF.
    if (lead == 0xE2 && (byte(1) <= 0x81 || (byte(1) >= 0x86 && byte(1) <= 0x97))) return 3;
    if (lead == 0xE3 && byte(1) == 0x80) return 3;
    if (lead == 0xEF && byte(1) == 0xBB && byte(2) == 0xBF) return 3;
    return 0;
}

[[nodiscard]] letter kind_of(char c) noexcept {
    if (c >= 'a' && c <= 'z') return letter::lower;
    if (ascii::is_upper(c)) return letter::upper;
    if (ascii::is_digit(c)) return letter::digit;
    if (c == '_') return letter::underscore;
    return static_cast<unsigned char>(c) >= 0x80 ? letter::other : letter::none;
}

constexpr auto stop_words = std::to_array<std::string_view>(
    {"a",     "about", "after", "all",  "also", "an",    "and",   "any",  "are",    "as",
     "at",    "be",    "been",  "but",  "by",   "can",   "could", "did",  "do",     "does",
     "each",  "for",   "from",  "had",  "has",  "have",  "he",    "her",  "his",    "how",
     "i",     "if",    "in",    "into", "is",   "it",    "its",   "just", "me",     "more",
     "my",    "no",    "not",   "of",   "on",   "or",    "our",   "she",  "should", "so",
     "some",  "such",  "than",  "that", "the",  "their", "them",  "then", "there",  "these",
     "they",  "this",  "to",    "was",  "we",   "were",  "what",  "when", "where",  "which",
     "while", "who",   "why",   "will", "with", "would", "you",   "your"});

/// Cuts one identifier after another out of a text.
class splitter {
public:
    splitter(std::string_view text, token_list& out, std::size_t most)
        : text_(text), out_(out), most_(most) {}

    void run() {
        std::size_t at = 0;
        while (at < text_.size() && out_.size() < most_) {
            const std::size_t end = identifier_end(at);
            if (end == at) {
                const std::size_t wide = separator_bytes(text_, at);
                at += wide == 0 ? 1 : wide;
                continue;
            }
            split(text_.substr(at, end - at));
            at = end;
        }
    }

private:
    [[nodiscard]] static bool joins(letter kind) noexcept {
        return kind == letter::lower || kind == letter::upper || kind == letter::other;
    }

    [[nodiscard]] std::size_t identifier_end(std::size_t at) const noexcept {
        while (at < text_.size()) {
            const letter kind = kind_of(text_[at]);
            if (kind == letter::other && separator_bytes(text_, at) != 0) break;
            if (kind == letter::none) {
                const bool kebab = text_[at] == '-' && at > 0 && at + 1 < text_.size() &&
                                   joins(kind_of(text_[at - 1])) && joins(kind_of(text_[at + 1]));
                if (!kebab) break;
            }
            ++at;
        }
        return at;
    }

    /// True when a part ends before word[i].
    [[nodiscard]] static bool begins_part(std::string_view word, std::size_t i) noexcept {
        const letter before = kind_of(word[i - 1]);
        const letter here = kind_of(word[i]);
        if (before == letter::lower && here == letter::upper) return true;
        if ((before == letter::digit) != (here == letter::digit)) return true;
        return before == letter::upper && here == letter::upper && i + 1 < word.size() &&
               kind_of(word[i + 1]) == letter::lower;
    }

    void split(std::string_view word) {
        whole_.clear();
        std::size_t parts = 0;
        std::size_t begin = 0;
        for (std::size_t i = 0; i <= word.size(); ++i) {
            const bool at_end = i == word.size();
            const bool gap = !at_end && (word[i] == '_' || word[i] == '-');
            if (!at_end && !gap && (i == begin || !begins_part(word, i))) continue;
            if (i > begin) {
                part(word.substr(begin, i - begin));
                ++parts;
            }
            begin = gap ? i + 1 : i;
        }
        if (parts > 1) add(whole_);
    }

    void part(std::string_view text) {
        const std::size_t from = whole_.size();
        // A whole that has become too long is not a term; its parts still are.
        for (const char c : text) {
            whole_ += ascii::to_lower(c);
        }
        add(std::string_view(whole_).substr(from));
    }

    void add(std::string_view term) {
        if (term.size() < 2 || term.size() > max_term_length || out_.size() >= most_) return;
        if (!is_stop_word(term)) out_.add(term);
    }

    std::string_view text_;
    token_list& out_;
    std::size_t most_;
    std::string whole_;
};

} // namespace

bool is_stop_word(std::string_view term) noexcept {
    if (term.empty() || term.size() > 6 || term.front() < 'a' || term.front() > 'y') return false;
    return std::binary_search(stop_words.begin(), stop_words.end(), term);
}

void append_tokens(std::string_view text, token_list& out, std::size_t most) {
    splitter(text, out, most).run();
}

} // namespace heddle::memory
