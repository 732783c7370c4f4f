#include <heddle/lang/builtin.hpp>

#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include "lang/builtins/list_functions.hpp"
#include "lang/builtins/support.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace heddle::lang {

namespace {

using arguments_span = std::span<value>;

constexpr std::size_t few = 1024; ///< elements that are copied at once

value list(native_call& call, arguments_span a) {
    if (a.size() > few) return copy_of_list(call, a, {a.size()}).value_or(value());
    if (!call.spend(a.size())) return {};
    return make_list(call.memory(), a);
}

value cons(native_call& call, arguments_span a) {
    if (!list_argument(call, a, 1)) return {};
    const std::size_t length = a[1].length();
    if (!check_list_length(call, length + 1)) return {};
    const bool copies = !list_grows_at_front(a[1]);
    if (!call.spend(copies && length <= few ? length + 1 : 1)) return {};
    if (copies && length > few) {
        auto copy = reserved_copy_of_list(call, list_items(a[1]), room_for_push_front(a[1]));
        if (!copy) return {};
        a[1] = *std::move(copy);
    }
    return list_push_front(call.memory(), std::move(a[0]), std::move(a[1]));
}

value append(native_call& call, arguments_span a) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto items = list_argument(call, a, i);
        if (!items) return {};
        length += items->size();
    }
    if (a.empty()) return value::empty_list();
    if (!check_list_length(call, length)) return {};
    const std::size_t added = length - a[0].length();
    if (added == 0) return a[0];
    if (added == a.back().length() && a[0].length() == 0) return a.back();
    // The first list may have room at the end of its storage: a loop that appends is linear.
    value all;
    if (list_grows_in_place(a[0], added)) {
        if (!call.expect(added)) return {}; // it is not stopped after that
        all = std::move(a[0]);
    } else if (length > few) {
        if (!call.expect(length)) return {};
        auto copy = reserved_copy_of_list(call, list_items(a[0]), room_to_append(a[0], added));
        if (!copy) return {};
        all = *std::move(copy);
    } else {
        all = a[0];
    }
    for (const value& more : a.subspan(1)) {
        if (!append_elements(call, all, list_items(more))) return {};
    }
    return all;
}

[[nodiscard]] value element(native_call& call, arguments_span arguments, std::size_t index) {
    const auto items = list_argument(call, arguments, 0);
    if (!items) return {};
    if (index < items->size()) return (*items)[index];
    if (items->empty()) return call.fail_evaluation("the list is empty");
    return call.fail_evaluation("the list has only " + std::to_string(items->size()) +
                                (items->size() == 1 ? " element" : " elements"));
}

value first(native_call& call, arguments_span a) { return element(call, a, 0); }
value second(native_call& call, arguments_span a) { return element(call, a, 1); }
value third(native_call& call, arguments_span a) { return element(call, a, 2); }
value last(native_call& call, arguments_span a) {
    return element(call, a, std::max<std::size_t>(a[0].length(), 1) - 1);
}

value rest(native_call& call, arguments_span a) {
    if (!list_argument(call, a, 0)) return {};
    const std::size_t length = a[0].length();
    return list_slice(std::move(a[0]), std::min<std::size_t>(length, 1), length);
}

value nth(native_call& call, arguments_span a) {
    const auto items = list_argument(call, a, 0);
    if (!items) return {};
    const auto index = integer_argument(call, a, 1);
    if (!index) return {};
    if (*index >= 0 && static_cast<std::size_t>(*index) < items->size()) {
        return (*items)[static_cast<std::size_t>(*index)];
    }
    return call.fail_evaluation("index " + std::to_string(*index) + " is outside a list of " +
                                std::to_string(items->size()));
}

value length(native_call& call, arguments_span a) {
    switch (a[0].type()) {
    case kind::list:
    case kind::map: return value::integer(a[0].length());
    case kind::string: {
        const auto count = length_of_text(call, a[0]);
        return count ? value::integer(static_cast<std::int64_t>(*count)) : value();
    }
    default: return call.fail_type(1, "a list, a string or a map", a[0]);
    }
}

value reverse(native_call& call, arguments_span a) {
    const auto items = list_argument(call, a, 0);
    if (!items || !reserve_elements(call, items->size()) || !call.expect(items->size())) return {};
    value reversed = make_list_with_capacity(call.memory(), items->size());
    for (auto item = items->rbegin(); item != items->rend(); ++item) {
        if (!call.spend(1)) return {};
        reversed = list_push_back(call.memory(), std::move(reversed), *item);
    }
    return reversed;
}

value take(native_call& call, arguments_span a) {
    if (!list_argument(call, a, 0)) return {};
    const auto count = count_argument(call, a, 1);
    if (!count) return {};
    const std::size_t length = a[0].length();
    return list_slice(std::move(a[0]), 0, std::min(*count, length));
}

value drop(native_call& call, arguments_span a) {
    if (!list_argument(call, a, 0)) return {};
    const auto count = count_argument(call, a, 1);
    if (!count) return {};
    const std::size_t length = a[0].length();
    return list_slice(std::move(a[0]), std::min(*count, length), length);
}

value slice(native_call& call, arguments_span a) {
    if (!list_argument(call, a, 0)) return {};
    const auto part = bounds_arguments(call, a, 1, a[0].length(), "list");
    if (!part) return {};
    return list_slice(std::move(a[0]), part->from, part->to);
}

value is_null(native_call&, arguments_span a) {
    return value::boolean(a[0].is_nil() || (a[0].is(kind::list) && a[0].length() == 0));
}

