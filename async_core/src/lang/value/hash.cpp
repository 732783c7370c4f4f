#include "lang/value/hash.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include <array>
#include <cmath>
#include <functional>

namespace heddle::lang {

namespace {

[[nodiscard]] std::size_t mix(std::size_t hash, std::size_t more) noexcept {
    hash ^= more + 0x9E3779B97F4A7C15ULL + (hash << 6) + (hash >> 2);
    return hash * 0xBF58476D1CE4E5B9ULL;
}

[[nodiscard]] std::size_t hash_real(double number) noexcept {
    const bool fits = number >= -9223372036854775808.0 && number < 9223372036854775808.0;
    if (fits && std::trunc(number) == number) {
        return std::hash<std::int64_t>()(static_cast<std::int64_t>(number));
    }
    return std::hash<double>()(number);
}

/// Without what lies inside of lists and maps.
[[nodiscard]] std::size_t shallow_hash(const value& v) noexcept {
    const auto tag = static_cast<std::size_t>(v.type());
    switch (v.type()) {
    case kind::boolean:
    case kind::integer: return std::hash<std::int64_t>()(v.as_integer());
    case kind::real: return hash_real(v.as_real());
    case kind::string: return mix(tag, std::hash<std::string_view>()(string_bytes(v)));
    case kind::symbol: return mix(tag, std::hash<const void*>()(v.target()));
    case kind::list: return mix(tag, v.length());
    case kind::map: {
        std::size_t keys = 0; // in any order
        if (v.length() <= 32) {
            for (const map_entry& entry : map_entries(v)) keys += entry.hash;
        }
        return mix(mix(tag, v.length()), keys);
    }
    case kind::builtin: return std::hash<const void*>()(&v.as_builtin());
    default: return std::hash<const void*>()(v.target());
    }
}

} // namespace

std::size_t hash_value(const value& v) {
    if (!v.is(kind::list)) return shallow_hash(v);
    // Breadth first, up to a bound: equal lists are looked at in the same order.
    constexpr std::size_t bound = 64;
    std::array<const value*, bound> seen;
    std::size_t count = 0;
    seen[count++] = &v;
    std::size_t hash = 0;
    for (std::size_t i = 0; i < count; ++i) {
        hash = mix(hash, shallow_hash(*seen[i]));
        if (!seen[i]->is(kind::list)) continue;
        for (const value& item : list_items(*seen[i])) {
            if (count == bound) break;
            seen[count++] = &item;
        }
    }
    return hash;
}

} // namespace heddle::lang
