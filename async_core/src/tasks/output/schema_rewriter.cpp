#include "tasks/output/schema_rewriter.hpp"

#include "tasks/output/json_pointer.hpp"
#include "tasks/output/shape_check.hpp"

#include <heddle/base/utf8.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace heddle::tasks {

namespace {

namespace json = boost::json;

constexpr std::size_t deepest = 64;
constexpr std::size_t max_schemas = 10'000;
constexpr std::size_t max_path = 2'048;      ///< bytes of the JSON pointer of a schema
constexpr std::size_t members_of_a_step = 4; ///< so many cost as much as the check of one schema
constexpr std::size_t bytes_of_a_member = 64;

/// Reading one, in units of a meter.
constexpr std::uint64_t units_of_a_schema = 1'000;

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
constexpr std::array<std::string_view, 11> unsupported{
    "patternProperties",
    "prefixItems", // of a draft without it
    "unevaluatedProperties", "unevaluatedItems", "dependentRequired",
    "dependentSchemas",      "minContains",      "maxContains",
    "$dynamicRef",           "$recursiveRef",    "$anchor"};

/// The names of a list, a long one as several: each is looked up.
[[nodiscard]] std::size_t names_in(const json::array& list) {
    std::size_t names = list.size();
    for (const json::value& each : list) {
        if (const json::string* name = each.if_string()) names += name->size() / bytes_of_a_member;
    }
    return names;
}

/// Steps that a check by `schema` takes, without those by the schemas in it.
[[nodiscard]] std::int64_t effort_of(const json::object& schema) {
    std::size_t members = 0;
    for (const auto& [name, content] : schema) {
        if (name == "enum" || name == "const") continue; // counted by what is looked up
        if (const json::array* list = content.if_array()) members += names_in(*list);
        const json::object* object = content.if_object();
        if (object) members += object->size();
        if (!object || name != "dependencies") continue;
        for (const auto& [needs, needed] : *object) {
            if (const json::array* list = needed.if_array()) members += names_in(*list);
        }
    }
    return static_cast<std::int64_t>(1 + members / members_of_a_step);
}

enum class list_end : bool { front, back };

/// The library looks at allOf before anything else, and at nothing else once that has failed.
void count_first(json::object& schema, std::int64_t effort, list_end where = list_end::back) {
    if (schema.contains("$ref")) return; // of a schema with a reference nothing else holds
    json::object first{{{effort_key.data(), effort_key.size()}, effort}};
    if (json::object shape = shape_of(schema); !shape.empty())
        first[{shape_key.data(), shape_key.size()}] = std::move(shape);
    json::value& all = schema["allOf"];
    if (!all.is_array()) all = json::array();
    json::array& list = all.get_array();
    list.insert(where == list_end::front ? list.begin() : list.end(), std::move(first));
}

/// The member of the names_key that holds the schema of names with this number.
[[nodiscard]] std::string name_of(std::size_t number) { return "n" + std::to_string(number); }

/// What true and false mean, as a schema whose checks are counted like those of others.
[[nodiscard]] json::value counted_boolean(bool accepts) {
    json::object members;
    if (accepts) count_first(members, 1);
    else members[{never_key.data(), never_key.size()}] = true;
    return members;
}

/// The library looks the schema of names up under the path of the schema that holds it, and finds
/// that one where a reference has led to it. So it is kept elsewhere, and referred to.
void take_names(json::object& schema, std::vector<json::value>& names) {
    json::value& content = schema["propertyNames"];
    names.push_back(std::move(content));
    content = json::object{{"$ref", "#/" + std::string(names_key) + "/" + name_of(names.size())}};
}

/// The library walks all members of an object and all elements of an array, also where a schema
/// has no rule for most of them: that they may be anything is written out, so that each is counted.
void count_the_rest(json::object& schema, std::vector<json::value>& names) {
    if (schema.contains("properties") && !schema.contains("additionalProperties"))
        schema["additionalProperties"] = counted_boolean(true);
    const json::value* items = schema.if_contains("items");
    if (items && items->is_array() && !schema.contains("additionalItems"))
        schema["additionalItems"] = counted_boolean(true);
    if (!schema.contains("propertyNames")) return;
    json::object name; // any, but a long one counts as what it takes
    count_first(name, 1);
    name[{safe_min_length_key.data(), safe_min_length_key.size()}] = 0;
    take_names(schema, names);
    json::object any{{"propertyNames", std::move(name)}};
    take_names(any, names);
    json::value& all = schema["allOf"];
    if (!all.is_array()) all = json::array();
    all.get_array().push_back(std::move(any));
}

/// Keywords that say nothing of a value.
constexpr std::array<std::string_view, 17> annotations{
    "$comment", "components",  "$defs",      "$id",         "$ref",     "$schema",
    "default",  "definitions", "deprecated", "description", "example",  "examples",
    "format",   "nullable",    "readOnly",   "title",       "writeOnly"};

/// A keyword next to $ref that constrains a value; empty: there is none.
[[nodiscard]] std::string_view beside_reference(const json::object& schema) {
    if (!schema.contains("$ref")) return {};
    for (const auto& member : schema) {
        const std::string_view name(member.key().data(), member.key().size());
        const bool says_nothing =
            std::find(annotations.begin(), annotations.end(), name) != annotations.end() ||
            name.starts_with("x-");
        if (!says_nothing) return name;
    }
    return {};
}

/// Schemas of later drafts mean what is next to a $ref too; the library reads the $ref alone.
void move_reference_inside(json::object& schema) {
    const json::value* reference = schema.if_contains("$ref");
    if (!reference) return;
    if (beside_reference(schema).empty()) return;
    json::value moved = *reference;
    json::value& all = schema["allOf"];
    if (!all.is_array()) all = json::array();
    all.get_array().push_back(json::object{{"$ref", std::move(moved)}});
    schema.erase("$ref");
}

void rename(json::object& schema, std::string_view from, std::string_view to) {
    const auto found = schema.find({from.data(), from.size()});
    if (found == schema.end()) return;
    json::value moved = std::move(found->value());
    schema.erase(found);
    schema[{to.data(), to.size()}] = std::move(moved);
}

/// `enum` and `const` as one list. With both, a value must be in each.
void take_values(json::object& schema) {
    json::value wanted = json::array();
    const auto only = schema.find("const");
    if (only != schema.end()) {
        wanted.get_array().push_back(std::move(only->value()));
        schema.erase(only);
        if (schema.contains("enum")) {
            json::value& all = schema["allOf"];
            if (!all.is_array()) all = json::array();
            json::object inside;
            inside[{safe_values_key.data(), safe_values_key.size()}] = std::move(wanted);
            all.get_array().push_back(std::move(inside));
            return take_values(schema);
        }
    } else if (const auto several = schema.find("enum");
               several != schema.end() && several->value().is_array()) {
        wanted = std::move(several->value());
        schema.erase(several);
    } else {
        return;
    }
    schema[{safe_values_key.data(), safe_values_key.size()}] = std::move(wanted);
}

struct renamed {
    std::string_view from;
    std::string_view to;
};

constexpr std::array<renamed, 9> renames{{{"type", safe_type_key},
                                          {"minimum", safe_minimum_key},
                                          {"exclusiveMinimum", safe_above_key},
                                          {"maximum", safe_maximum_key},
                                          {"exclusiveMaximum", safe_below_key},
                                          {"pattern", safe_pattern_key},
                                          {"multipleOf", safe_multiple_key},
                                          {"minLength", safe_min_length_key},
                                          {"maxLength", safe_max_length_key}}};

constexpr std::array<std::string_view, 15> own_keys{
    safe_type_key,       safe_minimum_key, safe_above_key,  safe_maximum_key,  safe_below_key,
    safe_pattern_key,    safe_unique_key,  safe_values_key, safe_multiple_key, safe_min_length_key,
    safe_max_length_key, effort_key,       never_key,       shape_key,         names_key};

[[nodiscard]] bool is_above_zero(const json::value& number) {
    if (number.is_int64()) return number.get_int64() > 0;
    return number.is_double() && !(number.get_double() <= 0); // a NaN is a wide number
}

[[nodiscard]] bool is_count(const json::value& number) {
    return number.is_int64() && number.get_int64() >= 0;
}

} // namespace

