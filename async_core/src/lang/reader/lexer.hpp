// Source text to tokens.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/source.hpp>
#include <heddle/lang/work.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::lang {

enum class token_kind : std::uint8_t {
    end,
    open,   ///< ( or [
    close,  ///< ) or ]
    prefix, ///< ' ` , ,@
    drop,   ///< #;
    string, ///< lexer::string_content() holds what it means
    atom,   ///< a number, a word or a symbol
    failure ///< see lexer::failure()
};

/// Bytes [begin, end) of the text.
struct token {
    token_kind kind = token_kind::end;
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// Cuts a text into tokens, each byte looked at once. Linear, no recursion: nested comments are
/// counted. The text must outlive it.
class lexer {
public:
    /// It spends for each byte. When the work stops, that is a failure too.
    lexer(std::string_view text, std::uint32_t position, work_meter& work,
          std::size_t first_line = 1)
        : text_(text), position_(position), work_(work), first_line_(first_line) {}

    /// Refuses what no source may hold anywhere: invalid UTF-8 and control characters.
    [[nodiscard]] std::optional<error> check_text() const;
    [[nodiscard]] static error stopped() { return error::cancelled(cancel_reason::sibling); }

    static constexpr std::size_t max_atom_length =
        std::size_t{1024} * 1024; ///< bytes of a symbol or number

    [[nodiscard]] token next();

    [[nodiscard]] std::string_view text(const token& t) const noexcept {
        return text_.substr(t.begin, t.end - t.begin);
    }
    /// Of the string token that next() returned last.
    [[nodiscard]] const std::string& string_content() const noexcept { return content_; }
    [[nodiscard]] error take_failure() { return std::move(*failure_); }

    /// Bytes [begin, end) as a place in the source; unknown when the text has no position.
    [[nodiscard]] source_span span(std::size_t begin, std::size_t end) const noexcept {
        if (position_ == 0) return {};
        return {position_ + static_cast<std::uint32_t>(begin),
                position_ + static_cast<std::uint32_t>(end)};
    }
    /// "line 3, column 5".
    [[nodiscard]] std::string where(std::size_t offset) const;
    [[nodiscard]] error syntax_error(std::size_t begin, std::size_t end, std::string message,
                                     std::string hint = {}) const;
    /// A syntax error that further text may mend.
    [[nodiscard]] error incomplete(std::size_t begin, std::size_t end, std::string message,
                                   std::string hint = {}) const;

private:
    [[nodiscard]] bool skip_blanks();
    [[nodiscard]] bool skip_line_comment();
    [[nodiscard]] bool skip_block_comment();
    [[nodiscard]] token read_string();
    [[nodiscard]] std::optional<std::size_t> end_of_string();
    [[nodiscard]] bool read_escape();
    [[nodiscard]] bool read_unicode_escape();
    [[nodiscard]] token read_atom();
    [[nodiscard]] token fail(error failure);
    [[nodiscard]] std::size_t blank_bytes(std::size_t at) const noexcept;

    /// Pays for the bytes up to `at` once they are some. False, with the failure noted: stop.
    [[nodiscard]] bool pay(std::size_t at) { return at < paid_ + bytes_at_once || pay_now(at); }
    [[nodiscard]] bool pay_now(std::size_t at);
    static constexpr std::size_t bytes_at_once = 4096;

    std::string_view text_;
    std::uint32_t position_;
    work_meter& work_;
    std::size_t first_line_;
    std::size_t at_ = 0;
    std::size_t paid_ = 0;
    std::string content_;
    std::optional<error> failure_;
};

} // namespace heddle::lang
