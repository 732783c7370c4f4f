#include <heddle/convert_containers.hpp>

namespace heddle::detail {

const json::array* items_of(const json& from, const json_place& at) {
    const auto* items = from.get_if<json::array>();
    if (items == nullptr) at.expected("an array", from);
    return items;
}

const json::array* items_of(const json& from, std::size_t count, const json_place& at) {
    const auto* items = from.get_if<json::array>();
    if (items != nullptr && items->size() == count) return items;
    at.expected("an array of " + std::to_string(count) + " elements", from);
    return nullptr;
}

const json::object* members_of(const json& from, const json_place& at) {
    const auto* members = from.get_if<json::object>();
    if (members == nullptr) at.expected("an object", from);
    return members;
}

json list_schema(json items, bool unique) {
    json::object schema{{"type", "array"}, {"items", std::move(items)}};
    if (unique) schema.set("uniqueItems", true);
    return schema;
}

json tuple_schema(json::array items) {
    const std::size_t count = items.size();
    return json::object{{"type", "array"},
                        {"prefixItems", std::move(items)},
                        {"minItems", count},
                        {"maxItems", count}};
}

} // namespace heddle::detail
