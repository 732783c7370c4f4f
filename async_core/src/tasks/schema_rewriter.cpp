#include "schema_rewriter.hpp"

#include <heddle/base/utf8.hpp>

#include <re2/re2.h>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace heddle::tasks {

namespace {

namespace json = boost::json;

constexpr std::size_t deepest = 64;
constexpr std::size_t most_schemas = 10'000;

enum class holds : std::uint8_t { schema, same_value, schemas, same_value_list };

struct keyword_row {
    std::string_view name;
    holds what;
};

constexpr std::array<keyword_row, 16> keywords{{
    {"properties", holds::schemas},
    {"definitions", holds::schemas},
    {"$defs", holds::schemas},
    {"dependencies", holds::schemas},
    {"items", holds::schema},
    {"additionalItems", holds::schema},
    {"additionalProperties", holds::schema},
    {"contains", holds::schema},
    {"propertyNames", holds::schema},
    {"not", holds::same_value},
    {"if", holds::same_value},
    {"then", holds::same_value},
    {"else", holds::same_value},
    {"allOf", holds::same_value_list},
    {"anyOf", holds::same_value_list},
    {"oneOf", holds::same_value_list},
}};

/// Keywords of later drafts and others that would be accepted and not checked.
constexpr std::array<std::string_view, 11> unsupported{"patternProperties",
                                                       "prefixItems",
                                                       "unevaluatedProperties",
                                                       "unevaluatedItems",
                                                       "dependentRequired",
                                                       "dependentSchemas",
                                                       "minContains",
                                                       "maxContains",
                                                       "$dynamicRef",
                                                       "$recursiveRef",
                                                       "$anchor"};

[[nodiscard]] error refused(std::string_view path, std::string_view why) {
    return error(errc::invalid_argument,
                 "the schema at \"" + utf8::shortened(path, 200) + "\" " + std::string(why));
}

/// A name as a part of a JSON pointer.
[[nodiscard]] std::string escaped(std::string_view name) {
    std::string out;
    for (const char c : name) {
        if (c == '~') out += "~0";
        else if (c == '/') out += "~1";
        else out += c;
    }
    return out;
}

} // namespace

result<void> schema_rewriter::rewrite(json::value& schema) {
    HEDDLE_CHECK(visit(schema, "", 0));
    return check_references();
}

result<void> schema_rewriter::visit(json::value& schema, const std::string& path,
                                    std::size_t depth) {
    if (depth > deepest) return refused(path, "is nested too deep");
    if (schemas_.size() >= most_schemas) return refused(path, "is too large");
    schemas_[path];
    if (schema.is_bool()) {
        strict_ = false;
        return {};
    }
    json::object* object = schema.if_object();
    if (!object) return refused(path, "must be an object");
    for (const std::string_view name : unsupported) {
        if (object->contains({name.data(), name.size()})) {
            return refused(path, "uses " + std::string(name) + ", which is not supported");
        }
    }
    look_at_object(*object);
    for (auto& [name, content] : *object) {
        HEDDLE_CHECK(visit_keyword(content, {name.data(), name.size()}, path, depth));
    }
    object->erase("format");
    if (const json::value* pattern = object->if_contains("pattern")) {
        json::value moved = *pattern;
        object->erase("pattern");
        (*object)[{safe_pattern_key.data(), safe_pattern_key.size()}] = std::move(moved);
    }
    if (const json::value* unique = object->if_contains("uniqueItems")) {
        const bool wanted = unique->is_bool() && unique->get_bool();
        object->erase("uniqueItems");
        if (wanted) (*object)[{safe_unique_key.data(), safe_unique_key.size()}] = true;
    }
    return {};
}

result<void> schema_rewriter::visit_keyword(json::value& content, std::string_view keyword,
                                            const std::string& path, std::size_t depth) {
    if (keyword == "pattern") {
        if (!content.is_string()) return refused(path, "has a pattern that is no string");
        RE2::Options options;
        options.set_log_errors(false);
        const RE2 pattern({content.get_string().data(), content.get_string().size()}, options);
        if (!pattern.ok()) return refused(path, "has a bad pattern: " + pattern.error());
        return {};
    }
    if (keyword == "$ref") {
        const std::string target =
            content.is_string() ? std::string(content.get_string().c_str()) : std::string();
        if (target != "#" && !target.starts_with("#/")) {
            return refused(path, "has a $ref that does not begin with \"#/\"");
        }
        references_.push_back(target.substr(1));
        schemas_[path].push_back(target.substr(1));
        return {};
    }
    const auto row = std::find_if(keywords.begin(), keywords.end(),
                                  [&](const keyword_row& known) { return known.name == keyword; });
    if (row == keywords.end()) return {};
    const std::string inside = path + "/" + std::string(keyword);
    switch (row->what) {
    case holds::same_value:
        strict_ = false;
        schemas_[path].push_back(inside);
        break;
    case holds::schema: break;
    case holds::schemas: {
        if (!content.is_object()) return refused(inside, "must be an object");
        for (auto& [name, schema] : content.get_object()) {
            if (keyword == "dependencies" && schema.is_array()) continue; // names of properties
            HEDDLE_CHECK(
                visit(schema, inside + "/" + escaped({name.data(), name.size()}), depth + 1));
        }
        return {};
    }
    case holds::same_value_list: {
        if (!content.is_array()) return refused(inside, "must be an array");
        if (keyword != "anyOf") strict_ = false;
        std::size_t index = 0;
        for (json::value& schema : content.get_array()) {
            std::string element = inside + "/" + std::to_string(index++);
            schemas_[path].push_back(element);
            HEDDLE_CHECK(visit(schema, element, depth + 1));
        }
        return {};
    }
    }
    if (content.is_array() && keyword == "items") { // one schema for each element
        strict_ = false;
        std::size_t index = 0;
        for (json::value& schema : content.get_array()) {
            HEDDLE_CHECK(visit(schema, inside + "/" + std::to_string(index++), depth + 1));
        }
        return {};
    }
    const bool was_strict = strict_;
    HEDDLE_CHECK(visit(content, inside, depth + 1));
    if (keyword == "additionalProperties" && content.is_bool()) strict_ = was_strict;
    return {};
}

/// References go to schemas that were seen, and following those that apply to the same value comes
/// to an end: a loop would be a recursion without end in the validator.
result<void> schema_rewriter::check_references() const {
    for (const std::string& target : references_) {
        if (!schemas_.contains(target)) return refused(target, "is referred to and is not there");
    }
    enum class mark : std::uint8_t { open, done };
    std::map<std::string_view, mark> seen;
    for (const auto& [start, unused] : schemas_) {
        if (seen.contains(start)) continue;
        std::vector<std::pair<std::string_view, std::size_t>> path{{start, 0}};
        seen[start] = mark::open;
        while (!path.empty()) {
            auto& [at, next] = path.back();
            const std::vector<std::string>& edges = schemas_.find(at)->second;
            if (next == edges.size()) {
                seen[at] = mark::done;
                path.pop_back();
                continue;
            }
            const auto target = schemas_.find(edges[next++]);
            if (target == schemas_.end()) continue;
            const auto [known, fresh] = seen.try_emplace(target->first, mark::open);
            if (fresh) path.emplace_back(target->first, 0);
            else if (known->second == mark::open) return refused(target->first, "refers to itself");
        }
    }
    return {};
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
