#include <heddle/lang/json_bridge.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/number_text.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include "lang/text/text_builder.hpp"
#include "lang/value/value_stack.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace heddle::lang {

namespace {

constexpr std::size_t max_number_length = std::size_t{1024} * 1024; ///< bytes

[[nodiscard]] error stopped() { return error::cancelled(cancel_reason::sibling); }

/// An array or object that is open.
struct json_frame {
    bool object = false;
    std::size_t begin = 0;      ///< of the bracket
    std::size_t first_item = 0; ///< where its elements begin on the stack; objects: key, value, …
};

/// Straight from text to values. A tree of another library in between would cost its memory once
/// more, and Boost.JSON of the oldest Boost we support does not give the nearest double.
class json_reading {
public:
    json_reading(heap& memory, std::string_view text, const json_read_options& options)
        : memory_(memory), text_(text), options_(options),
          work_(options.work ? *options.work : free_), items_(memory) {}

    [[nodiscard]] result<value> run();

private:
    using failure = std::optional<error>;

    [[nodiscard]] failure read_value();
    [[nodiscard]] failure read_key();
    [[nodiscard]] failure after_value();
    [[nodiscard]] failure open(bool object);
    [[nodiscard]] failure read_string();
    [[nodiscard]] failure take_string();
    [[nodiscard]] failure read_escape();
    [[nodiscard]] bool keep(std::size_t begin, std::size_t end);
    [[nodiscard]] failure read_number();
    [[nodiscard]] failure read_word(std::string_view word, value meaning);
    [[nodiscard]] std::optional<std::size_t> find_invalid();
    [[nodiscard]] failure check_memory() const;
    [[nodiscard]] failure close();
    [[nodiscard]] value key_of(std::string_view text);

    [[nodiscard]] char peek() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
    void skip_blanks();
    [[nodiscard]] text_place place_of(std::size_t at) const;
    [[nodiscard]] error problem(std::size_t at, const std::string& what) const;
    [[nodiscard]] error expected(const std::string& what) const;

