// Conversion of optionals, variants, tuples and containers. Include heddle/convert.hpp.
#pragma once

#include <heddle/json_conversion.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace heddle::detail {

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

/// The elements of an array; null, and an error, for anything else.
[[nodiscard]] const json::array* items_of(const json& from, const json_place& at);
/// As items_of, for an array of exactly `count` elements.
[[nodiscard]] const json::array* items_of(const json& from, std::size_t count,
                                          const json_place& at);
/// The members of an object; null, and an error, for anything else.
[[nodiscard]] const json::object* members_of(const json& from, const json_place& at);
[[nodiscard]] json list_schema(json items, bool unique = false);
[[nodiscard]] json tuple_schema(json::array items);
[[nodiscard]] json any_of_schema(json::array alternatives);

/// Is null when it is absent.
template <class T>
struct converter<std::optional<T>> {
    static json write(const std::optional<T>& value, const json_place& at) {
        return value ? converter_of<T>::write(*value, at) : json();
    }
    static std::optional<std::optional<T>> read(const json& from, const json_place& at) {
        std::optional<T> value;
        if (!from.is_null()) {
            value = converter_of<T>::read(from, at);
            if (!value) return std::nullopt;
        }
        return std::optional<std::optional<T>>(std::in_place, std::move(value));
    }
    static json schema(schema_builder& builder) {
        return any_of_schema({converter_of<T>::schema(builder), json::object{{"type", "null"}}});
    }
};

/// The first alternative that fits.
template <class... T>
struct converter<std::variant<T...>> {
    using type = std::variant<T...>;

    static json write(const type& value, const json_place& at) {
        return std::visit(
            [&](const auto& each) {
                return converter_of<std::remove_cvref_t<decltype(each)>>::write(each, at);
            },
            value);
    }
    static std::optional<type> read(const json& from, const json_place& at) {
        std::optional<type> value;
        std::string problems;
        (try_one<T>(from, at, value, problems) || ...);
        if (!value) return at.fail("fits none of the alternatives: " + problems);
        return value;
    }
    static json schema(schema_builder& builder) {
        return any_of_schema({converter_of<T>::schema(builder)...});
    }

private:
    template <class One>
    static bool try_one(const json& from, const json_place& at, std::optional<type>& value,
                        std::string& problems) {
        std::optional<error> failure;
        if (auto one = converter_of<One>::read(from, at.trial(failure))) {
            value.emplace(std::in_place_type<One>, *std::move(one));
            return true;
        }
        if (!problems.empty()) problems += "; ";
        if (failure) problems += failure->message();
        return false;
    }
};

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
        return read_items(*items, at, std::index_sequence_for<T...>());
    }
    static json schema(schema_builder& builder) {
        return tuple_schema({converter_of<T>::schema(builder)...});
    }

private:
    template <std::size_t... I>
    static std::optional<Tuple> read_items([[maybe_unused]] const json::array& items,
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

template <class T, std::size_t N>
struct converter<std::array<T, N>> {
    static json write(const std::array<T, N>& value, const json_place& at) {
        json::array items;
        for (const T& each : value)
            items.push_back(converter_of<T>::write(each, at.in(items.size())));
        return items;
    }
    static std::optional<std::array<T, N>> read(const json& from, const json_place& at) {
        const json::array* items = items_of(from, N, at);
        if (items == nullptr) return std::nullopt;
        std::array<T, N> value{};
        for (std::size_t i = 0; i < N; ++i) {
            std::optional<T> each = converter_of<T>::read((*items)[i], at.in(i));
            if (!each) return std::nullopt;
            value[i] = *std::move(each);
        }
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

    static json write(const T& value, const json_place& at) {
        json::array items;
        for (const item& each : value) // of vector<bool> a copy
            items.push_back(converter_of<item>::write(each, at.in(items.size())));
        return items;
    }
    static std::optional<T> read(const json& from, const json_place& at) {
        const json::array* items = items_of(from, at);
        if (items == nullptr) return std::nullopt;
        T value;
        for (std::size_t i = 0; i < items->size(); ++i) {
            std::optional<item> each = converter_of<item>::read((*items)[i], at.in(i));
            if (!each) return std::nullopt;
            value.push_back(*std::move(each));
        }
        return value;
    }
    static json schema(schema_builder& builder) {
        return list_schema(converter_of<item>::schema(builder));
    }
};

/// Sets, ordered or not. An element that occurs twice is an error.
template <set_like T>
struct converter<T> {
    using item = typename T::key_type;

    static json write(const T& value, const json_place& at) {
        json::array items;
        for (const item& each : value)
            items.push_back(converter_of<item>::write(each, at.in(items.size())));
        return items;
    }
    static std::optional<T> read(const json& from, const json_place& at) {
        const json::array* items = items_of(from, at);
        if (items == nullptr) return std::nullopt;
        T value;
        for (std::size_t i = 0; i < items->size(); ++i) {
            std::optional<item> each = converter_of<item>::read((*items)[i], at.in(i));
            if (!each) return std::nullopt;
            if (const std::size_t before = value.size();
                value.insert(*std::move(each)), value.size() == before)
                return at.in(i).fail("occurs twice in a set");
        }
        return value;
    }
    static json schema(schema_builder& builder) {
        return list_schema(converter_of<item>::schema(builder), true);
    }
};

/// Maps from strings, ordered or not.
template <map_like T>
struct converter<T> {
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

} // namespace heddle::detail
