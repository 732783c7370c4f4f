// Conversion of optionals and variants. Include heddle/convert.hpp.
#pragma once

#include <heddle/json_conversion.hpp>

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace heddle::detail {

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

} // namespace heddle::detail
