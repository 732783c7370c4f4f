#include "tasks/output/tuple_pointers.hpp"

#include <heddle/base/parse_number.hpp>

#include "tasks/output/json_pointer.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <array>

namespace heddle::tasks {

namespace json = boost::json;

namespace {

struct name_pair {
    std::string_view written;
    std::string_view rewritten;
};

/// `additionalItems` next to a tuple is dropped: a reference to it leads nowhere.
constexpr std::array<name_pair, 3> names{{{"prefixItems", "items"},
                                          {"items", "additionalItems"},
                                          {"additionalItems", "heddle:additionalItems"}}};

/// A list: otherwise it is the name of a property.
[[nodiscard]] bool is_tuple(const json::value& schema) {
    const json::object* object = schema.if_object();
    const json::value* first = object ? object->if_contains("prefixItems") : nullptr;
    return first && first->is_array();
}

[[nodiscard]] bool holds_tuple(const json::value& value) {
    if (const json::array* list = value.if_array())
        return std::any_of(list->begin(), list->end(), holds_tuple);
    const json::object* object = value.if_object();
    return object && (is_tuple(value) ||
                      std::any_of(object->begin(), object->end(),
                                  [](const auto& member) { return holds_tuple(member.value()); }));
}

} // namespace

const json::value* value_behind(const json::value& from, const std::string& token) {
    if (const json::object* object = from.if_object()) return object->if_contains(token);
    const json::array* list = from.if_array();
    if (!list) return nullptr;
    const auto index = parse_number<std::size_t>(token);
    const bool plain = index && (token == "0" || !token.starts_with('0'));
    return plain && *index < list->size() ? &(*list)[*index] : nullptr;
}

void tuple_pointers::remember(const json::value& schema) {
    if (holds_tuple(schema)) schema_ = schema;
}

std::string tuple_pointers::rewritten(std::string_view pointer) const {
    return translated(pointer, false);
}

std::string tuple_pointers::written(std::string_view pointer) const {
    return translated(pointer, true);
}

std::string tuple_pointers::translated(std::string_view pointer, bool back) const {
    if (!schema_) return std::string(pointer);
    std::string result;
    const json::value* at = &*schema_; // in the schema as it was written
    for (std::string& token : tokens_of_pointer(pointer)) {
        std::string other = token;
        if (at && is_tuple(*at)) {
            for (const name_pair& each : names) {
                if (token == (back ? each.rewritten : each.written))
                    other = back ? each.written : each.rewritten;
            }
        }
        append_pointer_token(result, other);
        if (at) at = value_behind(*at, back ? other : token);
    }
    return result;
}

} // namespace heddle::tasks
