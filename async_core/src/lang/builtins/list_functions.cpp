#include "lang/builtins/list_functions.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/equality.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include "lang/builtins/arithmetic.hpp"
#include "lang/builtins/support.hpp"
#include "lang/value/hash.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>
#include <vector>

namespace heddle::lang {

namespace {

using arguments_span = std::span<value>;

[[nodiscard]] value integer_range(native_call& call, std::int64_t from, std::int64_t to,
                                  std::int64_t step) {
    if ((step > 0 && from >= to) || (step < 0 && from <= to)) return value::empty_list();
    // Without a sign nothing overflows: the distance of two integers fits 64 bits so.
    const auto low = static_cast<std::uint64_t>(step > 0 ? from : to);
    const auto high = static_cast<std::uint64_t>(step > 0 ? to : from);
    const auto width = step > 0 ? static_cast<std::uint64_t>(step)
                                : std::uint64_t{0} - static_cast<std::uint64_t>(step);
    const std::uint64_t count = (high - low - 1) / width + 1;
    if (!reserve_elements(call, count)) return {};
    value list = make_list_with_capacity(call.memory(), count);
    auto* storage = static_cast<list_object*>(list.target());
    auto item = static_cast<std::uint64_t>(from);
    for (std::uint64_t i = 0; i < count; ++i, item += static_cast<std::uint64_t>(step)) {
        new (storage->items() + i) value(value::integer(static_cast<std::int64_t>(item)));
    }
    storage->end = static_cast<std::uint32_t>(count);
    return std::move(list).window(0, count);
}

[[nodiscard]] value real_range(native_call& call, double from, double to, double step) {
    const double steps = std::ceil((to - from) / step);
    if (std::isnan(steps)) return call.fail_evaluation("the bounds must be finite");
    if (steps <= 0) return value::empty_list();
    const auto most = static_cast<double>(value::max_length) + 1;
    const auto count = static_cast<std::size_t>(std::min(steps, most));
    if (!reserve_elements(call, count)) return {};
    value list = make_list_with_capacity(call.memory(), count);
    for (std::size_t i = 0; i < count; ++i) {
        list = list_push_back(call.memory(), std::move(list),
                              value::real(from + static_cast<double>(i) * step));
    }
    return list;
}

} // namespace

value range_of_numbers(native_call& call, arguments_span a) {
    bool real = false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!a[i].is_integer() && !a[i].is_real()) return call.fail_type(i + 1, "a number", a[i]);
        real = real || a[i].is_real();
    }
    const value zero = value::integer(0);
    const value one = value::integer(1);
    const value& from = a.size() == 1 ? zero : a[0];
    const value& to = a.size() == 1 ? a[0] : a[1];
    const value& step = a.size() == 3 ? a[2] : one;
    if (compare_numbers(step, zero) == 0) return call.fail_evaluation("the step must not be 0");
    if (!real) return integer_range(call, from.as_integer(), to.as_integer(), step.as_integer());
    const auto as_double = [](const value& v) {
        return v.is_real() ? v.as_real() : static_cast<double>(v.as_integer());
    };
    return real_range(call, as_double(from), as_double(to), as_double(step));
}

value sort_list(native_call& call, arguments_span a) {
    const auto items = list_argument(call, a, 0);
    if (!items) return {};
    if (items->empty()) return value::empty_list();
    const bool strings = items->front().is(kind::string);
    for (std::size_t i = 0; i < items->size(); ++i) {
        const value& item = (*items)[i];
        if (strings ? item.is(kind::string) : counts_as_number(item)) continue;
        if (i == 0) return fail_element(call, i, "a number or a string", item);
        return fail_element(call, i,
                            strings ? "a string like the first" : "a number like the first", item);
    }
    if (!reserve_elements(call, items->size() * 2)) return {};
    std::vector<value> sorted(items->begin(), items->end());
    if (strings) {
        std::stable_sort(sorted.begin(), sorted.end(), [](const value& x, const value& y) {
            return string_bytes(x) < string_bytes(y);
        });
    } else {
        // What is no number in spite of its type goes to the end: it is in no order with the others.
        const auto end = std::stable_partition(sorted.begin(), sorted.end(), [](const value& v) {
            return !v.is_real() || !std::isnan(v.as_real());
        });
        std::stable_sort(sorted.begin(), end, [](const value& x, const value& y) {
            return compare_numbers(x, y) == -1;
        });
    }
    return make_list(call.memory(), sorted);
}