/// `keyword`: of the schema at `path`, when that is what is wrong.
error schema_rewriter::refused(std::string_view path, std::string_view why,
                               std::string_view keyword) const {
    const std::string place = tuples_.written(path);
    wrong_ = place;
    if (!keyword.empty()) wrong_.append("/").append(keyword);
    return error(
        errc::invalid_argument,
        (place.empty() ? "the schema " : "the schema at \"" + utf8::shortened(place, 200) + "\" ") +
            std::string(why));
}

/// Whether the schema is of draft 2019-09 or later: it declares that, or has what these brought.
[[nodiscard]] static bool is_later_draft(const json::value& schema) {
    const json::object* root = schema.if_object();
    if (!root) return false;
    if (const json::value* draft = root->if_contains("$schema"); draft && draft->is_string()) {
        const std::string_view name(draft->get_string());
        return name.find("/20") != name.npos;
    }
    return root->contains("$defs");
}

[[nodiscard]] static bool names_element(std::string_view text) noexcept {
    return text.find("/allOf/") != text.npos ||
           (text.starts_with('#') && text.find('%') != text.npos);
}

/// Whether a string anywhere may be a reference to an element of an allOf.
[[nodiscard]] static bool any_names_element(const json::value& schema) {
    if (const json::string* text = schema.if_string())
        return names_element(std::string_view(*text));
    if (const json::array* list = schema.if_array())
        return std::any_of(list->begin(), list->end(), any_names_element);
    const json::object* object = schema.if_object();
    return object && std::any_of(object->begin(), object->end(), [](const auto& member) {
               return any_names_element(member.value());
           });
}

