// Conversion of optionals and variants. Include heddle/convert.hpp.
#pragma once

#include <heddle/base/visibility.hpp>
#include <heddle/json_conversion.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace HEDDLE_PUBLIC heddle {
namespace detail {

[[nodiscard]] json any_of_schema(json::array alternatives);
/// How many attempts of alternatives may fail in all variants of `whole` together: proportional to
/// its size.
[[nodiscard]] trial_budget trials_for(const json& whole);

/// Absent values are null.
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

/// Reads the first alternative that fits.
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
        trial_budget own;
        if (at.trials() == nullptr) own = trials_for(from);
        trial_budget& budget = at.trials() ? *at.trials() : own;
        std::optional<type> value;
        std::string problems;
        (try_one<T>(from, at, budget, value, problems) || ...);
        if (value) return value;
        if (budget.left == 0)
            return at.fail("too many alternatives would have to be tried", errc::limit_exceeded);
        return at.fail("fits none of the alternatives: " + problems);
    }
    static json schema(schema_builder& builder) {
        return any_of_schema({converter_of<T>::schema(builder)...});
    }

private:
    template <class One>
    static bool try_one(const json& from, const json_place& at, trial_budget& budget,
                        std::optional<type>& value, std::string& problems) {
        if (budget.left == 0) return false;
        std::optional<error> failure;
        if (auto one = converter_of<One>::read(from, at.trial(failure, budget))) {
            value.emplace(std::in_place_type<One>, *std::move(one));
            return true;
        }
        if (budget.left != 0) --budget.left;
        constexpr std::size_t max_problems = 2000; // bytes: those of the inner ones are in each
        if (problems.size() < max_problems) {
            if (!problems.empty()) problems += "; ";
            if (failure) problems += failure->message();
        }
        return false;
    }
};

} // namespace detail
} // namespace heddle