namespace {

struct by_hash {
    std::size_t operator()(const value* v) const { return hash_value(*v); }
};
struct by_equality {
    bool operator()(const value* x, const value* y) const { return values_equal(*x, *y); }
};

} // namespace

value unique_elements(native_call& call, arguments_span a) {
    const auto items = list_argument(call, a, 0);
    // The set of what was seen takes more than the elements themselves.
    if (!items || !call.reserve(items->size() * 4 * sizeof(value))) return {};
    std::unordered_set<const value*, by_hash, by_equality> seen;
    value list = value::empty_list();
    for (const value& item : *items) {
        if (seen.insert(&item).second) list = list_push_back(call.memory(), std::move(list), item);
    }
    return list;
}

value flatten_list(native_call& call, arguments_span a) {
    if (!list_argument(call, a, 0)) return {};
    // Lists whose rest is still to be walked, innermost last.
    std::vector<std::span<const value>> open{list_items(a[0])};
    value flat = value::empty_list();
    while (!open.empty()) {
        if (open.back().empty()) {
            open.pop_back();
            continue;
        }
        const value& item = open.back().front();
        open.back() = open.back().subspan(1);
        if (item.is(kind::list)) {
            open.push_back(list_items(item));
        } else {
            // Lists that share parts can be much longer flat than they are in memory.
            if (flat.length() % 1024 == 0 && !reserve_elements(call, flat.length() + 1024U))
                return {};
            flat = list_push_back(call.memory(), std::move(flat), item);
        }
    }
    return flat;
}

value zip_lists(native_call& call, arguments_span a) {
    std::size_t length = SIZE_MAX;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto items = list_argument(call, a, i);
        if (!items) return {};
        length = std::min(length, items->size());
    }
    if (!reserve_elements(call, length)) return {};
    if (!call.reserve(length * (a.size() + 4) * sizeof(value))) return {};
    value rows = make_list_with_capacity(call.memory(), length);
    for (std::size_t i = 0; i < length; ++i) {
        value row = make_list_with_capacity(call.memory(), a.size());
        for (const value& list : a) {
            row = list_push_back(call.memory(), std::move(row), list_items(list)[i]);
        }
        rows = list_push_back(call.memory(), std::move(rows), std::move(row));
    }
    return rows;
}

value chunk_list(native_call& call, arguments_span a) {
    const auto items = list_argument(call, a, 0);
    if (!items) return {};
    if (!a[1].is_integer() || a[1].as_integer() < 1) {
        return call.fail_type(2, "an integer from 1", a[1]);
    }
    const auto size = static_cast<std::size_t>(a[1].as_integer());
    const std::size_t count = items->empty() ? 0 : (items->size() - 1) / size + 1;
    if (!reserve_elements(call, count)) return {};
    value chunks = make_list_with_capacity(call.memory(), count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t from = i * size;
        const std::size_t to = std::min(items->size() - from, size) + from;
        chunks = list_push_back(call.memory(), std::move(chunks), list_slice(a[0], from, to));
    }
    return chunks;
}

value index_of(native_call& call, arguments_span a) {
    if (a[0].is(kind::string)) {
        const auto part = string_argument(call, a, 1);
        if (!part) return {};
        const std::string_view text = string_bytes(a[0]);
        const std::size_t at = text.find(*part);
        if (at == std::string_view::npos) return {};
        return value::integer(static_cast<std::int64_t>(utf8::count(text.substr(0, at))));
    }
    if (!a[0].is(kind::list)) return call.fail_type(1, "a list or a string", a[0]);
    const auto items = list_items(a[0]);
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (values_equal(items[i], a[1])) return value::integer(static_cast<std::int64_t>(i));
    }
    return {};
}

value contains(native_call& call, arguments_span a) {
    if (a[0].is(kind::map)) {
        const auto key = key_argument(call, a, 1);
        if (!key) return {};
        return value::boolean(map_find(a[0], *key) != nullptr);
    }
    if (!a[0].is(kind::list) && !a[0].is(kind::string)) {
        return call.fail_type(1, "a list, a string or a map", a[0]);
    }
    const value at = index_of(call, a);
    if (call.failure()) return {};
    return value::boolean(!at.is_nil());
}

} // namespace heddle::lang