result<void> schema_rewriter::rewrite(json::value& schema) {
    later_draft_ = is_later_draft(schema);
    const json::object* root = schema.if_object();
    names_draft_ = root && root->contains("$schema");
    names_elements_ = any_names_element(schema);
    if (later_draft_ || !names_draft_) tuples_.remember(schema);
    HEDDLE_CHECK(visit(schema, "", 0));
    HEDDLE_CHECK(visit_referred(schema));
    HEDDLE_CHECK(check_references());
    HEDDLE_CHECK(check_depth());
    keep_names(schema);
    multiplies_ = is_multiplied();
    return {};
}

/// The schemas of names, where the references to them expect them.
void schema_rewriter::keep_names(json::value& schema) {
    if (names_.empty()) return; // as where there is no object
    json::object kept;
    for (std::size_t i = 0; i < names_.size(); ++i) kept[name_of(i + 1)] = std::move(names_[i]);
    schema.get_object()[{names_key.data(), names_key.size()}] = std::move(kept);
}

result<void> schema_rewriter::visit(json::value& schema, const std::string& path,
                                    std::size_t depth) {
    if (const auto known = heights_.find(path); known != heights_.end()) { // by a reference to it
        lowest_ = std::max(lowest_, depth + known->second);
        return {};
    }
    const std::size_t beside = std::exchange(lowest_, depth);
    HEDDLE_CHECK(visit_below(schema, path, depth));
    heights_[path] = lowest_ - depth;
    lowest_ = std::max(lowest_, beside);
    return {};
}

result<void> schema_rewriter::visit_below(json::value& schema, const std::string& path,
                                          std::size_t depth) {
    if (depth > deepest) return refused(path, "is nested too deep");
    if (path.size() > max_path) return refused(path, "has names that are too long");
    if (schemas_.size() >= max_schemas) return refused(path, "is too large");
    if (!work_.spend(units_of_a_schema)) return refused(path, "was not read to its end");
    schemas_[path];
    if (schema.is_bool()) {
        strict_ = false;
        // The library allows no more members or elements by these, and checks none.
        const bool ends =
            path.ends_with("/additionalProperties") || path.ends_with("/additionalItems");
        if (schema.get_bool() || !ends) schema = counted_boolean(schema.get_bool());
        return {};
    }
    json::object* object = schema.if_object();
    if (!object) return refused(path, "must be an object");
    if (later_draft_ || !names_draft_) HEDDLE_CHECK(take_tuple(*object, path));
    for (const std::string_view name : unsupported) {
        if (object->contains({name.data(), name.size()})) {
            return refused(path, "uses " + std::string(name) + ", which is not supported", name);
        }
    }
    if (later_draft_) {
        move_reference_inside(*object);
    } else if (const std::string_view ignored = beside_reference(*object);
               !ignored.empty() && !names_draft_) {
        return refused(path,
                       "has " + std::string(ignored) +
                           " next to a $ref, which JSON Schema draft 7 ignores: put both into an "
                           "allOf, or name the draft that you mean in $schema",
                       ignored);
    }
    look_at_keywords(*object, path);
    look_at_object(*object);
    return visit_members(*object, path, depth);
}

