// Values of a size, for tests of what work on them takes.
#pragma once

#include <heddle/lang/heap.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::lang::testing {

inline value integers(heap& memory, std::size_t n) {
    value list = make_list_with_capacity(memory, n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto mixed = static_cast<std::int64_t>(i * 7919 % 1000003);
        list = list_push_back(memory, std::move(list), value::integer(mixed));
    }
    return list;
}

inline value table(heap& memory, std::size_t n) {
    value map = value::empty_map();
    for (std::size_t i = 0; i < n; ++i) {
        map = map_put(memory, std::move(map), "key " + std::to_string(i),
                      value::integer(static_cast<std::int64_t>(i)));
    }
    return map;
}

inline value rows(heap& memory, std::size_t n) {
    value list = value::empty_list();
    for (std::size_t i = 0; i < n; ++i) {
        value row = value::empty_map();
        row = map_put(memory, std::move(row), "same", value::integer(1));
        row =
            map_put(memory, std::move(row), "other", value::integer(static_cast<std::int64_t>(i)));
        list = list_push_back(memory, std::move(list), std::move(row));
    }
    return list;
}

inline value pairs(heap& memory, std::size_t n) {
    value list = value::empty_list();
    for (std::size_t i = 0; i < n; ++i) {
        const value pair[] = {make_string(memory, "k" + std::to_string(i)), value::integer(1)};
        list = list_push_back(memory, std::move(list), make_list(memory, pair));
    }
    return list;
}

/// Lists inside of lists.
inline value nested(heap& memory, std::size_t n) {
    value list = value::empty_list();
    for (std::size_t i = 0; i < n / 4; ++i)
        list = list_push_back(memory, std::move(list), integers(memory, 4));
    return list;
}

inline value text(heap& memory, std::string_view part, std::size_t n) {
    std::string whole;
    while (whole.size() < n) whole += part;
    return make_string(memory, whole);
}

inline value string_of(heap& memory, std::string_view s) { return make_string(memory, s); }

} // namespace heddle::lang::testing
