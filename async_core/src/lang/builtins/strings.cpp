#include <heddle/lang/builtin.hpp>

#include <heddle/base/utf8.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include "lang/builtins/format.hpp"
#include "lang/builtins/support.hpp"
#include "lang/reader/lexer.hpp"
#include "lang/text/given_back.hpp"
#include "lang/text/letter_case.hpp"
#include "lang/text/number_text.hpp"
#include "lang/text/text_builder.hpp"
#include "lang/text/text_search.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace heddle::lang {

namespace {

using arguments_span = std::span<value>;

[[nodiscard]] bool all_strings(native_call& call, arguments_span arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!string_argument(call, arguments, i)) return false;
    }
    return true;
}

/// True when each neighbouring pair is accepted.
template <class Accept>
[[nodiscard]] value chain(native_call& call, arguments_span arguments, Accept accept) {
    if (!all_strings(call, arguments)) return {};
    bool holds = true;
    for (std::size_t i = 1; i < arguments.size() && holds; ++i) {
        const auto order =
            compare_texts(call, string_bytes(arguments[i - 1]), string_bytes(arguments[i]));
        if (!order || !call.spend(1)) return {};
        holds = accept(*order);
    }
    return value::boolean(holds);
}

value equal(native_call& call, arguments_span a) {
    return chain(call, a, [](std::strong_ordering order) { return order == 0; });
}
value less(native_call& call, arguments_span a) {
    return chain(call, a, [](std::strong_ordering order) { return order < 0; });
}

/// The parts from `from` on, as string-append writes them. False: an error, or stop.
[[nodiscard]] bool append_parts(native_call& call, arguments_span parts, std::size_t from,
                                text_builder& out) {
    for (std::size_t i = from; i < parts.size(); ++i) {
        const value& part = parts[i];
        if (part.is(kind::string)) {
            if (!reserve_text(call, out.size() + part.length()) || !out.append(string_bytes(part)))
                return false;
        } else if (!append_plain(out.tail(), part)) {
            static_cast<void>(
                call.fail_type(i + 1, "a string, number, symbol, boolean or nil", part));
            return false;
        } else if (!out.settle()) {
            return false;
        }
    }
    return true;
}

/// left + right in new storage, with room for as much again.
[[nodiscard]] value grown_string(native_call& call, const value& left, std::string_view right) {
    constexpr std::size_t piece = 64 * 1024;
    const std::size_t length = left.length() + right.size();
    if (!call.expect(length / work_meter::bytes_of_a_unit)) return {};
    value grown = make_string_with_capacity(call.memory(),
                                            std::min<std::size_t>(length * 2, value::max_length));
    for (std::string_view part : {string_bytes(left), right}) {
        while (!part.empty()) {
            const std::string_view now = utf8::prefix(part, piece);
            if (!call.spend_bytes(now.size())) return {};
            grown = string_concat(call.memory(), std::move(grown), now);
            part.remove_prefix(now.size());
        }
    }
    return grown;
}

/// `left` with `right` behind it, in room at the end of its storage if it owns some.
value appended(native_call& call, value left, std::string_view right) {
    constexpr std::size_t short_text = 64 * 1024;
    const std::size_t length = left.length() + right.size();
    if (length >= value::max_length) return refuse_text(call, length);
    if (!call.reserve(right.size() * 2)) return {};
    const bool grows = string_grows_in_place(left, right.size());
    if (length > short_text && (right.size() > short_text || !grows))
        return grown_string(call, left, right);
    if (!grows && !call.spend_bytes(left.length())) return {};
    return string_concat(call.memory(), std::move(left), right);
}

value append(native_call& call, arguments_span a) {
    if (a.empty()) return value::empty_string();
    // The first string may own room at the end of its storage: a loop that appends is linear.
    const bool grows = a[0].is(kind::string);
    if (grows && a.size() == 2 && a[0].length() != 0 && a[1].is(kind::string)) {
        const std::string_view right = string_bytes(a[1]);
        if (!call.spend_bytes(right.size())) return {};
        return appended(call, a[0], right);
    }
    text_builder rest(call.work());
    if (!append_parts(call, a, grows ? 1 : 0, rest)) return {};
    auto text = std::move(rest).text();
    if (!text) return {};
    value whole = appended(call, grows ? a[0] : value::empty_string(), *text);
    give_back_pages_of(*text, call.work());
    return whole;
}

value length(native_call& call, arguments_span a) {
    if (!all_strings(call, a)) return {};
    const auto count = length_of_text(call, a[0]);
    return count ? value::integer(static_cast<std::int64_t>(*count)) : value();
}

