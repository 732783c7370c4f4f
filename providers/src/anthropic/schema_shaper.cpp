#include "anthropic/schema_shaper.hpp"

#include "common/request_parts.hpp"

#include <heddle/base/json_parser.hpp>

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace heddle::providers::anthropic {

namespace {

namespace json = boost::json;

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_definitions = 200; ///< beyond the limits of the service

/// Keywords that stay as they are.
bool is_kept(std::string_view keyword) noexcept {
    return is_among(keyword,
                    {"type", "enum", "const", "default", "title", "description", "required"});
}

bool is_known_format(std::string_view format) noexcept {
    return is_among(format, {"date-time", "time", "date", "duration", "email", "hostname", "uri",
                             "ipv4", "ipv6", "uuid"});
}

std::string_view text_of(const json::value* found) noexcept {
    const json::string* text = found ? found->if_string() : nullptr;
    return text ? std::string_view(text->data(), text->size()) : std::string_view();
}

/// Whether `type` is `name`, or a list that holds it.
bool has_type(const json::object& schema, std::string_view name) {
    const json::value* type = schema.if_contains("type");
    if (!type) return false;
    if (const json::array* list = type->if_array()) {
        return std::any_of(list->begin(), list->end(),
                           [&](const json::value& one) { return text_of(&one) == name; });
    }
    return text_of(type) == name;
}

/// Shapes one schema; calls itself no deeper than the parser let the text be.
class shaper {
public:
    explicit shaper(const json::object& root) : root_(root) {}

    std::optional<json::object> run() {
        auto result = object(root_);
        if (!result || holds_itself()) return std::nullopt;
        return result;
    }

private:
    std::optional<json::object> schema(const json::value& given) {
        const json::object* found = given.if_object();
        if (!found) return std::nullopt; // true: anything, false: nothing
        return object(*found);
    }

    std::optional<json::object> object(const json::object& given) {
        if (const json::value* target = given.if_contains("$ref")) return reference(*target);
        const bool said = given.contains("type") || given.contains("properties") ||
                          given.contains("enum") || given.contains("const") ||
                          given.contains("anyOf") || given.contains("oneOf") ||
                          given.contains("allOf");
        if (!said) return std::nullopt;
        json::object members;
        json::object in_words;
        for (const auto& [name, content] : given) {
            if (!keyword(given, name, content, members, in_words)) return std::nullopt;
        }
        if (!close(given, members)) return std::nullopt;
        describe(in_words, members);
        return members;
    }

    /// Puts one keyword into `made`, or among those that are described in words. False: it has no
    /// place.
    bool keyword(const json::object& given, std::string_view name, const json::value& content,
                 json::object& members, json::object& in_words) {
        if (is_kept(name)) {
            members[name] = content;
        } else if (is_among(name, {"properties", "$defs", "definitions"})) {
            return each_member(content, members[name]);
        } else if (is_among(name, {"anyOf", "oneOf", "allOf"})) {
            // There is no "exactly one": the caller checks that.
            return each_element(content, members[name == "oneOf" ? "anyOf" : name]);
        } else if (name == "items") {
            auto items = schema(content);
            if (!items) return false;
            members[name] = *std::move(items);
        } else if (name == "minItems") {
            const std::int64_t* count = content.if_int64();
            (count && *count >= 0 && *count <= 1 ? members : in_words)[name] = content;
        } else if (name == "format") {
            (is_known_format(text_of(&content)) ? members : in_words)[name] = content;
        } else if (name == "patternProperties") {
            return false;
        } else if (!is_among(name, {"additionalProperties", "$schema", "$id"})) {
            in_words[name] = content;
        }
        return !(name == "items" && given.contains("prefixItems"));
    }

    bool each_member(const json::value& content, json::value& into) {
        const json::object* all = content.if_object();
        if (!all) return false;
        json::object members;
        for (const auto& [name, one] : *all) {
            auto shaped = schema(one);
            if (!shaped) return false;
            members[name] = *std::move(shaped);
        }
        into = std::move(members);
        return true;
    }

    bool each_element(const json::value& content, json::value& into) {
        const json::array* all = content.if_array();
        if (!all || all->empty()) return false;
        json::array list;
        for (const json::value& one : *all) {
            auto shaped = schema(one);
            if (!shaped) return false;
            list.emplace_back(*std::move(shaped));
        }
        into = std::move(list);
        return true;
    }

    /// Objects are closed. One with free names cannot be, and a list of anything has no grammar.
    static bool close(const json::object& given, json::object& members) {
        if (has_type(given, "array") && !given.contains("items")) return false;
        const json::value* properties = given.if_contains("properties");
        if (!properties && !has_type(given, "object")) return true;
        const json::value* others = given.if_contains("additionalProperties");
        const bool closed = others && others->is_bool() && !others->get_bool();
        const bool names_some = properties && !properties->get_object().empty();
        if (!closed && (!names_some || (others && others->is_object()))) return false;
        members["additionalProperties"] = false;
        return true;
    }

    static void describe(const json::object& in_words, json::object& members) {
        if (in_words.empty()) return;
        std::string text(text_of(members.if_contains("description")));
        if (!text.empty()) text += "\n\n";
        text += json::serialize(in_words);
        members["description"] = text;
    }

    static std::optional<json::object> reference(const json::value& target) {
        const std::string_view path = text_of(&target);
        const bool is_local = path.starts_with("#/$defs/") || path.starts_with("#/definitions/");
        if (!is_local || std::count(path.begin(), path.end(), '/') != 2) return std::nullopt;
        json::object members;
        members["$ref"] = target;
        return members;
    }

    // The definitions that hold themselves.

    static void collect(const json::value& content, std::set<std::string>& names) {
        if (const json::array* list = content.if_array()) {
            for (const json::value& one : *list) collect(one, names);
        } else if (const json::object* found = content.if_object()) {
            for (const auto& [name, one] : *found) {
                const std::string_view path = name == "$ref" ? text_of(&one) : std::string_view();
                if (path.empty()) collect(one, names);
                else names.emplace(path);
            }
        }
    }

    bool holds_itself() const {
        std::vector<std::pair<std::string, std::set<std::string>>> open;
        for (const std::string_view group : {"$defs", "definitions"}) {
            const json::value* all = root_.if_contains(group);
            if (!all || !all->is_object()) continue;
            for (const auto& [name, one] : all->get_object()) {
                auto& [path, names] = open.emplace_back();
                path = "#/" + std::string(group) + "/" + std::string(name);
                collect(one, names);
            }
        }
        if (open.size() > max_definitions) return true;
        // Whoever names none that is still open is settled; what is left names itself in the end.
        for (bool changed = true; std::exchange(changed, false);) {
            for (auto each = open.begin(); each != open.end(); ++each) {
                const bool waits = std::any_of(open.begin(), open.end(), [&](const auto& other) {
                    return each->second.contains(other.first);
                });
                if (waits) continue;
                open.erase(each);
                changed = true;
                break;
            }
        }
        return !open.empty();
    }

    const json::object& root_;
};

} // namespace

std::optional<std::string> closed_schema(std::string_view schema) {
    boost::system::error_code failed;
    const json::value read = parse_json(schema, failed, max_depth);
    const json::object* root = failed ? nullptr : read.if_object();
    if (!root) return std::nullopt;
    const auto result = shaper(*root).run();
    if (!result) return std::nullopt;
    return json::serialize(*result);
}

std::optional<std::string_view> schema_shaper::shape(std::string_view schema) {
    auto found = std::find_if(known_.begin(), known_.end(), [&](const known& each) {
        return !each.schema.empty() && each.schema == schema;
    });
    if (found == known_.end()) {
        found = known_.begin() + static_cast<std::ptrdiff_t>(next_);
        next_ = (next_ + 1) % known_.size();
        *found = {std::string(schema), closed_schema(schema)};
    }
    if (!found->closed) return std::nullopt;
    return std::string_view(*found->closed);
}

} // namespace heddle::providers::anthropic
