#include "lang/reader/lexer.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/text.hpp>

#include "lang/text/number_text.hpp"
#include "lang/text/symbol_syntax.hpp"

#include <algorithm>
#include <utility>

namespace heddle::lang {

namespace {

[[nodiscard]] std::string hex(unsigned number, int digits) {
    std::string text;
    for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) {
        text += "0123456789ABCDEF"[number >> shift & 0xF];
    }
    return text;
}

} // namespace

std::string lexer::where(std::size_t offset) const {
    const text_place place = place_of_byte(text_, offset);
    return "line " + std::to_string(first_line_ - 1 + place.line) + ", column " +
           std::to_string(place.column);
}

error lexer::syntax_error(std::size_t begin, std::size_t end, std::string message,
                          std::string hint) const {
    return error(errc::syntax, std::move(message))
        .with_hint(std::move(hint))
        .with_span(span(begin, end))
        .with_origin(error_origin::script);
}

error lexer::incomplete(std::size_t begin, std::size_t end, std::string message,
                        std::string hint) const {
    return syntax_error(begin, end, std::move(message), std::move(hint))
        .with_payload(std::make_shared<incomplete_input>());
}

std::optional<error> lexer::check_text() const {
    std::size_t invalid = text_.size();
    auto found = text_.end();
    for (std::size_t at = 0; at < text_.size() && found == text_.end();) {
        const std::string_view piece =
            text_.substr(at, utf8::prefix_size(text_.substr(at), 16 * 1024));
        if (!work_.spend(piece.size() / 8)) return stopped();
        const std::size_t valid = std::min(utf8::find_invalid(piece), piece.size());
        const auto control_character =
            std::find_if(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(valid),
                         [](char c) { return class_of(c) == control; });
        if (control_character != piece.begin() + static_cast<std::ptrdiff_t>(valid))
            found = text_.begin() + (control_character - piece.begin()) +
                    static_cast<std::ptrdiff_t>(at);
        at += valid;
        if (valid == piece.size()) continue;
        invalid = at;
        break;
    }
    if (found != text_.end()) {
        const auto at = static_cast<std::size_t>(found - text_.begin());
        const std::string code = hex(static_cast<unsigned char>(*found), 4);
        const std::string name = *found == '\0' ? "a NUL byte" : "control character U+" + code;
        return syntax_error(at, at + 1, name + " at byte offset " + std::to_string(at),
                            "write it as \\u" + code + " in a string");
    }
    if (invalid == text_.size()) return std::nullopt;
    const auto byte = static_cast<unsigned char>(text_[invalid]);
    return syntax_error(invalid, invalid + 1,
                        "invalid UTF-8 at byte offset " + std::to_string(invalid) + " (byte 0x" +
                            hex(byte, 2) + ")",
                        "save the source as UTF-8");
}

token lexer::fail(error failure) {
    failure_ = std::move(failure);
    return {token_kind::failure, at_, at_};
}

std::size_t lexer::blank_bytes(std::size_t at) const noexcept {
    switch (class_of(text_[at])) {
    case blank: return 1;
    case beyond_ascii: {
        const utf8::code_point point = utf8::decode(text_, at);
        return utf8::is_space(point.value) ? point.bytes : 0;
    }
    default: return 0;
    }
}

bool lexer::pay_now(std::size_t at) {
    const std::size_t bytes = at - std::exchange(paid_, at);
    if (work_.spend(bytes / 4)) return true;
    failure_ = stopped();
    return false;
}

bool lexer::skip_line_comment() {
    constexpr std::size_t piece = 64 * 1024;
    for (;;) {
        const std::size_t end = text_.substr(at_, piece).find_first_of("\r\n");
        at_ = std::min(at_ + std::min(end, piece), text_.size());
        if (end != std::string_view::npos || at_ == text_.size()) return true;
        if (!pay(at_)) return false;
    }
}

bool lexer::skip_block_comment() {
    const std::size_t begin = at_;
    std::size_t depth = 0;
    while (at_ < text_.size()) {
        if (!pay(at_)) return false;
        const std::string_view rest = text_.substr(at_, 2);
        if (rest == "#|") {
            ++depth;
            at_ += 2;
        } else if (rest == "|#") {
            at_ += 2;
            if (--depth == 0) return true;
        } else {
            ++at_;
        }
    }
    failure_ = incomplete(begin, begin + 2,
                          "unterminated comment: the #| at " + where(begin) + " is never closed",
                          "add |#");
    return false;
}

/// False when a comment is not closed, or the work stops.
bool lexer::skip_blanks() {
    while (at_ < text_.size()) {
        if (!pay(at_)) return false;
        if (const std::size_t bytes = blank_bytes(at_); bytes != 0) {
            at_ += bytes;
        } else if (text_[at_] == ';') {
            if (!skip_line_comment()) return false;
        } else if (text_.substr(at_, 2) == "#|") {
            if (!skip_block_comment()) return false;
        } else {
            break;
        }
    }
    return true;
}