value substring(native_call& call, arguments_span a) {
    if (!string_argument(call, a, 0)) return {};
    const auto length = length_of_text(call, a[0]);
    if (!length) return {};
    const auto part = bounds_arguments(call, a, 1, *length, "string");
    if (!part || part->from >= part->to) return part ? value::empty_string() : value();
    const std::string_view text = string_bytes(a[0]);
    if (*length == text.size()) return string_window(a[0], part->from, part->to);
    const auto begin = byte_of_code_point(call, text, part->from);
    if (!begin) return {};
    const auto bytes = byte_of_code_point(call, text.substr(*begin), part->to - part->from);
    return bytes ? string_window(a[0], *begin, *begin + *bytes) : value();
}

[[nodiscard]] value with_case(native_call& call, arguments_span arguments,
                              char32_t (*changed)(char32_t) noexcept) {
    const auto text = string_argument(call, arguments, 0);
    if (!text || !call.reserve(text->size() * 2) || !call.expect(text->size())) return {};
    text_builder out(call.work());
    for (std::size_t at = 0, seen = 0; at < text->size(); ++seen) {
        const utf8::code_point point = utf8::decode(*text, at);
        utf8::append(out.tail(), changed(point.value));
        at += point.bytes;
        if (seen % 1024 == 1023 && (!call.spend(1024) || !out.settle())) return {};
    }
    return made_text(call, std::move(out));
}
value upcase(native_call& call, arguments_span a) { return with_case(call, a, upper_case); }
value downcase(native_call& call, arguments_span a) { return with_case(call, a, lower_case); }

/// Bytes of the white space that begins at `at`, 0 when there is none.
[[nodiscard]] std::size_t space_at(std::string_view text, std::size_t at) noexcept {
    const utf8::code_point point = utf8::decode(text, at);
    return utf8::is_space(point.value) ? point.bytes : 0;
}

struct byte_range {
    std::size_t begin;
    std::size_t end;
};

/// Nothing: stop.
[[nodiscard]] std::optional<byte_range> without_outer_space(native_call& call,
                                                            std::string_view text) {
    byte_range range{0, text.size()};
    while (range.begin < range.end) {
        if (!call.spend(1)) return std::nullopt;
        const std::size_t bytes = space_at(text, range.begin);
        if (bytes == 0) break;
        range.begin += bytes;
    }
    while (range.end > range.begin) {
        std::size_t last = range.end - 1;
        while (utf8::is_continuation(text[last])) --last;
        if (space_at(text, last) == 0) break;
        if (!call.spend(1)) return std::nullopt;
        range.end = last;
    }
    return range;
}

value trim(native_call& call, arguments_span a) {
    const auto text = string_argument(call, a, 0);
    if (!text) return {};
    const auto range = without_outer_space(call, *text);
    return range ? string_window(a[0], range->begin, range->end) : value();
}

[[nodiscard]] value split_at_space(native_call& call, const value& string) {
    const std::string_view text = string_bytes(string);
    value parts = value::empty_list();
    std::size_t begin = 0;
    for (std::size_t at = 0; at <= text.size();) {
        if (!call.spend(1)) return {};
        const std::size_t bytes = at == text.size() ? 1 : space_at(text, at);
        if (bytes == 0) {
            at += utf8::decode(text, at).bytes;
            continue;
        }
        if (at > begin && !append_element(call, parts, string_window(string, begin, at))) return {};
        at += bytes;
        begin = at;
    }
    return parts;
}

value split(native_call& call, arguments_span a) {
    if (!all_strings(call, a)) return {};
    const std::string_view text = string_bytes(a[0]);
    if (a.size() == 1) {
        if (!reserve_elements(call, text.size() / 2)) return {};
        return split_at_space(call, a[0]);
    }
    const std::string_view separator = string_bytes(a[1]);
    text_search search(separator, call.work());
    // Without a separator: the characters.
    const auto next = [&](std::size_t from) -> std::optional<std::size_t> {
        if (!call.spend(1)) return std::nullopt;
        if (!separator.empty()) return search.find(text, from);
        const std::size_t after = from + utf8::decode(text, from).bytes;
        return after >= text.size() ? std::string_view::npos : after;
    };
    if (separator.empty() && text.empty()) return value::empty_list();
    if (!call.expect(text.size() / work_meter::bytes_of_a_unit)) return {};
    std::size_t count = 1;
    for (std::size_t at = 0;; ++count) {
        const auto found = next(at);
        if (!found) return {};
        if (*found == std::string_view::npos) break;
        at = *found + separator.size();
    }
    if (!reserve_elements(call, count)) return {};
    value parts = make_list_with_capacity(call.memory(), count);
    for (std::size_t begin = 0;;) {
        const auto found = next(begin);
        if (!found) return {};
        const std::size_t end = std::min(*found, text.size());
        parts = list_push_back(call.memory(), std::move(parts), string_window(a[0], begin, end));
        if (*found == std::string_view::npos) return parts;
        begin = *found + separator.size();
    }
}

