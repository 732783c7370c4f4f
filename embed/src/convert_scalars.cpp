#include <heddle/convert_scalars.hpp>

#include <heddle/base/number_text.hpp>
#include <heddle/base/utf8.hpp>

#include <cmath>

namespace heddle::detail {

namespace {

constexpr std::size_t max_depth = 512; ///< as json_limits

constexpr double two_to_53 = 9007199254740992.0;

[[nodiscard]] bool is_whole(double number) noexcept {
    return std::isfinite(number) && std::trunc(number) == number;
}

[[nodiscard]] std::string range_text(const std::string& min, std::uint64_t max) {
    return "an integer from " + min + " to " + std::to_string(max);
}

/// Notes the first thing that JSON text cannot express.
void check_json(const json& value, const json_place& at, std::size_t depth) {
    if (at.failed()) return;
    if (depth > max_depth && (value.is_array() || value.is_object())) {
        at.fail("nested deeper than " + std::to_string(max_depth) + " levels",
                errc::limit_exceeded);
    } else if (const auto* number = value.get_if<double>()) {
        static_cast<void>(write_number(*number, at));
    } else if (const auto* text = value.get_if<std::string>()) {
        if (!utf8::is_valid(*text)) static_cast<void>(write_text(*text, at));
    } else if (const auto* items = value.get_if<json::array>()) {
        for (std::size_t i = 0; i < items->size(); ++i)
            check_json((*items)[i], at.in(i), depth + 1);
    } else if (const auto* members = value.get_if<json::object>()) {
        for (const json_member& member : *members) {
            const json_place here = at.in(member.name);
            if (!utf8::is_valid(member.name)) static_cast<void>(write_text(member.name, here));
            check_json(member.value, here, depth + 1);
        }
    }
}

} // namespace

std::optional<std::int64_t> read_integer(const json& from, std::int64_t min, std::uint64_t max,
                                         const json_place& at) {
    std::optional<std::int64_t> value;
    if (const auto* integer = from.get_if<std::int64_t>()) {
        value = *integer;
    } else if (const auto* number = from.get_if<double>(); number != nullptr && is_whole(*number)) {
        // A larger double is the nearest one of several integers.
        if (std::fabs(*number) > two_to_53)
            return at.expected(range_text(std::to_string(min), max), from);
        value = static_cast<std::int64_t>(*number);
    } else {
        return at.expected("an integer", from);
    }
    if (*value < min || *value > static_cast<std::int64_t>(max))
        return at.expected(range_text(std::to_string(min), max), from);
    return value;
}

std::optional<std::uint64_t> read_unsigned(const json& from, std::uint64_t max,
                                           const json_place& at) {
    if (const auto* integer = from.get_if<std::int64_t>()) {
        if (*integer >= 0 && static_cast<std::uint64_t>(*integer) <= max)
            return static_cast<std::uint64_t>(*integer);
    } else if (const auto* number = from.get_if<double>(); number != nullptr && is_whole(*number)) {
        if (*number >= 0 && *number <= two_to_53 && *number <= static_cast<double>(max))
            return static_cast<std::uint64_t>(*number);
    } else {
        return at.expected("an integer", from);
    }
    return at.expected(range_text("0", max), from);
}

json write_unsigned(std::uint64_t value, const json_place& at) {
    if (std::in_range<std::int64_t>(value)) return static_cast<std::int64_t>(value);
    at.fail("the integer " + std::to_string(value) + " is above the largest of JSON here, " +
            std::to_string(std::numeric_limits<std::int64_t>::max()));
    return {};
}

json integer_schema(bool is_signed, std::size_t bits) {
    json::object schema{{"type", "integer"}};
    if (is_signed && bits < 64) {
        const std::int64_t end = std::int64_t{1} << (bits - 1);
        schema.set("minimum", -end);
        schema.set("maximum", end - 1);
    } else if (!is_signed) {
        schema.set("minimum", 0);
        if (bits < 64) schema.set("maximum", (std::int64_t{1} << bits) - 1);
    }
    return schema;
}

std::optional<double> read_number(const json& from, double max, const json_place& at) {
    if (!from.is_number()) return at.expected("a number", from);
    const double number = from.as_double();
    if (!std::isfinite(number)) return at.expected("a finite number", from);
    if (std::fabs(number) > max)
        return at.expected("a number from -" + number_text(max) + " to " + number_text(max), from);
    return number;
}

json write_number(double value, const json_place& at) {
    if (!std::isfinite(value)) at.fail("JSON cannot express the number " + number_text(value));
    return value;
}

json write_text(std::string text, const json_place& at) {
    if (const std::size_t invalid = utf8::find_invalid(text); invalid != std::string::npos)
        at.fail("the string is not UTF-8: invalid bytes at offset " + std::to_string(invalid));
    return text;
}

json write_json(json value, const json_place& at) {
    check_json(value, at, 1);
    return value;
}

json type_schema(std::string_view type) { return json::object{{"type", type}}; }

} // namespace heddle::detail
