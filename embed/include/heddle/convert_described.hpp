// Conversion of structs and enums that Boost.Describe describes. Include heddle/convert.hpp.
#pragma once

#include <heddle/base/visibility.hpp>
#include <heddle/json_conversion.hpp>

#include <boost/describe/enumerators.hpp>
#include <boost/describe/members.hpp>
#include <boost/mp11/list.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace HEDDLE_PUBLIC heddle {
namespace detail {

/// Fails if a required member of the object is missing, or a member is unknown.
[[nodiscard]] bool check_members(const json::object& members,
                                 std::span<const std::string_view> known,
                                 std::span<const bool> required, const json_place& at);
[[nodiscard]] std::optional<std::size_t> read_enumerator(const json& from,
                                                         std::span<const std::string_view> names,
                                                         const json_place& at);
[[nodiscard]] json enum_schema(std::span<const std::string_view> names);
[[nodiscard]] json::object object_schema(std::span<const std::string_view> names,
                                         std::span<const bool> required, json::array members);

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// A unique name of the type.
template <class T>
[[nodiscard]] std::string_view type_key() {
    return __PRETTY_FUNCTION__; // clang 14 cannot use std::source_location of libstdc++ 12
}

/// The public members of a described struct, those of its bases first.
template <class T>
using described_members = boost::describe::describe_members<T, boost::describe::mod_public |
                                                                   boost::describe::mod_inherited>;

template <class T>
concept described_struct = std::is_class_v<T> && boost::describe::has_describe_members<T>::value &&
    std::is_default_constructible_v<T>;
template <class T>
concept described_enum = std::is_enum_v<T> && boost::describe::has_describe_enumerators<T>::value;

template <class T, class Members>
struct member_list;
template <class T, template <class...> class List, class... Member>
struct member_list<T, List<Member...>> {
    static constexpr std::size_t size = sizeof...(Member);
    template <class Each>
    using type_of = std::remove_cvref_t<decltype(std::declval<T&>().*Each::pointer)>;
    static constexpr std::array<std::string_view, size> names{Member::name...};
    static constexpr std::array<bool, size> required{!is_optional<type_of<Member>>...};

    static json write(const T& value, const json_place& at) {
        json::object members;
        members.reserve(size);
        (write_one<Member>(value, members, at), ...);
        return members;
    }
    static bool read(const json::object& members, T& value, const json_place& at) {
        return (read_one<Member>(members, value, at) && ...);
    }
    static json::array schemas(schema_builder& builder) {
        return {converter_of<type_of<Member>>::schema(builder)...};
    }

private:
    /// Absent members are not written.
    template <class Each>
    static void write_one(const T& value, json::object& members, const json_place& at) {
        const auto& content = value.*Each::pointer;
        if constexpr (is_optional<type_of<Each>>) {
            if (!content) return;
        }
        members.add(Each::name, converter_of<type_of<Each>>::write(content, at.in(Each::name)));
    }
    template <class Each>
    static bool read_one(const json::object& members, T& value, const json_place& at) {
        const json* member = members.find(Each::name);
        if (member == nullptr) return true; // check_members has checked it
        auto content = converter_of<type_of<Each>>::read(*member, at.in(Each::name));
        if (!content) return false;
        value.*Each::pointer = *std::move(content);
        return true;
    }
};
template <class T>
using members_in = member_list<T, described_members<T>>;

/// Objects with the members by name. A std::optional member can be missing.
template <described_struct T>
struct converter<T> {
    using list = members_in<T>;

    static json write(const T& value, const json_place& at) { return list::write(value, at); }
    static std::optional<T> read(const json& from, const json_place& at) {
        const auto* members = from.get_if<json::object>();
        if (members == nullptr) return at.expected("an object", from);
        if (!check_members(*members, list::names, list::required, at)) return std::nullopt;
        T value{};
        if (!list::read(*members, value, at)) return std::nullopt;
        return value;
    }
    static json schema(schema_builder& builder) {
        return builder.described(type_key<T>(), [&] {
            return json(object_schema(list::names, list::required, list::schemas(builder)));
        });
    }
};

template <class T, class Enumerators>
struct enumerator_list;
template <class T, template <class...> class List, class... Enumerator>
struct enumerator_list<T, List<Enumerator...>> {
    static constexpr std::array<std::string_view, sizeof...(Enumerator)> names{Enumerator::name...};
    static constexpr std::array<T, sizeof...(Enumerator)> values{Enumerator::value...};
};

/// Strings: the names of the enumerators.
template <described_enum T>
struct converter<T> {
    using list = enumerator_list<T, boost::describe::describe_enumerators<T>>;

    static json write(T value, const json_place& at) {
        for (std::size_t i = 0; i < list::values.size(); ++i) {
            if (list::values[i] == value) return list::names[i];
        }
        at.fail("an enumerator that is not described");
        return {};
    }
    static std::optional<T> read(const json& from, const json_place& at) {
        if (const auto index = read_enumerator(from, list::names, at)) return list::values[*index];
        return std::nullopt;
    }
    static json schema(schema_builder&) { return enum_schema(list::names); }
};

} // namespace detail
} // namespace heddle
