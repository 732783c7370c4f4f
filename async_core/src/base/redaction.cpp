#include <heddle/base/redaction.hpp>

#include <heddle/base/ascii.hpp>

#include <algorithm>
#include <optional>

namespace heddle {

namespace {

/// Of secrets that are longer than this one, and shorter than that one, parts are looked for as
/// well.
constexpr std::size_t min_in_parts = 12;
constexpr std::size_t max_in_parts = 512;

/// Whether these hexadecimal digits are the number of a character.
bool names(std::string_view digits, char wanted) noexcept {
    int value = 0;
    for (const char c : digits) {
        const int digit = ascii::hex_value(c);
        if (digit < 0) return false;
        value = value * 16 + digit;
    }
    return value == static_cast<unsigned char>(wanted);
}

/// The pair of digits that makes a percent sign out of one.
constexpr std::string_view percent_digits = "25";

/// The end of the escape of `wanted` that begins with the percent sign at `at`, encoded once or
/// again and again: %2F, %252F, %25252F. `at`: there is none.
std::size_t behind_percent(std::string_view text, std::size_t at, char wanted) noexcept {
    for (std::size_t digits = at + 1; digits + 2 <= text.size(); digits += 2) {
        if (names(text.substr(digits, 2), wanted)) return digits + 2;
        if (text.substr(digits, 2) != percent_digits) break;
    }
    return at;
}

/// The same backwards, from the end of the escape to its beginning. `end`: there is none.
std::size_t before_percent(std::string_view text, std::size_t end, char wanted) noexcept {
    if (end < 3 || !names(text.substr(end - 2, 2), wanted)) return end;
    for (std::size_t digits = end - 2; digits >= 1; digits -= 2) {
        if (text[digits - 1] == '%') return digits - 1;
        if (digits < 3 || text.substr(digits - 2, 2) != percent_digits) break;
    }
    return end;
}

constexpr std::size_t max_reference = 10; ///< bytes of &#x000073;

/// The end of the character reference at `at`, &#115; or &#x73;. `at`: there is none.
std::size_t behind_reference(std::string_view text, std::size_t at, char wanted) noexcept {
    const std::string_view reference = text.substr(at, max_reference);
    if (!reference.starts_with("&#")) return at;
    std::size_t next = 2;
    const bool hexadecimal = reference.size() > 2 && (reference[2] == 'x' || reference[2] == 'X');
    if (hexadecimal) ++next;
    const std::size_t end = reference.find(';', next);
    if (end == std::string_view::npos || end == next) return at;
    const int base = hexadecimal ? 16 : 10;
    int value = 0;
    for (; next < end; ++next) {
        const int digit = ascii::hex_value(reference[next]);
        if (digit < 0 || digit >= base) return at;
        value = value * base + digit;
        if (value > 0xFF) return at;
    }
    return value == static_cast<unsigned char>(wanted) ? at + end + 1 : at;
}

std::size_t behind_escape(std::string_view text, std::size_t at, char wanted) noexcept {
    if (text[at] == '%') return behind_percent(text, at, wanted);
    if (text[at] == '&') return behind_reference(text, at, wanted);
    return at;
}

/// behind_reference() backwards.
std::size_t before_reference(std::string_view text, std::size_t end, char wanted) noexcept {
    if (end == 0 || text[end - 1] != ';') return end;
    const std::size_t least = end - std::min(end, max_reference);
    const std::size_t begin = text.substr(least, end - least).rfind("&#");
    if (begin == std::string_view::npos) return end;
    return behind_reference(text, least + begin, wanted) == end ? least + begin : end;
}

/// \u0073 and \x73: the digits after the letter.
std::size_t number_digits(char letter) noexcept {
    return letter == 'u' ? 4 : letter == 'x' ? 2 : 0;
}

/// One character of a text, with the escapes that belong to it.
struct written {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// The places behind and before all backslashes at one, however they are written: they are escapes,
/// for all we know.
std::size_t behind_backslashes(std::string_view text, std::size_t at) noexcept {
    for (const std::size_t begin = at; at < text.size();) {
        const bool escaped = at > begin && text[at - 1] == '\\';
        const std::size_t digits = escaped ? number_digits(text[at]) : 0;
        if (text[at] == '\\') {
            ++at;
        } else if (digits != 0 && at + 1 + digits <= text.size() &&
                   names(text.substr(at + 1, digits), '\\')) {
            at += 1 + digits;
        } else {
            const std::size_t next = behind_escape(text, at, '\\');
            if (next == at) break;
            at = next;
        }
    }
    return at;
}

std::size_t before_backslashes(std::string_view text, std::size_t at) noexcept {
    for (;;) {
        if (at >= 1 && text[at - 1] == '\\') --at;
        else if (at >= 6 && text[at - 6] == '\\' && text[at - 5] == 'u' &&
                 names(text.substr(at - 4, 4), '\\'))
            at -= 6;
        else if (at >= 4 && text[at - 4] == '\\' && text[at - 3] == 'x' &&
                 names(text.substr(at - 2, 2), '\\'))
            at -= 4;
        else if (const std::size_t percent = before_percent(text, at, '\\'); percent != at)
            at = percent;
        else if (const std::size_t reference = before_reference(text, at, '\\'); reference != at)
            at = reference;
        else return at;
    }
}

/// Of a percent sign that might be either: itself, or the beginning of an escape of one.
enum class percent_sign : bool { itself, escape };

/// Whether a character is written at a place, in whatever way: any number of backslashes before it,
/// \u0022, \x22, %22 (or %2522 …), &#34;, or &#x22;.
std::optional<written> read_forward(std::string_view text, std::size_t at, char wanted,
                                    percent_sign first) noexcept {
    const std::size_t begin = behind_backslashes(text, at);
    if (begin >= text.size()) return std::nullopt;
    const bool escaped = begin > at && text[begin - 1] == '\\';
    const std::size_t digits = escaped ? number_digits(text[begin]) : 0;
    if (digits != 0 && begin + 1 + digits <= text.size() &&
        names(text.substr(begin + 1, digits), wanted))
        return written{at, begin + 1 + digits};
    const bool itself = text[begin] == wanted;
    if (itself && (wanted != '%' || first == percent_sign::itself)) return written{at, begin + 1};
    const std::size_t next = behind_escape(text, begin, wanted);
    if (next != begin) return written{at, next};
    return itself ? std::optional(written{at, begin + 1}) : std::nullopt;
}

/// The same for the character that ends at a place.
std::optional<written> read_backward(std::string_view text, std::size_t end, char wanted) noexcept {
    const auto with_backslashes = [&](std::size_t begin) {
        return written{before_backslashes(text, begin), end};
    };
    const bool escape = end >= 6 && text[end - 5] == 'u' && text[end - 6] == '\\';
    if (escape && names(text.substr(end - 4, 4), wanted)) return with_backslashes(end - 5);
    const bool short_escape = end >= 4 && text[end - 3] == 'x' && text[end - 4] == '\\';
    if (short_escape && names(text.substr(end - 2, 2), wanted)) return with_backslashes(end - 3);
    const std::size_t percent = before_percent(text, end, wanted);
    if (percent != end) return with_backslashes(percent);
    const std::size_t reference = before_reference(text, end, wanted);
    if (reference != end) return with_backslashes(reference);
    if (end >= 1 && text[end - 1] == wanted) return with_backslashes(end - 1);
    return std::nullopt;
}

/// The most of `value` that is written around a place where all from `from` to `to` of it is.
class match {
public:
    match(std::string_view text, std::string_view value, std::size_t floor, percent_sign first)
        : text_(text), value_(value), floor_(floor), percent_(first) {}

