#include "lang/builtins/support.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>

#include "lang/print/described.hpp"
#include "lang/reader/lexer.hpp"
#include "lang/text/number_text.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace heddle::lang {

std::string shown(const value& v) { return print_value(v, {.max_bytes = 60, .max_depth = 4}); }

namespace {

/// What a TypeError about an argument begins with.
[[nodiscard]] std::string argument_of(std::string_view name) {
    return std::string(name) + ": argument ";
}

} // namespace

std::size_t refused_argument(const builtin& row, const error& failure) {
    const std::string_view message = failure.message();
    const std::string begin = argument_of(row.name);
    if (!message.starts_with(begin)) return 0;
    std::size_t index = 0;
    std::from_chars(message.data() + begin.size(), message.data() + message.size(), index);
    return index;
}

value native_call::fail_type(std::size_t index, std::string_view expected, const value& given) {
    error refused(errc::type, argument_of(row_->name) + std::to_string(index) + " must be " +
                                  std::string(expected) + ", not " + described(given));
    if (row_->name == "+" && given.is(kind::string))
        refused = std::move(refused).with_hint("(string-append a b) joins strings");
    return fail(std::move(refused).with_origin(error_origin::script));
}

value fail_element(native_call& call, std::size_t index, std::string_view expected,
                   const value& given) {
    return call.fail(error(errc::type, std::string(call.row().name) + ": element " +
                                           std::to_string(index) + " must be " +
                                           std::string(expected) + ", not " + described(given))
                         .with_origin(error_origin::script));
}

value native_call::fail_evaluation(std::string message) {
    return fail(error(errc::evaluation, std::string(row_->name) + ": " + std::move(message))
                    .with_origin(error_origin::script));
}

bool native_call::reserve(std::size_t bytes) {
    if (memory_.make_room(bytes)) return true;
    fail(error(errc::limit, std::string(row_->name) + ": " + std::to_string(bytes) +
                                " more bytes would pass the memory limit of " +
                                std::to_string(memory_.limit_asked()) + " bytes")
             .with_origin(error_origin::script));
    return false;
}

std::optional<std::int64_t> integer_argument(native_call& call, std::span<value> arguments,
                                             std::size_t index) {
    if (arguments[index].is_integer()) return arguments[index].as_integer();
    static_cast<void>(call.fail_type(index + 1, "an integer", arguments[index]));
    return std::nullopt;
}

std::optional<std::size_t> count_argument(native_call& call, std::span<value> arguments,
                                          std::size_t index) {
    const value& given = arguments[index];
    if (given.is_integer() && given.as_integer() >= 0) {
        return static_cast<std::size_t>(given.as_integer());
    }
    static_cast<void>(call.fail_type(index + 1, "an integer from 0", given));
    return std::nullopt;
}

std::optional<std::string_view> string_argument(native_call& call, std::span<value> arguments,
                                                std::size_t index) {
    if (arguments[index].is(kind::string)) return string_bytes(arguments[index]);
    static_cast<void>(call.fail_type(index + 1, "a string", arguments[index]));
    return std::nullopt;
}

std::optional<std::span<const value>> list_argument(native_call& call, std::span<value> arguments,
                                                    std::size_t index) {
    if (arguments[index].is(kind::list)) return list_items(arguments[index]);
    static_cast<void>(call.fail_type(index + 1, "a list", arguments[index]));
    return std::nullopt;
}

std::optional<std::string_view> key_argument(native_call& call, std::span<value> arguments,
                                             std::size_t index) {
    const value& given = arguments[index];
    if (!given.is(kind::string) && !given.is(kind::symbol)) {
        static_cast<void>(call.fail_type(index + 1, "a key (a string or symbol)", given));
        return std::nullopt;
    }
    const std::string_view name = given.is(kind::string) ? string_bytes(given) : symbol_name(given);
    if (!call.spend_bytes(name.size())) return std::nullopt;
    return name;
}

std::optional<bounds> bounds_arguments(native_call& call, std::span<value> arguments,
                                       std::size_t first, std::size_t length,
                                       std::string_view what) {
    bounds found{0, length};
    const auto outside = [&](std::int64_t index) {
        static_cast<void>(call.fail_evaluation("index " + std::to_string(index) + " is outside a " +
                                               std::string(what) + " of " +
                                               std::to_string(length)));
        return std::nullopt;
    };
    const auto from = integer_argument(call, arguments, first);
    if (!from) return std::nullopt;
    if (*from < 0 || static_cast<std::size_t>(*from) > length) return outside(*from);
    found.from = static_cast<std::size_t>(*from);
    if (first + 1 < arguments.size() && !arguments[first + 1].is_nil()) {
        const auto to = integer_argument(call, arguments, first + 1);
        if (!to) return std::nullopt;
        if (*to < 0 || static_cast<std::size_t>(*to) > length) return outside(*to);
        if (*to < *from) {
            static_cast<void>(call.fail_evaluation("the end " + std::to_string(*to) +
                                                   " is before the start " +
                                                   std::to_string(*from)));
            return std::nullopt;
        }
        found.to = static_cast<std::size_t>(*to);
    }
    return found;
}

value make_text(native_call& call, std::string_view text) {
    if (text.size() >= value::max_length) return refuse_text(call, text.size());
    if (!call.reserve(text.size())) return {};
    return make_valid_string(call.memory(), text);
}

