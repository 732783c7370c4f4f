// JSON data as a value type.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/visibility.hpp>
#include <heddle/json_object.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace HEDDLE_PUBLIC heddle {

enum class json_kind : std::uint8_t { null, boolean, integer, number, string, array, object };

/// "null", "boolean", "integer", "number", "string", "array", "object".
[[nodiscard]] std::string_view to_string(json_kind kind) noexcept;

/// Bounds of a JSON text that is parsed.
struct json_limits {
    std::size_t max_bytes = 64 * 1024 * 1024;
    std::size_t max_depth = 512; ///< nested arrays and objects
};

/// Character types are text or unsupported, not numbers.
template <class T>
concept json_integer = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                       !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                       !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

/// A JSON value: plain data without references. Inputs, answers and the arguments of functions are
/// of this type.
///
/// 64-bit integers are exact and distinct from other numbers: 1 and 1.0 differ. Values that the
/// host builds can contain what JSON text cannot express, such as NaN or invalid UTF-8; see
/// to_string. Copying, comparing and destroying are recursive: parse bounds the depth of untrusted
/// data, and the host should not build values nested ten thousand levels deep.
/// Threads: different objects can be used on different threads.
class json {
public:
    using array = std::vector<json>;
    using object = json_object;

    json() noexcept = default; ///< null
    json(std::nullptr_t) noexcept {}
    json(std::same_as<bool> auto truth) noexcept : data_(truth) {}
    /// An unsigned integer above 2^63-1 becomes the nearest double, as in parse.
    json(json_integer auto integer) noexcept : data_(integer_data(integer)) {}
    json(std::floating_point auto number) noexcept : data_(static_cast<double>(number)) {}
    json(std::string text) noexcept : data_(std::move(text)) {}
    json(std::string_view text) : data_(std::string(text)) {}
    json(const char* text) : data_(std::string(text)) {} ///< must not be null
    json(array items) noexcept : data_(std::move(items)) {}
    json(object members) noexcept : data_(std::move(members)) {}

    /// Reads one JSON text (RFC 8259; a byte order mark is skipped). An integer that does not fit
    /// in 64 bits becomes the nearest double.
    /// Errors: invalid_argument with line, column and what was found, also for duplicate names in
    /// an object and invalid UTF-8; limit_exceeded.
    [[nodiscard]] static result<json> parse(std::string_view text, const json_limits& limits = {});

    /// The value as JSON text, on one line or with `indent` spaces per level. A double is written
    /// with a point or an exponent. What JSON cannot express is replaced: NaN and infinities with
    /// null, invalid UTF-8 with U+FFFD.
    [[nodiscard]] std::string to_string(unsigned indent = 0) const;

    [[nodiscard]] json_kind kind() const noexcept { return static_cast<json_kind>(data_.index()); }
    [[nodiscard]] bool is_null() const noexcept { return kind() == json_kind::null; }
    [[nodiscard]] bool is_bool() const noexcept { return kind() == json_kind::boolean; }
    [[nodiscard]] bool is_int() const noexcept { return kind() == json_kind::integer; }
    [[nodiscard]] bool is_double() const noexcept { return kind() == json_kind::number; }
    [[nodiscard]] bool is_number() const noexcept { return is_int() || is_double(); }
    [[nodiscard]] bool is_string() const noexcept { return kind() == json_kind::string; }
    [[nodiscard]] bool is_array() const noexcept { return kind() == json_kind::array; }
    [[nodiscard]] bool is_object() const noexcept { return kind() == json_kind::object; }

    /// The content as T, one of bool, std::int64_t, double, std::string, array and object; null if
    /// the value has another type.
    template <class T>
    [[nodiscard]] const T* get_if() const noexcept {
        return std::get_if<T>(&data_);
    }
    template <class T>
    [[nodiscard]] T* get_if() noexcept {
        return std::get_if<T>(&data_);
    }

    /// The content of a value of known type. Throws error_exception if the type is another one. For
    /// untrusted data, use from_json or get_if.
    [[nodiscard]] bool as_bool() const { return as<bool>(json_kind::boolean); }
    [[nodiscard]] std::int64_t as_int() const { return as<std::int64_t>(json_kind::integer); }
    [[nodiscard]] double as_double() const; ///< also for an integer
    [[nodiscard]] const std::string& as_string() const {
        return as<std::string>(json_kind::string);
    }
    [[nodiscard]] const array& as_array() const { return as<array>(json_kind::array); }
    [[nodiscard]] array& as_array() { return as<array>(json_kind::array); }
    [[nodiscard]] const object& as_object() const { return as<object>(json_kind::object); }
    [[nodiscard]] object& as_object() { return as<object>(json_kind::object); }

    /// The member of an object; null if there is no such member or the value is not an object.
    [[nodiscard]] const json* find(std::string_view name) const noexcept;
    [[nodiscard]] json* find(std::string_view name) noexcept;
    /// The member of an object, or the element of an array. Throws error_exception if there is
    /// none.
    [[nodiscard]] const json& at(std::string_view name) const;
    [[nodiscard]] const json& at(std::size_t index) const;

    /// Numbers are equal if type and value are equal; objects, if they have equal members in any
    /// order.
    friend bool operator==(const json& one, const json& other) { return one.data_ == other.data_; }

private:
    using data =
        std::variant<std::monostate, bool, std::int64_t, double, std::string, array, object>;

    template <class T>
    [[nodiscard]] static data integer_data(T integer) noexcept {
        if (std::in_range<std::int64_t>(integer)) return static_cast<std::int64_t>(integer);
        return static_cast<double>(integer);
    }
    template <class T>
    [[nodiscard]] const T& as(json_kind wanted) const {
        if (const T* content = get_if<T>()) return *content;
        throw_other_kind(wanted);
    }
    template <class T>
    [[nodiscard]] T& as(json_kind wanted) {
        if (T* content = get_if<T>()) return *content;
        throw_other_kind(wanted);
    }
    [[noreturn]] void throw_other_kind(json_kind wanted) const;

    data data_;
};

/// One member of an object.
struct json_member {
    std::string name;
    json value;

    friend bool operator==(const json_member&, const json_member&) = default;
};

inline json_object::json_object() noexcept = default;
inline json_object::json_object(const json_object& other) = default;
inline json_object::json_object(json_object&& other) noexcept = default;
inline json_object& json_object::operator=(const json_object& other) = default;
inline json_object& json_object::operator=(json_object&& other) noexcept = default;
inline json_object::~json_object() = default;

inline std::size_t json_object::size() const noexcept { return members_.size(); }
inline json_object::const_iterator json_object::begin() const noexcept { return members_.data(); }
inline json_object::const_iterator json_object::end() const noexcept {
    return members_.data() + members_.size();
}

} // namespace heddle
