#include <heddle/providers/common/json_text.hpp>

#include <algorithm>
#include <bitset>
#include <charconv>
#include <cmath>
#include <cstring>

namespace heddle::providers {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

constexpr std::uint64_t repeat(std::uint8_t byte) noexcept { return 0x0101010101010101ULL * byte; }

constexpr std::uint64_t has_zero(std::uint64_t word) noexcept {
    return (word - repeat(0x01)) & ~word & repeat(0x80);
}

/// True if none of the eight bytes is a control character, a quote, a backslash or not ASCII.
bool all_plain(const char* at) noexcept {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    const std::uint64_t control = (word - repeat(0x20)) & ~word;
    return ((control | word) & repeat(0x80)) == 0 &&
           (has_zero(word ^ repeat('"')) | has_zero(word ^ repeat('\\'))) == 0;
}

bool is_plain(unsigned char byte) noexcept {
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

struct utf8_step {
    std::size_t length; // bytes to go on by, at least 1
    bool good;
};

bool is_tail(std::string_view text, std::size_t at, unsigned char low = 0x80,
             unsigned char high = 0xBF) noexcept {
    return at < text.size() && static_cast<unsigned char>(text[at]) >= low &&
           static_cast<unsigned char>(text[at]) <= high;
}

/// The sequence that begins at `at` with a byte of 0x80 or above (Unicode, table 3-7).
utf8_step take_utf8(std::string_view text, std::size_t at) noexcept {
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead >= 0xC2 && lead <= 0xDF) {
        return is_tail(text, at + 1) ? utf8_step{2, true} : utf8_step{1, false};
    }
    if (lead >= 0xE0 && lead <= 0xEF) {
        const unsigned char low = lead == 0xE0 ? 0xA0 : 0x80;  // no overlong forms
        const unsigned char high = lead == 0xED ? 0x9F : 0xBF; // no surrogates
        if (!is_tail(text, at + 1, low, high)) return {1, false};
        return is_tail(text, at + 2) ? utf8_step{3, true} : utf8_step{2, false};
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        const unsigned char low = lead == 0xF0 ? 0x90 : 0x80;
        const unsigned char high = lead == 0xF4 ? 0x8F : 0xBF; // nothing above U+10FFFF
        if (!is_tail(text, at + 1, low, high)) return {1, false};
        if (!is_tail(text, at + 2)) return {2, false};
        return is_tail(text, at + 3) ? utf8_step{4, true} : utf8_step{3, false};
    }
    return {1, false};
}

void append_escape(std::string& out, unsigned char byte) {
    switch (byte) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    default: break;
    }
    constexpr std::string_view hex = "0123456789abcdef";
    const char escape[] = {'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]};
    out.append(escape, sizeof escape);
}

/// Reads one JSON value without building anything.
class checker {
public:
    checker(std::string_view text, std::size_t max_depth) noexcept
        : at_(text.data()), end_(at_ + text.size()), max_depth_(std::min(max_depth, nesting)) {}

    json_kind check() noexcept {
        skip_blanks();
        const json_kind kind = kind_here();
        if (kind == json_kind::none || !value()) return json_kind::none;
        skip_blanks();
        return at_ == end_ ? kind : json_kind::none;
    }

private:
    static constexpr std::size_t nesting = 1024;

    json_kind kind_here() const noexcept {
        if (at_ == end_) return json_kind::none;
        switch (*at_) {
        case '{': return json_kind::object;
        case '[': return json_kind::array;
        case '"': return json_kind::string;
        case 't':
        case 'f': return json_kind::boolean;
        case 'n': return json_kind::null;
        default: return json_kind::number;
        }
    }

    void skip_blanks() noexcept {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
    }
    bool take(char wanted) noexcept {
        if (at_ == end_ || *at_ != wanted) return false;
        ++at_;
        return true;
    }
    bool take_word(std::string_view word) noexcept {
        if (static_cast<std::size_t>(end_ - at_) < word.size()) return false;
        if (std::memcmp(at_, word.data(), word.size()) != 0) return false;
        at_ += word.size();
        return true;
    }
    bool digits() noexcept {
        const char* begin = at_;
        while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
        return at_ != begin;
    }

    bool number() noexcept {
        take('-');
        if (!take('0') && !digits()) return false;
        if (take('.') && !digits()) return false;
        if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
            ++at_;
            if (!take('+')) take('-');
            return digits();
        }
        return true;
    }