value join(native_call& call, arguments_span a) {
    const auto items = list_argument(call, a, 0);
    if (!items) return {};
    std::string_view separator = " ";
    if (a.size() == 2) {
        const auto given = string_argument(call, a, 1);
        if (!given) return {};
        separator = *given;
    }
    text_builder out(call.work());
    for (std::size_t i = 0; i < items->size(); ++i) {
        const value& item = (*items)[i];
        const std::size_t bytes = item.is(kind::string) ? item.length() : 0;
        if (!reserve_text(call, out.size() + separator.size() + bytes)) return {};
        if (i != 0 && !out.append(separator)) return {};
        if (item.is(kind::string)) {
            if (!out.append(string_bytes(item))) return {};
        } else if (!append_plain(out.tail(), item)) {
            return fail_element(call, i, "a string, number, symbol, boolean or nil", item);
        }
        if (!out.settle()) return {};
    }
    return made_text(call, std::move(out));
}

value replace(native_call& call, arguments_span a) {
    if (!all_strings(call, a)) return {};
    const std::string_view text = string_bytes(a[0]);
    const std::string_view from = string_bytes(a[1]);
    const std::string_view to = string_bytes(a[2]);
    if (from.empty()) return call.fail_evaluation("the text to replace must not be empty");
    if (!call.expect(text.size() / work_meter::bytes_of_a_unit)) return {};
    text_search search(from, call.work());
    text_builder out(call.work());
    for (std::size_t begin = 0;;) {
        const auto at = search.find(text, begin);
        if (!at) return {};
        if (*at == std::string_view::npos) {
            if (begin == 0) return a[0];
            if (!out.append(text.substr(begin))) return {};
            return made_text(call, std::move(out));
        }
        if (!reserve_text(call, out.size() + (*at - begin) + to.size())) return {};
        if (!out.append(text.substr(begin, *at - begin)) || !out.append(to)) return {};
        if (!out.settle()) return {};
        begin = *at + from.size();
    }
}

value contains(native_call& call, arguments_span a) {
    if (!all_strings(call, a)) return {};
    const auto at = text_search(string_bytes(a[1]), call.work()).find(string_bytes(a[0]), 0);
    return at ? value::boolean(*at != std::string_view::npos) : value();
}
value starts_with(native_call& call, arguments_span a) {
    if (!all_strings(call, a)) return {};
    if (!call.spend_bytes(a[1].length())) return {};
    return value::boolean(string_bytes(a[0]).starts_with(string_bytes(a[1])));
}
value ends_with(native_call& call, arguments_span a) {
    if (!all_strings(call, a)) return {};
    if (!call.spend_bytes(a[1].length())) return {};
    return value::boolean(string_bytes(a[0]).ends_with(string_bytes(a[1])));
}

value to_number(native_call& call, arguments_span a) {
    const auto text = string_argument(call, a, 0);
    if (!text) return {};
    const auto range = without_outer_space(call, *text);
    // What is longer than a word may be is not a number, as in the source.
    if (!range || range->end - range->begin > lexer::max_atom_length) return {};
    if (!call.spend(range->end - range->begin)) return {};
    const parsed_number number =
        parse_number(text->substr(range->begin, range->end - range->begin));
    if (const auto* integer = std::get_if<std::int64_t>(&number)) return value::integer(*integer);
    if (const auto* real = std::get_if<double>(&number)) return value::real(*real);
    return {};
}

value from_number(native_call& call, arguments_span a) {
    if (!a[0].is_integer() && !a[0].is_real()) return call.fail_type(1, "a number", a[0]);
    std::string text;
    static_cast<void>(append_plain(text, a[0]));
    return make_text(call, text);
}

value to_symbol(native_call& call, arguments_span a) {
    const auto name = string_argument(call, a, 0);
    if (!name || !call.reserve(name->size()) || !call.spend_bytes(name->size())) return {};
    if (!check_symbol_length(call, name->size())) return {};
    // The empty string has no storage, and a null pointer must not be copied from.
    return call.memory().symbol(name->empty() ? std::string_view("") : *name);
}

value from_symbol(native_call& call, arguments_span a) {
    if (!a[0].is(kind::symbol)) return call.fail_type(1, "a symbol", a[0]);
    if (!call.spend_bytes(symbol_name(a[0]).size())) return {};
    return make_text(call, symbol_name(a[0]));
}