    heap& memory_;
    std::string_view text_;
    const json_read_options& options_;
    free_work free_;
    work_meter& work_;
    std::size_t at_ = 0;
    std::vector<json_frame> frames_;
    value_stack items_;
    std::string scratch_;
    std::string_view content_; ///< of the string read last: in the text, or in scratch_
    std::size_t count_ = 0;
    bool complete_ = false; ///< a value was just completed
    // Rows of a table repeat their keys: most of them are found here and shared.
    std::array<value, 64> keys_;
};

/// As place_of_byte, in turns.
text_place json_reading::place_of(std::size_t at) const {
    constexpr std::size_t piece = 256 * 1024;
    text_place place{1, 1};
    std::size_t line_begin = text_.starts_with(utf8::byte_order_mark) // no column
                                 ? std::min(at, utf8::byte_order_mark.size())
                                 : 0;
    for (std::size_t from = 0; from < at; from += piece) {
        const std::string_view now = text_.substr(from, std::min(piece, at - from));
        if (!work_.spend(now.size() / 64)) return place;
        place.line += static_cast<std::uint32_t>(std::count(now.begin(), now.end(), '\n'));
        const std::size_t last = now.rfind('\n');
        if (last != std::string_view::npos) line_begin = from + last + 1;
    }
    for (std::size_t from = line_begin; from < at; from += piece) {
        const std::string_view now = text_.substr(from, std::min(piece, at - from));
        if (!work_.spend(now.size() / 64)) return place;
        place.column += static_cast<std::uint32_t>(utf8::count(now));
    }
    return place;
}

error json_reading::problem(std::size_t at, const std::string& what) const {
    const text_place place = place_of(at);
    return {heddle::errc::invalid_argument, "line " + std::to_string(place.line) + ", column " +
                                                std::to_string(place.column) + ": " + what};
}

error json_reading::expected(const std::string& what) const {
    if (at_ >= text_.size()) return problem(at_, "expected " + what + " but the text ends");
    const utf8::code_point point = utf8::decode(text_, at_);
    std::string found = "'" + std::string(text_.substr(at_, point.bytes)) + "'";
    if (utf8::is_control(point.value)) found = "a control character";
    return problem(at_, "expected " + what + " but found " + found);
}

/// Not all of them when the work stops: no value follows then.
void json_reading::skip_blanks() {
    for (std::size_t count = 1; at_ < text_.size() && ascii::is_blank(text_[at_]); ++count) {
        ++at_;
        if (count % 4096 == 0 && !work_.spend(512)) return;
    }
}

json_reading::failure json_reading::check_memory() const {
    if (memory_.can_allocate(scratch_.capacity())) return std::nullopt;
    return error(errc::limit, "the JSON text needs more than the memory limit of " +
                                  std::to_string(memory_.limit_asked()) + " bytes");
}

/// The first byte that is not UTF-8, or npos. Nothing: stop.
std::optional<std::size_t> json_reading::find_invalid() {
    constexpr std::size_t piece = 256 * 1024;
    if (options_.is_valid_text) return std::string_view::npos;
    for (std::size_t at = 0; at < text_.size();) {
        std::string_view now = text_.substr(at, piece);
        if (at + now.size() != text_.size()) now.remove_suffix(utf8::incomplete_end(now));
        if (!work_.spend(now.size() / 64)) return std::nullopt;
        if (const std::size_t found = utf8::find_invalid(now); found != std::string_view::npos)
            return at + found;
        at += now.size();
    }
    return std::string_view::npos;
}

result<value> json_reading::run() {
    if (text_.size() > options_.max_bytes || text_.size() > value::max_length) {
        return error(heddle::errc::limit_exceeded,
                     "a JSON text of " + std::to_string(text_.size()) +
                         " bytes is over the limit of " + std::to_string(options_.max_bytes));
    }
    const auto invalid = find_invalid();
    if (!invalid) return stopped();
    if (*invalid != std::string_view::npos) {
        return error(heddle::errc::invalid_argument,
                     "invalid UTF-8 at byte offset " + std::to_string(*invalid));
    }
    if (text_.starts_with(utf8::byte_order_mark)) at_ = utf8::byte_order_mark.size();
    do {
        skip_blanks();
        if (failure failed = complete_ ? after_value() : read_value()) return *std::move(failed);
        if (!work_.spend(2)) return stopped();
        if (++count_ % 4096 != 0) continue;
        if (failure failed = check_memory()) return *std::move(failed);
    } while (!complete_ || !frames_.empty());
    skip_blanks();
    if (at_ != text_.size()) return expected("the end of the text");
    return items_.pop();
}

json_reading::failure json_reading::read_value() {
    switch (peek()) {
    case '{': return open(true);
    case '[': return open(false);
    case '"':
        if (failure failed = read_string()) return failed;
        return take_string();
    case 't': return read_word("true", value::boolean(true));
    case 'f': return read_word("false", value::boolean(false));
    case 'n': return read_word("null", {});
    default: break;
    }
    if (peek() == '-' || ascii::is_digit(peek())) return read_number();
    return expected("a value");
}

/// The string that was read is an element.
json_reading::failure json_reading::take_string() {
    auto result = make_long_string(memory_, content_, work_);
    if (!result || !work_.spend_bytes(content_.size())) return stopped();
    items_.push(*std::move(result));
    complete_ = true;
    return std::nullopt;
}

json_reading::failure json_reading::open(bool object) {
    if (frames_.size() >= options_.max_depth) {
        return error(
            heddle::errc::limit_exceeded,
            problem(at_, "nested deeper than " + std::to_string(options_.max_depth) + " levels")
                .message());
    }
    frames_.push_back({object, at_, items_.size()});
    ++at_;
    skip_blanks();
    if (peek() == (object ? '}' : ']')) {
        ++at_;
        return close();
    }
    return object ? read_key() : std::nullopt;
}

/// A key and its colon.
json_reading::failure json_reading::read_key() {
    skip_blanks();
    if (peek() != '"') return expected("a key in double quotes");
    if (failure failed = read_string()) return failed;
    items_.push(key_of(content_));
    skip_blanks();
    if (peek() != ':') return expected(": after a key");
    ++at_;
    return std::nullopt;
}

json_reading::failure json_reading::after_value() {
    const bool object = frames_.back().object;
    if (peek() == ',') {
        ++at_;
        complete_ = false;
        return object ? read_key() : std::nullopt;
    }
    if (peek() != (object ? '}' : ']')) {
        const text_place place = place_of(frames_.back().begin);
        return expected(std::string(object ? ", or }" : ", or ]") + " (opened at line " +
                        std::to_string(place.line) + ", column " + std::to_string(place.column) +
                        ")");
    }
    ++at_;
    return close();
}

/// Puts the array or object together out of what lies on the stack.
json_reading::failure json_reading::close() {
    const json_frame frame = frames_.back();
    frames_.pop_back();
    const std::size_t count = items_.size() - frame.first_item;
    value result;
    if (frame.object) {
        result = make_map_with_capacity(memory_, count / 2);
        for (std::size_t i = frame.first_item; i < items_.size(); i += 2) {
            if (!work_.spend(4)) return stopped();
            result =
                map_put(memory_, std::move(result), std::move(items_[i]), std::move(items_[i + 1]));
        }
    } else {
        result = count == 0 ? value::empty_list() : make_list_with_room(memory_, {count, count});
    }
    for (std::size_t left = count; left != 0; --left) {
        if (left % 1024 == 0 && !work_.spend(512)) return stopped();
        value last = items_.pop();
        if (!frame.object) result = list_push_front(memory_, std::move(last), std::move(result));
    }
    items_.push(std::move(result));
    complete_ = true;
    return std::nullopt;
}

value json_reading::key_of(std::string_view text) {
    value& slot = keys_[hash_text(memory_.hash_seed(), text) % keys_.size()];
    if (!slot.is(kind::string) || string_bytes(slot) != text)
        slot = make_valid_string(memory_, text);
    return slot;
}

/// Leaves the content of a string in content_.
json_reading::failure json_reading::read_string() {
    const std::size_t begin = at_++;
    std::size_t plain = at_;
    bool escaped = false;
    scratch_.clear();
    for (;;) {
        if (at_ == text_.size()) {
            return problem(begin, "the string that begins here is never closed");
        }
        const char c = text_[at_];
        if (c == '"') break;
        if (static_cast<unsigned char>(c) < 0x20) {
            return problem(at_, "a control character in a string must be written as an escape");
        }
        if (c != '\\') {
            if ((++at_ - begin) % 4096 == 0 && !work_.spend(1024)) return stopped();
            continue;
        }
        if (!work_.spend(1)) return stopped();
        escaped = true;
        if (!keep(plain, at_)) return stopped();
        if (failure failed = read_escape()) return failed;
        plain = at_;
    }
    content_ = text_.substr(plain, at_ - plain);
    if (escaped) {
        if (!keep(plain, at_)) return stopped();
        content_ = scratch_;
    }
    ++at_;
    return std::nullopt;
}

/// Adds a part of the text to the content of a string. False: stop.
bool json_reading::keep(std::size_t begin, std::size_t end) {
    constexpr std::size_t piece = 64 * 1024;
    // What is long does not grow by copies.
    if (scratch_.size() + (end - begin) > piece) scratch_.reserve(text_.size());
    for (; end - begin > piece; begin += piece) {
        scratch_.append(text_, begin, piece);
        if (!work_.spend_bytes(piece)) return false;
    }
    scratch_.append(text_, begin, end - begin);
    return true;
}

json_reading::failure json_reading::read_escape() {
    const std::size_t begin = at_;
    const char c = begin + 1 < text_.size() ? text_[begin + 1] : '\0';
    at_ += 2;
    switch (c) {
    case '"':
    case '\\':
    case '/': scratch_ += c; return std::nullopt;
    case 'b': scratch_ += '\b'; return std::nullopt;
    case 'f': scratch_ += '\f'; return std::nullopt;
    case 'n': scratch_ += '\n'; return std::nullopt;
    case 'r': scratch_ += '\r'; return std::nullopt;
    case 't': scratch_ += '\t'; return std::nullopt;
    case 'u': break;
    default: return problem(begin, "a backslash in a string must begin an escape such as \\n");
    }
    const auto first = ascii::four_hex_digits(text_, at_);
    if (!first) return problem(begin, "expected four hexadecimal digits after \\u");
    at_ += 4;
    if (!utf8::is_high_surrogate(*first) && !utf8::is_low_surrogate(*first)) {
        utf8::append(scratch_, *first);
        return std::nullopt;
    }
    const bool pair_follows = utf8::is_high_surrogate(*first) && text_.substr(at_, 2) == "\\u";
    const auto second = pair_follows ? ascii::four_hex_digits(text_, at_ + 2) : std::nullopt;
    if (!second || !utf8::is_low_surrogate(*second)) {
        return problem(begin, "half of a surrogate pair");
    }
    utf8::append(scratch_, utf8::join_surrogates(*first, *second));
    at_ += 6;
    return std::nullopt;
}

json_reading::failure json_reading::read_number() {
    const std::size_t begin = at_;
    const auto digits = [&] {
        const std::size_t first = at_;
        while (ascii::is_digit(peek()) && at_ - begin <= max_number_length) ++at_;
        return at_ - first;
    };
    if (peek() == '-') ++at_;
    const bool zero = peek() == '0';
    const std::size_t whole = digits();
    if (whole == 0) return expected("a digit");
    if (zero && whole > 1) return problem(begin, "a number must not begin with 0");
    bool integer = true;
    if (peek() == '.') {
        integer = false;
        ++at_;
        if (digits() == 0) return expected("a digit after the point");
    }
    if (peek() == 'e' || peek() == 'E') {
        integer = false;
        ++at_;
        if (peek() == '+' || peek() == '-') ++at_;
        if (digits() == 0) return expected("a digit in the exponent");
    }
    const std::string_view number = text_.substr(begin, at_ - begin);
    if (number.size() > max_number_length)
        return problem(begin,
                       "a number of more than " + std::to_string(max_number_length) + " bytes");
    complete_ = true;
    if (integer) {
        std::int64_t exact = 0;
        const auto [end, ec] = std::from_chars(number.data(), number.data() + number.size(), exact);
        if (ec == std::errc()) {
            items_.push(value::integer(exact));
            return std::nullopt;
        }
    }
    const double nearest = parse_decimal(number);
    if (std::isinf(nearest)) return problem(begin, "the number is too large");
    items_.push(value::real(nearest));
    return std::nullopt;
}

json_reading::failure json_reading::read_word(std::string_view word, value meaning) {
    if (text_.substr(at_, word.size()) != word) return expected("a value");
    at_ += word.size();
    items_.push(std::move(meaning));
    complete_ = true;
    return std::nullopt;
}

} // namespace

result<value> json_to_value(heap& memory, std::string_view text, const json_read_options& options) {
    return json_reading(memory, text, options).run();
}

} // namespace heddle::lang