value is_empty(native_call& call, arguments_span a) {
    switch (a[0].type()) {
    case kind::nil: return value::boolean(true);
    case kind::list:
    case kind::map:
    case kind::string: return value::boolean(a[0].length() == 0);
    default: return call.fail_type(1, "a list, a string, a map or nil", a[0]);
    }
}

value is_list(native_call&, arguments_span a) { return value::boolean(a[0].is(kind::list)); }

constexpr builtin row(std::string_view name, std::string_view parameters, std::uint16_t min,
                      std::uint16_t max, native_function run, std::string_view summary,
                      std::string_view example) {
    return pure_row(name, parameters, min, max, run, summary, example, "lists");
}

constexpr std::uint16_t any = builtin::any_number;

constexpr builtin rows[] = {
    row("list", "xs…", 0, any, list, "A list of the values.", "(list 1 \"a\" 'b) => '(1 \"a\" b)"),
    row("cons", "x xs", 2, 2, cons, "The list xs with x in front.", "(cons 1 '(2 3)) => '(1 2 3)"),
    row("append", "lists…", 0, any, append, "The elements of all the lists in one list.",
        "(append '(1) '(2 3) '()) => '(1 2 3)"),
    constant_time(row("first", "xs", 1, 1, first, "The first element; () is an error.",
                      "(first '(1 2 3)) => 1")),
    constant_time(row("second", "xs", 1, 1, second,
                      "The second element; an error if there is none.", "(second '(1 2 3)) => 2")),
    constant_time(row("third", "xs", 1, 1, third, "The third element; an error if there is none.",
                      "(third '(1 2 3)) => 3")),
    constant_time(row("rest", "xs", 1, 1, rest, "The list without its first element; () of ().",
                      "(rest '(1 2 3)) => '(2 3)\n(rest '()) => '()")),
    constant_time(
        row("last", "xs", 1, 1, last, "The last element; () is an error.", "(last '(1 2 3)) => 3")),
    constant_time(
        row("nth", "xs index", 2, 2, nth,
            "The element at index, where 0 is the first; an index outside of the list is an error.",
            "(nth '(a b c) 1) => 'b")),
    row("length", "xs", 1, 1, length,
        "The number of elements of a list, keys of a map, code points of a string.",
        "(length '(1 2 3)) => 3\n(length \"abc\") => 3"),
    row("reverse", "xs", 1, 1, reverse, "The elements from the last to the first.",
        "(reverse '(1 2 3)) => '(3 2 1)"),
    row("range", "[from] to [step]", 1, 3, range_of_numbers,
        "The numbers from from (0) up to, but not including, to, in steps of step (1). A "
        "negative step counts down.",
        "(range 3) => '(0 1 2)\n(range 1 4) => '(1 2 3)\n(range 5 0 -2) => '(5 3 1)"),
    constant_time(row("take", "xs n", 2, 2, take,
                      "The first n elements, or all if there are fewer.",
                      "(take '(1 2 3) 2) => '(1 2)")),
    constant_time(row("drop", "xs n", 2, 2, drop, "All but the first n elements.",
                      "(drop '(1 2 3) 2) => '(3)")),
    constant_time(
        row("slice", "xs from [to]", 2, 3, slice,
            "The elements from index from up to, but not including, index to or the end. An index "
            "outside of the list is an error.",
            "(slice '(a b c d) 1 3) => '(b c)")),
    row("sort", "xs", 1, 1, sort_list,
        "The numbers, or the strings, of a list in ascending order; equal ones keep their order. "
        "Strings are ordered by their code points.",
        "(sort '(3 1 2)) => '(1 2 3)\n(sort '(\"b\" \"a\")) => '(\"a\" \"b\")"),
    row("unique", "xs", 1, 1, unique_elements,
        "The elements, without those that equal an earlier one.",
        "(unique '(1 2 1 \"a\" \"a\")) => '(1 2 \"a\")"),
    row("flatten", "xs", 1, 1, flatten_list,
        "The elements of xs and of all lists inside, at any depth, in one list.",
        "(flatten '(1 (2 (3)) ())) => '(1 2 3)"),
    row("zip", "xs lists…", 1, any, zip_lists,
        "A list of lists: the first elements of all, the second elements of all, up to the "
        "length of the shortest.",
        "(zip '(1 2 3) '(a b)) => '((1 a) (2 b))"),
    row("index-of", "xs x", 2, 2, index_of,
        "The index, from 0, of the first x in a list, or of a substring in a string; nil if "
        "there is none.",
        "(index-of '(a b c) 'b) => 1\n(index-of \"heddle\" \"d\") => 2\n(index-of '(1) 2) => nil"),
    row("contains?", "xs x", 2, 2, contains,
        "True when x is an element of a list, a part of a string or a key of a map.",
        "(contains? '(1 2) 2) => true\n(contains? (dict \"a\" 1) 'b) => false"),
    row("chunk", "xs n", 2, 2, chunk_list, "The elements in lists of n; the last may be shorter.",
        "(chunk '(1 2 3 4 5) 2) => '((1 2) (3 4) (5))"),
    constant_time(row("null?", "x", 1, 1, is_null, "True for nil and ().",
                      "(null? '()) => true\n(null? 0) => false")),
    constant_time(row("nil?", "x", 1, 1, is_null, "True for nil and ().", "(nil? nil) => true")),
    constant_time(row("empty?", "x", 1, 1, is_empty, "True for (), \"\", the empty map and nil.",
                      "(empty? \"\") => true\n(empty? '(1)) => false")),
    constant_time(row("list?", "x", 1, 1, is_list, "True for lists, the empty one too.",
                      "(list? '()) => true\n(list? nil) => false")),
};

} // namespace

std::span<const builtin> list_builtins() noexcept { return rows; }

} // namespace heddle::lang
