#include "tasks/definition/schema_requirements.hpp"

#include "tasks/output/json_pointer.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace heddle::tasks {

namespace {

namespace json = boost::json;

constexpr std::size_t max_schema_depth = 128; ///< as output_schema reads
constexpr std::size_t max_found = 50;         ///< names; a schema may be long

/// With one of these another schema may describe the members of the same value.
constexpr std::array<std::string_view, 13> combining{"$ref",
                                                     "$dynamicRef",
                                                     "allOf",
                                                     "anyOf",
                                                     "oneOf",
                                                     "not",
                                                     "if",
                                                     "then",
                                                     "else",
                                                     "dependencies",
                                                     "dependentSchemas",
                                                     "patternProperties",
                                                     "unevaluatedProperties"};

[[nodiscard]] std::string_view view_of(json::string_view text) {
    return {text.data(), text.size()};
}

class requirement_search {
public:
    /// Recursive: the depth is that of the JSON.
    void look_at(const json::value& schema, const std::string& pointer) {
        const json::object* object = schema.if_object();
        if (!object) return;
        for (const std::string_view word : combining) {
            if (object->contains({word.data(), word.size()})) return;
        }
        look_at_required(*object, pointer);
        look_below(*object, pointer);
    }

    std::vector<undescribed_name> take() { return std::move(found_); }

private:
    void look_at_required(const json::object& schema, const std::string& pointer) {
        const json::object* described = object_in(schema, "properties");
        const json::value* required = schema.if_contains("required");
        const json::value* others = schema.if_contains("additionalProperties");
        if (!described || described->empty() || !required || !required->is_array()) return;
        if (others && *others != json::value(false)) return;
        const json::array& names = required->get_array();
        for (std::size_t i = 0; i < names.size() && found_.size() < max_found; ++i) {
            const json::string* name = names[i].if_string();
            if (!name || described->contains(*name)) continue;
            undescribed_name& added = found_.emplace_back();
            added.name = view_of(*name);
            added.pointer = pointer + "/required/" + std::to_string(i);
            for (const auto& [property, meaning] : *described)
                added.properties.emplace_back(view_of(property));
        }
    }

    void look_below(const json::object& schema, const std::string& pointer) {
        if (const json::object* described = object_in(schema, "properties")) {
            for (const auto& [property, meaning] : *described) {
                std::string below = pointer + "/properties";
                append_pointer_token(below, view_of(property));
                look_at(meaning, below);
            }
        }
        for (const char* word : {"items", "prefixItems", "additionalProperties"}) {
            const json::value* below = schema.if_contains(word);
            if (!below) continue;
            const std::string place = pointer + "/" + word;
            look_at(*below, place);
            const json::array* list = below->if_array();
            for (std::size_t i = 0; list && i < list->size(); ++i)
                look_at((*list)[i], place + "/" + std::to_string(i));
        }
    }

    [[nodiscard]] static const json::object* object_in(const json::object& schema,
                                                       json::string_view word) {
        const json::value* found = schema.if_contains(word);
        return found ? found->if_object() : nullptr;
    }

    std::vector<undescribed_name> found_;
};

} // namespace

std::vector<undescribed_name> undescribed_names(std::string_view schema) {
    if (schema.find('{') == std::string_view::npos) return {}; // a basic name
    json::parse_options options;
    options.max_depth = max_schema_depth;
    boost::system::error_code failed;
    const json::value read = json::parse({schema.data(), schema.size()}, failed, {}, options);
    if (failed) return {};
    requirement_search search;
    search.look_at(read, {});
    return search.take();
}

} // namespace heddle::tasks