constexpr builtin row(std::string_view name, std::string_view parameters, std::uint16_t min,
                      std::uint16_t max, native_function run, std::string_view summary,
                      std::string_view example) {
    return pure_row(name, parameters, min, max, run, summary, example, "strings");
}

constexpr std::uint16_t any = builtin::any_number;

constexpr builtin rows[] = {
    row("string=?", "a b more…", 2, any, equal, "True when all strings are the same.",
        "(string=? \"a\" \"a\") => true\n(string=? \"a\" \"A\") => false"),
    row("string<?", "a b more…", 2, any, less,
        "True when the strings ascend in the order of their code points.",
        "(string<? \"a\" \"b\" \"c\") => true"),
    row("string-append", "parts…", 0, any, append,
        "The parts as one string: strings and symbols as they are, numbers and booleans as "
        "written, nothing for nil. A list or map is an error: see json-string and format.",
        "(string-append \"n=\" 5 \" \" 'ok nil) => \"n=5 ok\""),
    row("string-length", "s", 1, 1, length, "The number of code points.",
        "(string-length \"abc\") => 3"),
    row("substring", "s from [to]", 2, 3, substring,
        "The code points from index from (0 is the first) up to, but not including, index to or "
        "the end. An index outside of the string is an error.",
        "(substring \"heddle\" 1 3) => \"ed\"\n(substring \"heddle\" 3) => \"dle\""),
    row("string-upcase", "s", 1, 1, upcase,
        "s in upper case, converted code point by code point, independent of any locale.",
        "(string-upcase \"abc\") => \"ABC\""),
    row("string-downcase", "s", 1, 1, downcase,
        "s in lower case, converted code point by code point, independent of any locale.",
        "(string-downcase \"ABC\") => \"abc\""),
    row("string-trim", "s", 1, 1, trim, "s without white space at both ends.",
        "(string-trim \"  a b \") => \"a b\""),
    row("string-split", "s [separator]", 1, 2, split,
        "The parts between the separators, including empty ones. Without a separator, the words "
        "between white space; with \"\", the characters.",
        "(string-split \"a,b,,c\" \",\") => '(\"a\" \"b\" \"\" \"c\")\n"
        "(string-split \" two  words \") => '(\"two\" \"words\")"),
    row("string-join", "parts [separator]", 1, 2, join,
        "The elements of a list as one string, with the separator (a space) between them. "
        "Elements may be what string-append takes.",
        "(string-join '(\"a\" \"b\" 3) \", \") => \"a, b, 3\""),
    row("string-replace", "s from to", 3, 3, replace,
        "s with every from, taken literally, replaced by to.",
        "(string-replace \"a-b-c\" \"-\" \"+\") => \"a+b+c\""),
    row("string-contains?", "s part", 2, 2, contains, "True when part occurs in s.",
        "(string-contains? \"heddle\" \"dd\") => true"),
    row("string-starts-with?", "s prefix", 2, 2, starts_with, "True when s begins with prefix.",
        "(string-starts-with? \"heddle\" \"he\") => true"),
    row("string-ends-with?", "s suffix", 2, 2, ends_with, "True when s ends with suffix.",
        "(string-ends-with? \"heddle\" \"le\") => true"),
    row("string->number", "s", 1, 1, to_number,
        "The number that s represents, ignoring white space around it; nil if s is not a number "
        "or does not fit.",
        "(string->number \"42\") => 42\n(string->number \"4.5\") => 4.5\n"
        "(string->number \"four\") => nil"),
    constant_time(row("number->string", "n", 1, 1, from_number,
                      "The shortest text that reads back as n.",
                      "(number->string 4.5) => \"4.5\"\n(number->string 2.0) => \"2.0\"")),
    row("string->symbol", "s", 1, 1, to_symbol, "The symbol with that name.",
        "(string->symbol \"abc\") => 'abc"),
    constant_time(row("symbol->string", "symbol", 1, 1, from_symbol, "The name of a symbol.",
                      "(symbol->string 'abc) => \"abc\"")),
    row("format", "text values…", 1, any, format_text,
        "text with its placeholders filled: {} by the next value, {0} by the value with that "
        "index, {name} by a key of the last value, which must then be a map. Strings are "
        "inserted as they are, other values in written form. {{ and }} are braces. A placeholder "
        "without a value is an error, and so is a value without a placeholder.",
        "(format \"{} is {}\" \"x\" 1) => \"x is 1\"\n"
        "(format \"{who}: {{{}}}\" 5 (dict \"who\" \"me\")) => \"me: {5}\""),
};

} // namespace

std::span<const builtin> string_builtins() noexcept { return rows; }

} // namespace heddle::lang
