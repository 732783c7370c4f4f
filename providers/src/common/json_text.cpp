#include <heddle/providers/common/json_text.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>

#include <algorithm>
#include <bitset>
#include <charconv>
#include <cmath>
#include <cstring>

namespace heddle::providers {

namespace {

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
        while (at_ != end_ && ascii::is_digit(*at_)) ++at_;
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
            if (ascii::hex_value(*at_) < 0) return false;
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

bool json_memo::is_object(std::string_view text) {
    if (std::find(known_.begin(), known_.end(), text) != known_.end()) return !text.empty();
    if (check_json(text) != json_kind::object || !utf8::is_valid(text)) return false;
    known_[next_] = text;
    next_ = (next_ + 1) % known_.size();
    return true;
}

} // namespace heddle::providers