token lexer::next() {
    if (!skip_blanks()) return {token_kind::failure, at_, at_};
    const std::size_t begin = at_;
    if (begin == text_.size()) return {token_kind::end, begin, begin};
    const auto take = [&](token_kind kind, std::size_t bytes) {
        at_ += bytes;
        return token{kind, begin, at_};
    };
    switch (text_[begin]) {
    case '(':
    case '[': return take(token_kind::open, 1);
    case ')':
    case ']': return take(token_kind::close, 1);
    case '\'':
    case '`': return take(token_kind::prefix, 1);
    case ',': return take(token_kind::prefix, text_.substr(begin, 2) == ",@" ? 2 : 1);
    case '"': return read_string();
    case '#':
        if (text_.substr(begin, 2) == "#;") return take(token_kind::drop, 2);
        return read_atom();
    default: return read_atom();
    }
}

token lexer::read_atom() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && at_ - begin <= max_atom_length) {
        const char_class c = class_of(text_[at_]);
        if (c == symbol_char) {
            ++at_;
        } else if (c == beyond_ascii && blank_bytes(at_) == 0) {
            at_ += utf8::decode(text_, at_).bytes;
        } else {
            break;
        }
    }
    if (begin == 0 && text_.starts_with("#!")) {
        return fail(syntax_error(0, at_, "a line with #! means nothing here",
                                 "remove it, and run the file with: heddle run FILE"));
    }
    if (at_ - begin <= max_atom_length) return {token_kind::atom, begin, at_};
    return fail(syntax_error(begin, at_,
                             "the symbol or number at " + where(begin) + " is longer than " +
                                 std::to_string(max_atom_length) + " bytes",
                             "write long text as a string"));
}

/// The place of the quote that closes the string; the end of the text when there is none. Nothing:
/// stop.
std::optional<std::size_t> lexer::end_of_string() {
    std::size_t paid = at_;
    for (std::size_t at = at_; at < text_.size(); ++at) {
        const char c = text_[at];
        if (c == '"') return at;
        if (c == '\\') ++at;
        if (at - paid < bytes_at_once) continue;
        if (!work_.spend((at - std::exchange(paid, at)) / 8)) {
            failure_ = stopped();
            return std::nullopt;
        }
    }
    return text_.size();
}

token lexer::read_string() {
    const std::size_t begin = at_++;
    content_.clear();
    const std::optional<std::size_t> end = end_of_string();
    if (!end) return {token_kind::failure, begin, at_};
    content_.reserve(*end - at_); // it does not grow by long copies
    while (at_ < *end) {
        const std::size_t piece = std::min(bytes_at_once, *end - at_);
        const std::size_t stop = text_.substr(at_, piece).find('\\');
        content_.append(text_, at_, std::min(stop, piece));
        at_ += std::min(stop, piece);
        if (stop != std::string_view::npos) {
            if (at_ + 1 == text_.size()) break;
            if (!read_escape()) return {token_kind::failure, begin, at_};
        }
        if (!pay(at_)) return {token_kind::failure, begin, at_};
    }
    if (*end < text_.size()) {
        ++at_;
        return {token_kind::string, begin, at_};
    }
    return fail(incomplete(begin, begin + 1,
                           "unterminated string: the \" at " + where(begin) + " is never closed",
                           "add \" where it ends"));
}

bool lexer::read_escape() {
    const char c = text_[at_ + 1];
    switch (c) {
    case '"':
    case '\\': content_ += c; break;
    case 'n': content_ += '\n'; break;
    case 't': content_ += '\t'; break;
    case 'r': content_ += '\r'; break;
    case 'u': return read_unicode_escape();
    default: {
        const std::size_t bytes = utf8::decode(text_, at_ + 1).bytes;
        std::string name(text_.substr(at_ + 1, bytes));
        if (name == "\n") name = "(end of line)";
        failure_ = syntax_error(
            at_, at_ + 1 + bytes, "bad escape \\" + name + " in a string",
            R"(the escapes are \" \\ \n \t \r and \uXXXX; a backslash itself is written \\)");
        return false;
    }
    }
    at_ += 2;
    return true;
}

bool lexer::read_unicode_escape() {
    const auto bad = [&](std::size_t bytes, std::string what, std::string hint) {
        const std::size_t end = utf8::prefix_size(text_, std::min(at_ + bytes, text_.size()));
        failure_ = syntax_error(at_, end, std::move(what), std::move(hint));
        return false;
    };
    const auto first = ascii::four_hex_digits(text_, at_ + 2);
    if (!first) {
        return bad(2, "bad escape \\u in a string: four hexadecimal digits must follow",
                   "for example \\u00e9");
    }
    const std::string shown(text_.substr(at_, 6));
    if (!utf8::is_high_surrogate(*first) && !utf8::is_low_surrogate(*first)) {
        utf8::append(content_, *first);
        at_ += 6;
        return true;
    }
    const bool pair_follows = utf8::is_high_surrogate(*first) && text_.substr(at_ + 6, 2) == "\\u";
    const auto second = pair_follows ? ascii::four_hex_digits(text_, at_ + 8) : std::nullopt;
    if (!second || !utf8::is_low_surrogate(*second)) {
        return bad(6, "bad escape " + shown + " in a string: half of a surrogate pair",
                   "write both halves, as in \\ud83e\\uddf5, or the character itself");
    }
    utf8::append(content_, utf8::join_surrogates(*first, *second));
    at_ += 12;
    return true;
}

} // namespace heddle::lang
