#include <heddle/json_place.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/json_string.hpp>
#include <heddle/base/number_text.hpp>
#include <heddle/base/utf8.hpp>

#include <algorithm>
#include <vector>

namespace heddle {

namespace {

constexpr std::size_t max_shown = 60; ///< bytes of a string or name that is quoted

/// A name that needs no quotes in a path, among them those of Lisp.
[[nodiscard]] bool is_plain(std::string_view name) noexcept {
    return !name.empty() && name.size() <= max_shown &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return ascii::is_letter(c) || ascii::is_digit(c) || c == '_' || c == '-';
           });
}

[[nodiscard]] std::string quoted(std::string_view text) {
    return json_string(utf8::shortened(text, max_shown));
}

[[nodiscard]] std::string described(const json& value) {
    switch (value.kind()) {
    case json_kind::null: return "null";
    case json_kind::boolean: return value.as_bool() ? "true" : "false";
    case json_kind::integer: return std::to_string(value.as_int());
    case json_kind::number: return number_text(value.as_double());
    case json_kind::string: return "the string " + quoted(value.as_string());
    case json_kind::array:
        return "an array of " + std::to_string(value.as_array().size()) + " elements";
    case json_kind::object: return "an object";
    }
    return {};
}

} // namespace

std::string json_place::path() const {
    std::vector<const json_place*> places;
    for (const json_place* at = this; at != nullptr; at = at->outer_) places.push_back(at);
    std::string text;
    constexpr std::size_t ends = 8; // of a deep path only its ends are shown
    for (std::size_t i = places.size(); i-- > 0;) {
        if (places.size() > 2 * ends && i + ends + 1 == places.size()) {
            text += "…";
            i = ends - 1;
        }
        const json_place& place = *places[i];
        if (place.index_ != none) {
            text += "[" + std::to_string(place.index_) + "]";
        } else if (place.outer_ == nullptr) {
            text += place.name_;
        } else if (is_plain(place.name_)) {
            text += (text.empty() ? "" : ".") + std::string(place.name_);
        } else {
            text += "[" + quoted(place.name_) + "]";
        }
    }
    return text;
}

std::nullopt_t json_place::expected(std::string_view what, const json& found) const {
    if (failed()) return std::nullopt;
    return fail("expected " + std::string(what) + " but found " + described(found));
}

std::nullopt_t json_place::fail(std::string_view problem, errc code) const {
    return fail(error(code, std::string(problem)));
}

std::nullopt_t json_place::fail(const error& failure) const {
    if (failed()) return std::nullopt;
    const std::string where = path();
    if (where.empty()) {
        *failure_ = failure;
    } else {
        *failure_ =
            error(failure.code(), where + ": " + failure.message()).with_hint(failure.info().hint);
    }
    return std::nullopt;
}

} // namespace heddle
