// How C++ types and JSON correspond: the point where hosts add types of their own.
#pragma once

#include <heddle/base/visibility.hpp>
#include <heddle/json.hpp>
#include <heddle/json_place.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace HEDDLE_PUBLIC heddle {

/// The conversion of a type of the host that is neither described by Boost.Describe nor built in.
/// Specialise it with
///
///     static json to(const T&);            // may throw error_exception
///     static result<T> from(const json&);  // an error's message is prefixed with the path
///     static json schema();                // JSON Schema
///
/// A type that is only written needs no `from`, and a type that is only read needs no `to`. A
/// specialisation also replaces the conversion of a described or built-in type.
template <class T>
struct json_conversion;

/// Collects the definitions of recursive types, to which a schema refers.
class schema_builder {
public:
    /// The schema that `make` returns, or a reference to it while `make` for the same type is
    /// running.
    template <class Make>
    [[nodiscard]] json described(std::string_view type, const Make& make) {
        if (is_open(type)) return reference(type);
        open_.emplace_back(type, false);
        json schema = make();
        return close(std::move(schema));
    }
    /// The schema with the definitions that it refers to.
    [[nodiscard]] json complete(json schema) const;

private:
    [[nodiscard]] bool is_open(std::string_view type) const noexcept;
    [[nodiscard]] json reference(std::string_view type);
    [[nodiscard]] json close(json schema);

    std::vector<std::pair<std::string, bool>> open_; ///< the type, whether it was referred to
    json::object definitions_;
};

namespace detail {

template <class T>
inline constexpr bool always_false = false;

/// What the library converts: write, read and schema of one type.
template <class T>
struct converter {
    static_assert(always_false<T>,
                  "heddle cannot convert this type from and to JSON: describe the struct or enum "
                  "with BOOST_DESCRIBE_STRUCT or BOOST_DESCRIBE_ENUM, or specialise "
                  "heddle::json_conversion for it");
};

template <class T>
concept custom_converted = requires {
    { json_conversion<T>::schema() } -> std::convertible_to<json>;
};

template <class T>
struct custom_converter {
    static json write(const T& value, const json_place& at) {
        try {
            return json_conversion<T>::to(value);
        } catch (const error_exception& thrown) {
            at.fail(thrown.failure());
            return {};
        }
    }
    static std::optional<T> read(const json& from, const json_place& at) {
        result<T> value = json_conversion<T>::from(from);
        if (!value) return at.fail(value.error());
        return *std::move(value);
    }
    static json schema(schema_builder&) { return json_conversion<T>::schema(); }
};

template <class T>
struct converter_choice {
    using type = converter<T>;
};
template <custom_converted T>
struct converter_choice<T> {
    using type = custom_converter<T>;
};
template <class T>
using converter_of = typename converter_choice<T>::type;

} // namespace detail
} // namespace heddle