    /// From `from` of the value on, at a place. False: less than up to `to` is there.
    [[nodiscard]] bool begin(std::size_t at, std::size_t from, std::size_t to) noexcept {
        place_ = {at, at};
        first_ = last_ = from;
        extend_right();
        if (last_ < to) return false;
        extend_left();
        return true;
    }
    [[nodiscard]] std::size_t count() const noexcept { return last_ - first_; }
    [[nodiscard]] const written& place() const noexcept { return place_; }

private:
    void extend_right() noexcept {
        while (last_ < value_.size()) {
            const auto next = read_forward(text_, place_.end, value_[last_], percent_);
            if (!next) return;
            place_.end = next->end;
            ++last_;
        }
    }
    void extend_left() noexcept {
        while (first_ > 0) {
            const auto next = read_backward(text_, place_.begin, value_[first_ - 1]);
            if (!next || next->begin < floor_) return;
            place_.begin = next->begin;
            --first_;
        }
    }

    std::string_view text_;
    std::string_view value_;
    std::size_t floor_; // what is before it has been dealt with
    percent_sign percent_;
    written place_;
    std::size_t first_ = 0;
    std::size_t last_ = 0;
};

/// The result of matching a secret at one position of a text.
struct trial {
    std::size_t count = 0; ///< characters of the value
    std::size_t end = 0;   ///< where it parts from the value
    bool open = false;     ///< the text ends before that is known
};

/// Whether `text`, from an ampersand on, may become a character reference.
bool is_open_reference(std::string_view text) noexcept {
    if (text.size() >= max_reference) return false;
    if (text.size() == 1) return true;
    if (text[1] != '#') return false;
    const std::string_view digits = text.substr(2);
    return std::all_of(digits.begin(), digits.end(),
                       [](char c) { return c == 'x' || c == 'X' || ascii::hex_value(c) >= 0; });
}

/// Whether an escape begins at `at` and the text ends inside of it.
bool is_open_escape(std::string_view text, std::size_t at) noexcept {
    const std::size_t begin = behind_backslashes(text, at);
    if (begin >= text.size()) return true;
    const bool escaped = begin > at && text[begin - 1] == '\\';
    const std::size_t digits = escaped ? number_digits(text[begin]) : 0;
    if (digits != 0 && text.size() - begin < 1 + digits) return true;
    if (text[begin] == '&') return is_open_reference(text.substr(begin));
    if (text[begin] != '%') return false;
    std::size_t pair = begin + 1;
    while (text.substr(pair, 2) == percent_digits) pair += 2;
    return text.size() - pair < 2;
}

trial try_value(std::string_view text, std::size_t at, std::string_view value,
                percent_sign first) noexcept {
    trial result{0, at, false};
    while (result.end < text.size() && result.count < value.size()) {
        // A letter that also begins an escape by number is not known to be itself yet.
        const bool either =
            first == percent_sign::escape || number_digits(value[result.count]) != 0;
        if (either && is_open_escape(text, result.end)) {
            result.open = true;
            return result;
        }
        const auto next = read_forward(text, result.end, value[result.count], first);
        if (!next) {
            result.open = is_open_escape(text, result.end);
            return result;
        }
        result.end = next->end;
        ++result.count;
    }
    result.open = result.count < value.size();
    return result;
}

std::array<bool, 256> letters_of(std::string_view value) noexcept {
    std::array<bool, 256> bools{};
    for (const char c : value) bools[static_cast<unsigned char>(c)] = true;
    for (const char c : std::string_view("\\%&#;uxX0123456789abcdefABCDEF"))
        bools[static_cast<unsigned char>(c)] = true;
    return bools;
}

/// Whether text may hold `value` without meaning the secret.
bool is_word(std::string_view value) noexcept {
    bool upper = false;
    bool lower = false;
    for (const char c : value) {
        if (!ascii::is_letter(c) && c != '-' && c != '_') return false;
        upper = upper || ascii::is_upper(c);
        lower = lower || (ascii::is_letter(c) && !ascii::is_upper(c));
    }
    return !(upper && lower);
}

std::string without_backslashes(std::string_view value) {
    std::string text(value);
    std::erase(text, '\\'); // which are escapes for all we know
    return text;
}

/// Where a character may be written next.
std::size_t next_place(std::string_view text, std::size_t from, char wanted) noexcept {
    for (; from < text.size(); ++from) {
        const char c = text[from];
        if (c == wanted || c == '\\' || c == '%' || c == '&') return from;
    }
    return std::string_view::npos;
}

} // namespace

redactor::redactor(std::vector<secret> secrets, std::string_view mark, std::size_t min_length)
    : mark_(mark) {
    const std::size_t least = std::max<std::size_t>(min_length, 1);
    for (const secret& each : secrets) {
        const std::string_view said = each.reveal();
        if (said.size() < least) continue;
        if (least >= usual_min_length && said.size() <= max_word_length && is_word(said)) continue;
        wanted result{secret(without_backslashes(each.reveal())), 0, {}};
        const std::size_t size = result.value.reveal().size();
        if (size == 0) continue;
        const bool whole = size < min_in_parts || size > max_in_parts;
        result.least = whole ? size : (3 * size + 3) / 4;
        result.letters = letters_of(result.value.reveal());
        secrets_.push_back(std::move(result));
    }
    std::stable_sort(secrets_.begin(), secrets_.end(), [](const wanted& one, const wanted& other) {
        return one.value.reveal().size() > other.value.reveal().size();
    });
}

bool redactor::hide_one(std::string& text, const wanted& one, const std::string& mark) {
    const std::string_view value = one.value.reveal();
    // Whatever part of it is long enough holds all from here to there.
    const std::size_t from = value.size() - one.least;
    const std::size_t to = one.least;
    const std::string_view middle = value.substr(from, to - from);
    const bool percents = value.find('%') != std::string_view::npos;
    const bool plain = text.find('\\') == std::string::npos &&
                       text.find('%') == std::string::npos && text.find("&#") == std::string::npos;
    const auto next = [&](std::size_t begin) {
        return plain ? text.find(middle, begin) : next_place(text, begin, middle.front());
    };
    std::string out;
    std::size_t done = 0;
    std::size_t at = 0;
    while ((at = next(at)) != std::string::npos) {
        match found(text, value, done, percent_sign::itself);
        match escaped(text, value, done, percent_sign::escape);
        const bool here = found.begin(at, from, to);
        if (percents && escaped.begin(at, from, to) && escaped.count() > found.count()) {
            found = escaped;
        } else if (!here) {
            at = std::max(at + 1, behind_backslashes(text, at)); // all of them failed
            continue;
        }
        if (found.count() < one.least) {
            at = std::max(at + 1, behind_backslashes(text, at)); // all of them failed
            continue;
        }
        // Built anew: replacing in place would move the rest for every hit.
        out.append(text, done, found.place().begin - done).append(mark);
        at = done = found.place().end;
    }
    if (done == 0) return false;
    out.append(text, done);
    text = std::move(out);
    return true;
}

bool redactor::hide(std::string& text) const {
    bool found = false;
    for (const wanted& each : secrets_) found = hide_one(text, each, mark_) || found;
    return found;
}

std::size_t redactor::undecided(std::string_view text, const wanted& one) {
    // In the longest escapes of numbers; more is no way of writing that anybody uses.
    constexpr std::size_t bytes_of_character = max_reference;
    const std::string_view value = one.value.reveal();
    const std::size_t most = bytes_of_character * value.size();
    std::size_t at = text.size();
    while (at > 0 && text.size() - at < most &&
           one.letters[static_cast<unsigned char>(text[at - 1])])
        --at;
    const bool percents = value.find('%') != std::string_view::npos;
    while (at < text.size()) {
        std::size_t next = at + 1;
        for (std::size_t from = 0; from + one.least <= value.size(); ++from) {
            trial tried = try_value(text, at, value.substr(from), percent_sign::itself);
            if (percents && !tried.open) {
                const trial escaped = try_value(text, at, value.substr(from), percent_sign::escape);
                if (escaped.open || escaped.count > tried.count) tried = escaped;
            }
            if (tried.open) return text.size() - at;
            // Another one may begin behind it, but not inside of it.
            if (tried.count >= one.least) next = std::max(next, tried.end);
        }
        at = next;
    }
    return 0;
}

std::size_t redactor::undecided(std::string_view text) const {
    std::size_t most = 0;
    for (const wanted& each : secrets_) most = std::max(most, undecided(text, each));
    return most;
}

std::string redactor::hidden(std::string_view text) const {
    std::string out(text);
    hide(out);
    return out;
}

} // namespace heddle