value made_text(native_call& call, text_builder&& text) {
    if (text.size() >= value::max_length) return refuse_text(call, text.size());
    if (!call.reserve(text.size())) return {};
    return std::move(text).to_value(call.memory()).value_or(value());
}

bool reserve_text(native_call& call, std::size_t bytes) {
    if (bytes < value::max_length) return call.reserve(bytes);
    static_cast<void>(refuse_text(call, bytes));
    return false;
}

value refuse_text(native_call& call, std::size_t bytes) {
    return call.fail(error(errc::limit, std::string(call.row().name) + ": a string of " +
                                            std::to_string(bytes) + " bytes is too long")
                         .with_origin(error_origin::script));
}

bool check_symbol_length(native_call& call, std::size_t bytes) {
    if (bytes <= lexer::max_atom_length) return true;
    call.fail(error(errc::limit, std::string(call.row().name) + ": " + std::to_string(bytes) +
                                     " bytes are too long for a symbol: " +
                                     std::to_string(lexer::max_atom_length) + " at most")
                  .with_origin(error_origin::script));
    return false;
}

bool check_list_length(native_call& call, std::size_t count) {
    if (count <= value::max_length) return true;
    call.fail(error(errc::limit, std::string(call.row().name) + ": a list of " +
                                     std::to_string(count) + " elements is too long")
                  .with_origin(error_origin::script));
    return false;
}

bool reserve_elements(native_call& call, std::size_t count) {
    return check_list_length(call, count) && call.reserve(count * sizeof(value));
}

namespace {

constexpr std::size_t piece_of_text = 16 * 1024; ///< between two looks at the time

} // namespace

std::optional<std::strong_ordering> compare_texts(native_call& call, std::string_view left,
                                                  std::string_view right) {
    const std::size_t shorter = std::min(left.size(), right.size());
    for (std::size_t at = 0; at < shorter; at += piece_of_text) {
        const std::size_t size = std::min(piece_of_text, shorter - at);
        if (!call.spend_bytes(size)) return std::nullopt;
        const auto order = left.substr(at, size) <=> right.substr(at, size);
        if (order != 0) return order;
    }
    return left.size() <=> right.size();
}

std::optional<std::size_t> count_code_points(native_call& call, std::string_view text) {
    std::size_t count = 0;
    while (!text.empty()) {
        const std::string_view piece = text.substr(0, piece_of_text);
        if (!call.spend_bytes(piece.size())) return std::nullopt;
        count += utf8::count(piece);
        text.remove_prefix(piece.size());
    }
    return count;
}

std::optional<std::size_t> length_of_text(native_call& call, const value& string) {
    if (string.length() == 0 || static_cast<const string_object*>(string.target())->ascii)
        return string.length();
    return count_code_points(call, string_bytes(string));
}

std::optional<std::size_t> byte_of_code_point(native_call& call, std::string_view text,
                                              std::size_t n) {
    std::size_t before = 0;
    for (;;) {
        const std::string_view piece = text.substr(before, piece_of_text);
        if (!call.spend_bytes(piece.size())) return std::nullopt;
        const std::size_t count = utf8::count(piece);
        if (n < count || piece.size() < piece_of_text)
            return before + utf8::offset_of(text.substr(before), n);
        before += piece.size();
        n -= count;
    }
}

bool append_elements(native_call& call, value& list, std::span<const value> more) {
    constexpr std::size_t piece = 4096;
    while (!more.empty()) {
        const auto now = more.first(std::min(piece, more.size()));
        if (!call.spend(now.size())) return false;
        list = list_concat(call.memory(), std::move(list), now);
        more = more.subspan(now.size());
    }
    return true;
}

bool append_element(native_call& call, value& list, value item) {
    constexpr std::uint32_t large = 4096;
    if (list.length() >= large && !list_grows_in_place(list, 1)) {
        // What it is copied from dies in turns too.
        auto grown = copy_of_list(call, list_items(list), {list.length() * std::size_t{2}, 0});
        if (!grown) return false;
        list = *std::move(grown);
    }
    list = list_push_back(call.memory(), std::move(list), std::move(item));
    return true;
}

std::optional<value> copy_of_list(native_call& call, std::span<const value> items, list_room room) {
    if (!call.expect(items.size())) return std::nullopt;
    value copy = make_list_with_room(call.memory(), room);
    if (!append_elements(call, copy, items)) return std::nullopt;
    return copy;
}

std::optional<value> reserved_copy_of_list(native_call& call, std::span<const value> items,
                                           list_room room) {
    constexpr std::size_t large = 1024 * 1024;
    const std::size_t bytes = room.capacity * sizeof(value);
    if (bytes > large && !call.reserve(bytes)) return std::nullopt;
    return copy_of_list(call, items, room);
}

bool append_plain(std::string& out, const value& v) {
    switch (v.type()) {
    case kind::nil: return true;
    case kind::boolean: out += v.as_boolean() ? "true" : "false"; return true;
    case kind::integer: out += std::to_string(v.as_integer()); return true;
    case kind::real: out += real_text(v.as_real()); return true;
    case kind::string: out += string_bytes(v); return true;
    case kind::symbol: out += symbol_name(v); return true;
    default: return false;
    }
}

} // namespace heddle::lang
