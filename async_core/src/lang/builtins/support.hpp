// What the builtins share: checked access to arguments, bounded results.
#pragma once

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/list.hpp>

#include "lang/text/text_builder.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace heddle::lang {

/// A row of a pure builtin.
[[nodiscard]] constexpr builtin pure_row(std::string_view name, std::string_view parameters,
                                         std::uint16_t min_arguments, std::uint16_t max_arguments,
                                         native_function run, std::string_view summary,
                                         std::string_view example, std::string_view family) {
    return {name, parameters, min_arguments, max_arguments, builtin_kind::pure,
            run,  summary,    example,       family};
}
/// `row`, of a builtin whose time does not depend on the size of its arguments. Others spend work
/// (native_call::spend), which work_test measures.
[[nodiscard]] constexpr builtin constant_time(builtin row) {
    row.constant_time = true;
    return row;
}

// Each returns the argument at `index` (from 0), or nothing with the TypeError noted in the call.
[[nodiscard]] std::optional<std::int64_t> integer_argument(native_call& call,
                                                           std::span<value> arguments,
                                                           std::size_t index);
/// An integer that is not negative.
[[nodiscard]] std::optional<std::size_t> count_argument(native_call& call,
                                                        std::span<value> arguments,
                                                        std::size_t index);
[[nodiscard]] std::optional<std::string_view> string_argument(native_call& call,
                                                              std::span<value> arguments,
                                                              std::size_t index);
[[nodiscard]] std::optional<std::span<const value>> list_argument(native_call& call,
                                                                  std::span<value> arguments,
                                                                  std::size_t index);
/// The name of a key: a string's content or a symbol's name, whose hash is paid for. Nothing, also
/// without an error: stop.
[[nodiscard]] std::optional<std::string_view> key_argument(native_call& call,
                                                           std::span<value> arguments,
                                                           std::size_t index);

/// Bounds [from, to) out of optional arguments `first` and `first + 1` for a sequence of `length`;
/// `what` is its name in errors. Nothing with an error noted when they lie outside.
struct bounds {
    std::size_t from;
    std::size_t to;
};
[[nodiscard]] std::optional<bounds> bounds_arguments(native_call& call, std::span<value> arguments,
                                                     std::size_t first, std::size_t length,
                                                     std::string_view what);

/// The argument (from 1) that a TypeError of the builtin is about; 0: of none.
[[nodiscard]] std::size_t refused_argument(const builtin& row, const error& failure);

/// TypeError about the element at `index` (from 0) of a list that was given.
value fail_element(native_call& call, std::size_t index, std::string_view expected,
                   const value& given);

/// A string value; LimitError when it is too long for a string or for the memory.
[[nodiscard]] value make_text(native_call& call, std::string_view text);
/// As make_text.
[[nodiscard]] value made_text(native_call& call, text_builder&& text);
/// False, with the LimitError noted, when a string of so many bytes is too long or does not fit in
/// the memory.
[[nodiscard]] bool reserve_text(native_call& call, std::size_t bytes);
/// The LimitError about a string of so many bytes.
value refuse_text(native_call& call, std::size_t bytes);
/// False, with the LimitError noted, when so many bytes are too many for the name of a symbol.
[[nodiscard]] bool check_symbol_length(native_call& call, std::size_t bytes);
/// False, with the LimitError noted, when so many elements are too many for a list.
[[nodiscard]] bool check_list_length(native_call& call, std::size_t count);
/// As check_list_length, and when there is no memory for a new list of that length.
[[nodiscard]] bool reserve_elements(native_call& call, std::size_t count);

/// The order of two texts. Nothing: stop.
[[nodiscard]] std::optional<std::strong_ordering> compare_texts(native_call& call,
                                                                std::string_view left,
                                                                std::string_view right);
/// Code points of a text, or of a string value. Nothing: stop.
[[nodiscard]] std::optional<std::size_t> count_code_points(native_call& call,
                                                           std::string_view text);
[[nodiscard]] std::optional<std::size_t> length_of_text(native_call& call, const value& string);
/// Where the n-th code point begins. Nothing: stop.
[[nodiscard]] std::optional<std::size_t> byte_of_code_point(native_call& call,
                                                            std::string_view text, std::size_t n);

/// `more` at the end of `list`; both may be long. False: stop.
[[nodiscard]] bool append_elements(native_call& call, value& list, std::span<const value> more);
/// `item` at the end of `list`. A list that is long grows in turns. False: stop.
[[nodiscard]] bool append_element(native_call& call, value& list, value item);
/// A list with the elements of another one and room for more of them. Nothing: stop.
[[nodiscard]] std::optional<value> copy_of_list(native_call& call, std::span<const value> items,
                                                list_room room);
/// As copy_of_list; LimitError when it is large and there is no memory for it. What is smaller is
/// seen when it was made: in a sandbox that is an end that nothing inside can catch.
[[nodiscard]] std::optional<value> reserved_copy_of_list(native_call& call,
                                                         std::span<const value> items,
                                                         list_room room);

/// What string-append puts in: strings and symbols as they are, numbers and booleans as written,
/// nothing for nil. False for other kinds.
[[nodiscard]] bool append_plain(std::string& out, const value& v);

/// A value for a message: its written form, shortened.
[[nodiscard]] std::string shown(const value& v);

} // namespace heddle::lang