    bool string() noexcept {
        if (!take('"')) return false;
        while (at_ != end_) {
            const auto byte = static_cast<unsigned char>(*at_++);
            if (byte == '"') return true;
            if (byte < 0x20) return false;
            if (byte == '\\' && !escape()) return false;
        }
        return false;
    }
    bool escape() noexcept {
        if (at_ == end_) return false;
        const char kind = *at_++;
        if (kind != 'u') return std::string_view("\"\\/bfnrt").find(kind) != std::string_view::npos;
        if (end_ - at_ < 4) return false;
        for (int i = 0; i < 4; ++i, ++at_) {
            const bool hex = (*at_ >= '0' && *at_ <= '9') || (*at_ >= 'a' && *at_ <= 'f') ||
                             (*at_ >= 'A' && *at_ <= 'F');
            if (!hex) return false;
        }
        return true;
    }

    bool scalar() noexcept {
        switch (kind_here()) {
        case json_kind::string: return string();
        case json_kind::number: return number();
        case json_kind::boolean: return take_word("true") || take_word("false");
        case json_kind::null: return take_word("null");
        default: return false;
        }
    }
    bool key() noexcept {
        if (!string()) return false;
        skip_blanks();
        if (!take(':')) return false;
        skip_blanks();
        return true;
    }

    /// Opens containers until a scalar or an empty one, then closes what ends, and so on.
    bool value() noexcept {
        for (;;) {
            bool opened = false;
            const json_kind kind = kind_here();
            if (kind == json_kind::object || kind == json_kind::array) {
                if (depth_ == max_depth_) return false;
                ++at_;
                is_object_[depth_++] = kind == json_kind::object;
                skip_blanks();
                opened = !(at_ != end_ && *at_ == (kind == json_kind::object ? '}' : ']'));
                if (opened && kind == json_kind::object && !key()) return false;
            } else if (!scalar()) {
                return false;
            }
            if (opened) continue;
            switch (after_value()) {
            case after::more: continue;
            case after::whole: return true;
            case after::wrong: return false;
            }
        }
    }

    enum class after : std::uint8_t { more, whole, wrong };

    after after_value() noexcept {
        while (depth_ != 0) {
            skip_blanks();
            const bool object = is_object_[depth_ - 1];
            if (take(object ? '}' : ']')) {
                --depth_;
                continue;
            }
            if (!take(',')) return after::wrong;
            skip_blanks();
            if (object && !key()) return after::wrong;
            return after::more;
        }
        return after::whole;
    }

    const char* at_;
    const char* end_;
    std::size_t max_depth_;
    std::size_t depth_ = 0;
    std::bitset<nesting> is_object_;
};

} // namespace

void append_json_escaped(std::string& out, std::string_view text) {
    std::size_t run = 0; // where the bytes begin that go out as they are
    std::size_t at = 0;
    const auto flush = [&] { out.append(text.data() + run, at - run); };
    while (at < text.size()) {
        if (at + 8 <= text.size() && all_plain(text.data() + at)) {
            at += 8;
            continue;
        }
        const auto byte = static_cast<unsigned char>(text[at]);
        if (is_plain(byte)) {
            ++at;
        } else if (byte < 0x80) {
            flush();
            append_escape(out, byte);
            run = ++at;
        } else if (const utf8_step step = take_utf8(text, at); step.good) {
            at += step.length;
        } else {
            flush();
            out += replacement;
            run = at += step.length;
        }
    }
    flush();
}

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    append_json_escaped(out, text);
    out += '"';
}

void append_json_number(std::string& out, std::int64_t value) {
    char text[24];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    out.append(text, end);
}

void append_json_number(std::string& out, double value) {
    if (!std::isfinite(value)) {
        out += "null";
        return;
    }
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    out.append(text, end);
}

json_kind check_json(std::string_view text, std::size_t max_depth) noexcept {
    return checker(text, max_depth).check();
}

bool is_utf8(std::string_view text) noexcept {
    for (std::size_t at = 0; at < text.size();) {
        if (static_cast<unsigned char>(text[at]) < 0x80) {
            ++at;
            continue;
        }
        const utf8_step step = take_utf8(text, at);
        if (!step.good) return false;
        at += step.length;
    }
    return true;
}

std::string replace_invalid_utf8(std::string_view text) {
    std::string made;
    made.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const bool ascii = static_cast<unsigned char>(text[at]) < 0x80;
        const utf8_step step = ascii ? utf8_step{1, true} : take_utf8(text, at);
        made += step.good ? text.substr(at, step.length) : replacement;
        at += step.length;
    }
    return made;
}

bool json_memo::is_object(std::string_view text) {
    if (std::find(known_.begin(), known_.end(), text) != known_.end()) return !text.empty();
    if (check_json(text) != json_kind::object || !is_utf8(text)) return false;
    known_[next_] = text;
    next_ = (next_ + 1) % known_.size();
    return true;
}

} // namespace heddle::providers
