// What a schema as a whole has to keep to, once all schemas in it were seen.
#include "tasks/output/json_pointer.hpp"
#include "tasks/output/schema_rewriter.hpp"

#include <heddle/base/utf8.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

namespace heddle::tasks {

namespace json = boost::json;

static constexpr std::size_t max_chain = 1'000;   ///< schemas in and behind each other
static constexpr std::size_t few_schemas = 2'000; ///< that a check may try of each value

/// The value at a JSON pointer; null when there is none.
[[nodiscard]] static json::value* find_place(json::value& document, std::string_view pointer) {
    const json::value* at = &document;
    for (const std::string& token : tokens_of_pointer(pointer)) {
        at = value_behind(*at, token);
        if (!at) return nullptr;
    }
    return const_cast<json::value*>(at); // in `document`
}

/// References may lead to places that no keyword leads to, as in documents that have other things
/// in them than a schema. There are more of them with each schema that is seen.
result<void> schema_rewriter::visit_referred(json::value& schema) {
    for (std::size_t i = 0; i < references_.size(); ++i) {
        const std::string target = references_[i];
        if (schemas_.contains(target)) continue;
        json::value* const place = find_place(schema, target);
        if (!place || (!place->is_object() && !place->is_bool()) ||
            target.find("heddle:") != target.npos)
            return refused(target, "is referred to but does not exist");
        strict_ = false; // services look for schemas where keywords lead to
        HEDDLE_CHECK(visit(*place, target, 1));
    }
    return {};
}

result<void> schema_rewriter::check_type(const json::value& content,
                                         const std::string& path) const {
    static constexpr std::array<std::string_view, 7> known{"array",  "boolean", "integer", "null",
                                                           "number", "object",  "string"};
    const auto is_known = [](const json::value& name) {
        return name.is_string() && std::find(known.begin(), known.end(),
                                             std::string_view(name.get_string())) != known.end();
    };
    const json::array* several = content.if_array();
    const json::value* wrong = nullptr;
    if (!several) wrong = is_known(content) ? nullptr : &content;
    for (std::size_t i = 0; several && i < several->size() && !wrong; ++i)
        wrong = is_known((*several)[i]) ? nullptr : &(*several)[i];
    if (!wrong) return {};
    return refused(path,
                   "has an unknown type: " + utf8::shortened(json::serialize(*wrong), 80) +
                       "; types are array, boolean, integer, null, number, object and string",
                   "type");
}

/// Where a walk along the edges comes back to; nothing: nowhere.
std::optional<std::string_view> schema_rewriter::find_cycle(const edges& graph) {
    enum class mark : std::uint8_t { open, done };
    std::map<std::string_view, mark> seen;
    for (const auto& [start, unused] : graph) {
        if (seen.contains(start)) continue;
        std::vector<std::pair<std::string_view, std::size_t>> path{{start, 0}};
        seen[start] = mark::open;
        while (!path.empty()) {
            auto& [at, next] = path.back();
            const std::vector<std::string>& targets = graph.find(at)->second;
            if (next == targets.size()) {
                seen[at] = mark::done;
                path.pop_back();
                continue;
            }
            const auto target = graph.find(targets[next++]);
            if (target == graph.end()) continue;
            const auto [known, fresh] = seen.try_emplace(target->first, mark::open);
            if (fresh) path.emplace_back(target->first, 0);
            else if (known->second == mark::open) return target->first;
        }
    }
    return std::nullopt;
}

/// References go to schemas that were seen, and following those that apply to the same value comes
/// to an end: a loop would be a recursion without end in the validator.
result<void> schema_rewriter::check_references() const {
    for (const std::string& target : references_) {
        if (!schemas_.contains(target)) return refused(target, "is referred to but does not exist");
    }
    if (const auto loop = find_cycle(schemas_)) return refused(*loop, "refers to itself");
    return {};
}

/// How many schemas the whole is, each reference replaced by what it leads to; at least, when there
/// are more than a few. `graph` has no cycles.
[[nodiscard]] static std::size_t written_out(
    const std::map<std::string, std::vector<std::string>, std::less<>>& graph) {
    std::size_t count = 0;
    std::vector<std::string_view> open{""};
    while (!open.empty() && count <= few_schemas) {
        const auto at = graph.find(open.back());
        open.pop_back();
        ++count;
        if (at != graph.end()) open.insert(open.end(), at->second.begin(), at->second.end());
    }
    return count;
}

/// Also with what is inside of a value.
bool schema_rewriter::is_multiplied() const {
    if (schemas_.size() > few_schemas) return true;
    if (references_.empty()) return false;
    edges all = schemas_;
    for (const auto& [path, unused] : schemas_) {
        std::string_view outer = path;
        while (!outer.empty()) {
            outer = outer.substr(0, outer.rfind('/'));
            const auto holder = all.find(outer);
            if (holder == all.end()) continue;
            std::vector<std::string>& inside = holder->second;
            if (std::find(inside.begin(), inside.end(), path) == inside.end())
                inside.push_back(path);
            break;
        }
    }
    return find_cycle(all) || written_out(all) > few_schemas;
}

/// The library reads a schema by calling itself, for what is inside of it and for what a reference
/// leads to the first time. In whatever order it goes, this is as deep as it can come.
result<void> schema_rewriter::check_depth() const {
    const std::set<std::string_view> targets(references_.begin(), references_.end());
    std::size_t chain = heights_.find("")->second + 1;
    for (const std::string_view each : targets) chain += heights_.find(each)->second + 1;
    if (chain > max_chain) return refused("", "refers to too many schemas with others in them");
    return {};
}

/// What the strict modes of services take; a schema with anything else is refused there with each
/// call.
static constexpr std::array<std::string_view, 23> strict_keywords{"$defs",
                                                                  "$ref",
                                                                  "$schema",
                                                                  "additionalProperties",
                                                                  "anyOf",
                                                                  "const",
                                                                  "definitions",
                                                                  "description",
                                                                  "enum",
                                                                  "exclusiveMaximum",
                                                                  "exclusiveMinimum",
                                                                  "format",
                                                                  "items",
                                                                  "maxItems",
                                                                  "maximum",
                                                                  "minItems",
                                                                  "minimum",
                                                                  "multipleOf",
                                                                  "pattern",
                                                                  "properties",
                                                                  "required",
                                                                  "title",
                                                                  "type"};

void schema_rewriter::look_at_keywords(const json::object& schema, std::string_view path) {
    for (const auto& member : schema) {
        const std::string_view name(member.key().data(), member.key().size());
        if (std::find(strict_keywords.begin(), strict_keywords.end(), name) ==
            strict_keywords.end()) {
            strict_ = false;
        }
    }
    if (path.empty() && schema.contains("anyOf")) strict_ = false; // the root is an object
}

void schema_rewriter::look_at_object(const json::object& schema) {
    const json::value* type = schema.if_contains("type");
    const json::value* properties = schema.if_contains("properties");
    const bool object = properties || (type && *type == json::value("object"));
    if (!object) return;
    const json::value* more = schema.if_contains("additionalProperties");
    const json::value* required = schema.if_contains("required");
    if (!more || *more != json::value(false) || !properties || !properties->is_object() ||
        !required || !required->is_array()) {
        strict_ = false;
        return;
    }
    std::set<json::string_view> names;
    for (const json::value& name : required->get_array()) {
        if (name.is_string()) names.insert(name.get_string());
    }
    for (const auto& [name, unused] : properties->get_object()) {
        if (!names.contains(name)) strict_ = false;
    }
}

} // namespace heddle::tasks
