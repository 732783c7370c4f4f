// Conversion of booleans, numbers, strings and JSON itself. Include heddle/convert.hpp.
#pragma once

#include <heddle/base/visibility.hpp>
#include <heddle/json_conversion.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace HEDDLE_PUBLIC heddle {
namespace detail {

/// Reads an integer, or a number without a fraction (1.0 is an integer in JSON Schema).
[[nodiscard]] std::optional<std::int64_t> read_integer(const json& from, std::int64_t min,
                                                       std::uint64_t max, const json_place& at);
/// Like read_integer, for integers from 0 to `max`; those above 2^63-1 are doubles.
[[nodiscard]] std::optional<std::uint64_t> read_unsigned(const json& from, std::uint64_t max,
                                                         const json_place& at);
[[nodiscard]] json write_unsigned(std::uint64_t value, const json_place& at);
[[nodiscard]] json integer_schema(bool is_signed, std::size_t bits);
[[nodiscard]] std::optional<double> read_number(const json& from, double max, const json_place& at);
[[nodiscard]] json write_number(double value, const json_place& at);
[[nodiscard]] json write_text(std::string text, const json_place& at);
/// Fails for what JSON text cannot express, and for values that are nested too deeply.
[[nodiscard]] json write_json(json value, const json_place& at);
[[nodiscard]] json type_schema(std::string_view type); ///< `{"type": type}`

template <>
struct converter<bool> {
    static json write(bool value, const json_place&) { return value; }
    static std::optional<bool> read(const json& from, const json_place& at) {
        if (const bool* truth = from.get_if<bool>()) return *truth;
        return at.expected("true or false", from);
    }
    static json schema(schema_builder&) { return type_schema("boolean"); }
};

template <json_integer T>
struct converter<T> {
    static json write(T value, const json_place& at) {
        if constexpr (std::unsigned_integral<T>) return write_unsigned(value, at);
        return static_cast<std::int64_t>(value);
    }
    static std::optional<T> read(const json& from, const json_place& at) {
        constexpr auto max = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
        if constexpr (std::unsigned_integral<T>) {
            if (const auto read = read_unsigned(from, max, at)) return static_cast<T>(*read);
        } else {
            constexpr std::int64_t min = std::numeric_limits<T>::min();
            if (const auto read = read_integer(from, min, max, at)) return static_cast<T>(*read);
        }
        return std::nullopt;
    }
    static json schema(schema_builder&) {
        return integer_schema(std::signed_integral<T>, sizeof(T) * 8);
    }
};

template <std::floating_point T>
struct converter<T> {
    static json write(T value, const json_place& at) {
        return write_number(static_cast<double>(value), at);
    }
    static std::optional<T> read(const json& from, const json_place& at) {
        constexpr double max = sizeof(T) < sizeof(double)
                                   ? static_cast<double>(std::numeric_limits<T>::max())
                                   : std::numeric_limits<double>::max();
        if (const auto number = read_number(from, max, at)) return static_cast<T>(*number);
        return std::nullopt;
    }
    static json schema(schema_builder&) { return type_schema("number"); }
};

template <>
struct converter<std::string> {
    static json write(std::string value, const json_place& at) {
        return write_text(std::move(value), at);
    }
    static std::optional<std::string> read(const json& from, const json_place& at) {
        if (const auto* text = from.get_if<std::string>()) return *text;
        return at.expected("a string", from);
    }
    static json schema(schema_builder&) { return type_schema("string"); }
};

/// Views are only written: a view that was read would dangle.
template <class T>
requires std::same_as<T, std::string_view> || std::same_as<T, const char*>
struct converter<T> {
    static json write(T value, const json_place& at) { return write_text(std::string(value), at); }
    static std::optional<T> read(const json&, const json_place&) {
        static_assert(always_false<T>,
                      "heddle only writes std::string_view and const char*, since what is read has "
                      "no other owner: read a std::string, or take one as a parameter");
    }
    static json schema(schema_builder&) { return type_schema("string"); }
};

template <>
struct converter<json> {
    static json write(json value, const json_place& at) { return write_json(std::move(value), at); }
    static std::optional<json> read(const json& from, const json_place&) { return from; }
    static json schema(schema_builder&) { return json::object(); }
};

template <>
struct converter<json_object> {
    static json write(json_object value, const json_place& at) {
        return write_json(std::move(value), at);
    }
    static std::optional<json_object> read(const json& from, const json_place& at) {
        if (const auto* object = from.get_if<json_object>()) return *object;
        return at.expected("an object", from);
    }
    static json schema(schema_builder&) { return type_schema("object"); }
};

template <class T>
requires std::same_as<T, std::nullptr_t> || std::same_as<T, std::monostate>
struct converter<T> {
    static json write(T, const json_place&) { return nullptr; }
    static std::optional<T> read(const json& from, const json_place& at) {
        if (from.is_null()) return T{};
        return at.expected("null", from);
    }
    static json schema(schema_builder&) { return type_schema("null"); }
};

} // namespace detail
} // namespace heddle