/// `prefixItems` as the list that `items` was before, and `items` as what comes after it.
result<void> schema_rewriter::take_tuple(json::object& schema, const std::string& path) {
    if (!schema.contains("prefixItems")) return {};
    if (const json::value* more = schema.if_contains("items"); more && more->is_array())
        return refused(path, "has prefixItems next to an items that is a list", "items");
    schema.erase("additionalItems"); // without meaning in that draft
    rename(schema, "items", "additionalItems");
    rename(schema, "prefixItems", "items");
    if (const json::value* first = schema.if_contains("items"); !first->is_array())
        return refused(path, "has prefixItems that are not a list", "prefixItems");
    return {};
}

result<void> schema_rewriter::visit_members(json::object& schema, const std::string& path,
                                            std::size_t depth) {
    const std::int64_t effort = effort_of(schema);
    for (auto& [name, content] : schema) {
        HEDDLE_CHECK(visit_keyword(content, {name.data(), name.size()}, path, depth));
    }
    schema.erase("format");
    for (const std::string_view own : own_keys) {
        schema.erase({own.data(), own.size()}); // nobody else's to say
    }
    for (const renamed& each : renames) rename(schema, each.from, each.to);
    count_the_rest(schema, names_);
    take_values(schema);
    const json::value* unique = schema.if_contains("uniqueItems");
    if (unique && unique->is_bool() && unique->get_bool()) {
        rename(schema, "uniqueItems", safe_unique_key);
    } else {
        schema.erase("uniqueItems");
    }
    // References into the list have to stay right.
    count_first(schema, effort, names_elements_ ? list_end::back : list_end::front);
    return {};
}

result<void> schema_rewriter::visit_keyword(json::value& content, std::string_view keyword,
                                            const std::string& path, std::size_t depth) {
    if (keyword == "pattern") {
        if (!content.is_string())
            return refused(path, "has a pattern that is not a string", keyword);
        if (auto added = patterns_.add(content.get_string()); !added)
            return refused(path, "has " + added.error().message(), keyword);
        return {};
    }
    if (keyword == "minLength" || keyword == "maxLength") {
        if (!is_count(content))
            return refused(path,
                           "has a " + std::string(keyword) + " that is not a whole number from 0",
                           keyword);
        return {};
    }
    const bool bounds = keyword == "minimum" || keyword == "maximum" ||
                        keyword == "exclusiveMinimum" || keyword == "exclusiveMaximum";
    if (bounds && !content.is_number())
        return refused(path, "has a " + std::string(keyword) + " that is not a number", keyword);
    if (keyword == "type") return check_type(content, path);
    if (keyword == "multipleOf") {
        if (!is_above_zero(content))
            return refused(path, "has a multipleOf that is not above zero", keyword);
        return {};
    }
    if (keyword == "$ref") {
        const std::string_view target =
            content.is_string() ? std::string_view(content.get_string()) : std::string_view();
        if (target != "#" && !target.starts_with("#/")) {
            return refused(path, "has a $ref that does not begin with \"#/\"", keyword);
        }
        const auto written = pointer_of_fragment(target.substr(1));
        if (!written)
            return refused(path, "has a $ref with a % that does not begin an escape", keyword);
        const std::string pointer = tuples_.rewritten(*written);
        content = "#" + fragment_of_pointer(pointer); // as the library reads it
        references_.push_back(pointer);
        schemas_[path].push_back(pointer);
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
            std::string part = inside;
            append_pointer_token(part, {name.data(), name.size()});
            if (keyword == "dependencies") schemas_[path].push_back(part); // of the same value
            HEDDLE_CHECK(visit(schema, part, depth + 1));
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
    const bool all_or_none = content.is_bool();
    HEDDLE_CHECK(visit(content, inside, depth + 1));
    if (keyword == "additionalProperties" && all_or_none) strict_ = was_strict;
    return {};
}

} // namespace heddle::tasks
