// Conversion of tuples and containers. Include heddle/convert.hpp.
#pragma once

#include <heddle/base/visibility.hpp>
#include <heddle/json_conversion.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace HEDDLE_PUBLIC heddle {
namespace detail {

template <class T>
concept map_like = requires {
    typename T::key_type;
    typename T::mapped_type;
}
&&std::same_as<typename T::key_type, std::string>;

template <class T>
concept set_like = requires {
    typename T::key_type;
}
&&!requires { typename T::mapped_type; };

template <class T>
concept sequence_like = requires(T items) {
    items.push_back(std::declval<typename T::value_type>());
    items.begin() != items.end();
}
&&!std::convertible_to<T, std::string_view>;

/// Containers without equal elements or keys.
template <class T>
concept unique_keys = requires(T items) {
    items.insert(std::declval<typename T::value_type>()).second;
};

/// The elements of an array; null, and an error, for anything else.
[[nodiscard]] const json::array* items_of(const json& from, const json_place& at);
/// As items_of, for an array of exactly `count` elements.
[[nodiscard]] const json::array* items_of(const json& from, std::size_t count,
                                          const json_place& at);
/// The members of an object; null, and an error, for anything else.
[[nodiscard]] const json::object* members_of(const json& from, const json_place& at);
[[nodiscard]] json list_schema(json items, bool unique = false);
[[nodiscard]] json tuple_schema(json::array items);

template <class Tuple, class... T>
struct tuple_converter {
    static json write(const Tuple& value, const json_place& at) {
        json::array items;
        items.reserve(sizeof...(T));
        std::apply(
            [&](const T&... each) {
                ((items.push_back(converter_of<T>::write(each, at.in(items.size())))), ...);
            },
            value);
        return items;
    }
    static std::optional<Tuple> read(const json& from, const json_place& at) {
        const json::array* items = items_of(from, sizeof...(T), at);
        if (items == nullptr) return std::nullopt;
        return read_parts(*items, at, std::index_sequence_for<T...>());
    }
    static json schema(schema_builder& builder) {
        return tuple_schema({converter_of<T>::schema(builder)...});
    }

private:
    template <std::size_t... I>
    static std::optional<Tuple> read_parts([[maybe_unused]] const json::array& items,
                                           [[maybe_unused]] const json_place& at,
                                           std::index_sequence<I...>) {
        std::tuple<std::optional<T>...> read{converter_of<T>::read(items[I], at.in(I))...};
        if (!(std::get<I>(read).has_value() && ...)) return std::nullopt;
        return Tuple{*std::move(std::get<I>(read))...};
    }
};
template <class... T>
struct converter<std::tuple<T...>> : tuple_converter<std::tuple<T...>, T...> {};
template <class A, class B>
struct converter<std::pair<A, B>> : tuple_converter<std::pair<A, B>, A, B> {};

/// The elements as JSON.
template <class Range>
[[nodiscard]] json write_items(const Range& items, const json_place& at) {
    using item = typename Range::value_type;
    json::array written;
    for (const item& each : items) // for vector<bool>, a copy
        written.push_back(converter_of<item>::write(each, at.in(written.size())));
    return written;
}

/// Passes each element, and its place, to `take`, until the conversion of one fails. Returns false
/// in that case.
template <class Item, class Take>
[[nodiscard]] bool read_items(const json::array& items, const json_place& at, Take take) {
    for (std::size_t i = 0; i < items.size(); ++i) {
        std::optional<Item> each = converter_of<Item>::read(items[i], at.in(i));
        if (!each || !take(*std::move(each), at.in(i))) return false;
    }
    return true;
}

template <class T, std::size_t N>
struct converter<std::array<T, N>> {
    static json write(const std::array<T, N>& value, const json_place& at) {
        return write_items(value, at);
    }
    static std::optional<std::array<T, N>> read(const json& from, const json_place& at) {
        const json::array* items = items_of(from, N, at);
        if (items == nullptr) return std::nullopt;
        std::array<T, N> value{};
        std::size_t next = 0;
        const auto take = [&](T each, const json_place&) {
            value[next++] = std::move(each);
            return true;
        };
        if (!read_items<T>(*items, at, take)) return std::nullopt;
        return value;
    }
    static json schema(schema_builder& builder) {
        json schema = list_schema(converter_of<T>::schema(builder));
        schema.as_object().set("minItems", N);
        schema.as_object().set("maxItems", N);
        return schema;
    }
};

/// Vectors, deques, lists.
template <sequence_like T>
struct converter<T> {
    using item = typename T::value_type;

    static json write(const T& value, const json_place& at) { return write_items(value, at); }
    static std::optional<T> read(const json& from, const json_place& at) {
        const json::array* items = items_of(from, at);
        if (items == nullptr) return std::nullopt;
        T value;
        const auto take = [&](item each, const json_place&) {
            value.push_back(std::move(each));
            return true;
        };
        if (!read_items<item>(*items, at, take)) return std::nullopt;
        return value;
    }
    static json schema(schema_builder& builder) {
        return list_schema(converter_of<item>::schema(builder));
    }
};

/// Sets, ordered or not. An element that occurs twice is an error, except in a multiset.
template <set_like T>
struct converter<T> {
    using item = typename T::key_type;

    static json write(const T& value, const json_place& at) { return write_items(value, at); }
    static std::optional<T> read(const json& from, const json_place& at) {
        const json::array* items = items_of(from, at);
        if (items == nullptr) return std::nullopt;
        T value;
        const auto take = [&](item each, const json_place& here) {
            const std::size_t before = value.size();
            value.insert(std::move(each));
            if (value.size() != before) return true;
            static_cast<void>(here.fail("occurs twice in a set"));
            return false;
        };
        if (!read_items<item>(*items, at, take)) return std::nullopt;
        return value;
    }
    static json schema(schema_builder& builder) {
        return list_schema(converter_of<item>::schema(builder), unique_keys<T>);
    }
};

/// Maps from strings, ordered or not.
template <map_like T>
struct converter<T> {
    static_assert(unique_keys<T>,
                  "a JSON object cannot have equal names: convert a std::map<std::string, "
                  "std::vector<T>>, or a std::vector<std::pair<std::string, T>>");
    using item = typename T::mapped_type;

    static json write(const T& value, const json_place& at) {
        json::object members;
        for (const auto& [name, each] : value) {
            const json_place here = at.in(name);
            static_cast<void>(write_text(name, here));
            members.set(name, converter_of<item>::write(each, here));
        }
        return members;
    }
    static std::optional<T> read(const json& from, const json_place& at) {
        const json::object* members = members_of(from, at);
        if (members == nullptr) return std::nullopt;
        T value;
        for (const json_member& member : *members) {
            std::optional<item> each = converter_of<item>::read(member.value, at.in(member.name));
            if (!each) return std::nullopt;
            value.emplace(member.name, *std::move(each));
        }
        return value;
    }
    static json schema(schema_builder& builder) {
        return json::object{{"type", "object"},
                            {"additionalProperties", converter_of<item>::schema(builder)}};
    }
};

} // namespace detail
} // namespace heddle
