// The members of a JSON object. Include heddle/json.hpp.
#pragma once

#include <heddle/base/visibility.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace HEDDLE_PUBLIC heddle {

class json;
struct json_member;

/// Members in insertion order, with unique names. Finding a member takes constant time, whatever
/// the names are.
/// Threads: different objects can be used on different threads.
class json_object {
public:
    using const_iterator = const json_member*;

    json_object() noexcept;
    /// If two members have the same name, the later one is used.
    json_object(std::initializer_list<json_member> members);
    json_object(const json_object& other);
    json_object(json_object&& other) noexcept;
    json_object& operator=(const json_object& other);
    json_object& operator=(json_object&& other) noexcept;
    ~json_object();

    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] const_iterator begin() const noexcept;
    [[nodiscard]] const_iterator end() const noexcept;
    void reserve(std::size_t count);

    /// The value of the member, or null. Valid until a member is added or removed.
    [[nodiscard]] const json* find(std::string_view name) const noexcept;
    [[nodiscard]] json* find(std::string_view name) noexcept;
    [[nodiscard]] bool contains(std::string_view name) const noexcept {
        return find(name) != nullptr;
    }

    /// Adds a member at the end, or replaces the value of an existing one.
    json& set(std::string name, json value);
    /// Adds a member at the end. Returns false, and changes nothing, if the name exists.
    bool add(std::string name, json value);
    /// Returns false if there was no such member. Linear in the number of members.
    bool erase(std::string_view name);

    /// Equal members, in any order.
    friend bool operator==(const json_object& one, const json_object& other) {
        return one.equals(other);
    }

private:
    [[nodiscard]] std::size_t index_of(std::string_view name) const noexcept;
    [[nodiscard]] std::size_t slot_of(std::string_view name) const noexcept;
    [[nodiscard]] bool equals(const json_object& other) const;
    json& append(std::string name, json value);
    void build_index();

    std::vector<json_member> members_;
    // Open addressing: number of a member plus one, or 0. Empty while the members are few.
    std::vector<std::uint32_t> slots_;
};

} // namespace heddle
