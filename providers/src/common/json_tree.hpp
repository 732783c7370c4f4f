// The tree of a JSON text that a service sent: read-only, as small as it can be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

// A tree of Boost.JSON owns each of its parts and can change. The responses of services are read
// once and dropped, so here all parts are views into memory that a json_reader keeps, or into the
// text itself. What is known of Boost.JSON's types in other files has the same names.
namespace heddle::providers::json_tree {

enum class kind : std::uint8_t { null, bool_, int64, uint64, double_, string, array, object };

using string = std::string_view;

class value;
struct key_value;

/// Parts of the tree that stand in one block. Copies are cheap and refer to the same parts.
template <class Part>
class parts {
public:
    parts() = default;
    parts(const Part* first, std::size_t size) noexcept : first_(first), size_(size) {}

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] const Part* begin() const noexcept { return first_; }
    [[nodiscard]] const Part* end() const noexcept { return first_ + size_; }
    [[nodiscard]] const Part& front() const noexcept { return *first_; }
    [[nodiscard]] const Part& operator[](std::size_t at) const noexcept { return first_[at]; }

private:
    const Part* first_ = nullptr;
    std::size_t size_ = 0;
};

/// The elements of an array.
using array = parts<value>;

/// The members of an object, in the order of the text.
class members : public parts<key_value> {
public:
    using parts<key_value>::parts;

    /// Null when there is no such member. Of several with one name the last counts. Takes time in
    /// proportion to the number of members: ask for a fixed number of names.
    [[nodiscard]] inline const value* if_contains(std::string_view name) const noexcept;
};
using object = members;

/// A value of the tree. The functions get_… require its kind; those named if_… return null for
/// another kind.
class value {
public:
    value() noexcept : bool_(false) {}
    explicit value(bool given) noexcept : kind_(json_tree::kind::bool_), bool_(given) {}
    explicit value(std::int64_t given) noexcept : kind_(json_tree::kind::int64), int64_(given) {}
    explicit value(std::uint64_t given) noexcept : kind_(json_tree::kind::uint64), uint64_(given) {}
    explicit value(double given) noexcept : kind_(json_tree::kind::double_), double_(given) {}
    explicit value(std::string_view given) noexcept
        : kind_(json_tree::kind::string), string_(given) {}
    explicit value(json_tree::array given) noexcept
        : kind_(json_tree::kind::array), array_(given) {}
    explicit value(json_tree::object given) noexcept
        : kind_(json_tree::kind::object), object_(given) {}

    [[nodiscard]] json_tree::kind kind() const noexcept { return kind_; }
    [[nodiscard]] bool is_null() const noexcept { return kind_ == json_tree::kind::null; }
    [[nodiscard]] bool is_bool() const noexcept { return kind_ == json_tree::kind::bool_; }
    [[nodiscard]] bool is_int64() const noexcept { return kind_ == json_tree::kind::int64; }
    [[nodiscard]] bool is_uint64() const noexcept { return kind_ == json_tree::kind::uint64; }
    [[nodiscard]] bool is_double() const noexcept { return kind_ == json_tree::kind::double_; }
    [[nodiscard]] bool is_number() const noexcept {
        return is_int64() || is_uint64() || is_double();
    }
    [[nodiscard]] bool is_string() const noexcept { return kind_ == json_tree::kind::string; }
    [[nodiscard]] bool is_array() const noexcept { return kind_ == json_tree::kind::array; }
    [[nodiscard]] bool is_object() const noexcept { return kind_ == json_tree::kind::object; }

    [[nodiscard]] bool get_bool() const noexcept { return bool_; }
    [[nodiscard]] std::int64_t get_int64() const noexcept { return int64_; }
    [[nodiscard]] std::uint64_t get_uint64() const noexcept { return uint64_; }
    [[nodiscard]] double get_double() const noexcept { return double_; }
    [[nodiscard]] std::string_view get_string() const noexcept { return string_; }
    [[nodiscard]] const json_tree::array& get_array() const noexcept { return array_; }
    [[nodiscard]] const json_tree::object& get_object() const noexcept { return object_; }

    [[nodiscard]] const std::int64_t* if_int64() const noexcept {
        return is_int64() ? &int64_ : nullptr;
    }
    [[nodiscard]] const std::string_view* if_string() const noexcept {
        return is_string() ? &string_ : nullptr;
    }
    [[nodiscard]] const json_tree::array* if_array() const noexcept {
        return is_array() ? &array_ : nullptr;
    }
    [[nodiscard]] const json_tree::object* if_object() const noexcept {
        return is_object() ? &object_ : nullptr;
    }

private:
    json_tree::kind kind_ = json_tree::kind::null;
    union {
        bool bool_;
        std::int64_t int64_;
        std::uint64_t uint64_;
        double double_;
        std::string_view string_;
        json_tree::array array_;
        json_tree::object object_;
    };
};

struct key_value {
    std::string_view key;
    value item;
};

inline const value* members::if_contains(std::string_view name) const noexcept {
    for (const key_value* each = end(); each != begin();) {
        --each;
        if (each->key == name) return &each->item;
    }
    return nullptr;
}

} // namespace heddle::providers::json_tree
