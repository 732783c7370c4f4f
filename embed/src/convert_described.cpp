#include <heddle/convert_described.hpp>

#include <heddle/base/json_string.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/realm.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace heddle::detail {

namespace {

[[nodiscard]] std::string listed(std::span<const std::string_view> names) {
    std::string text;
    for (const std::string_view each : names)
        text += (text.empty() ? "" : ", ") + json_string(each);
    return text;
}

} // namespace

bool check_members(const json::object& members, std::span<const std::string_view> known,
                   std::span<const bool> required, const json_place& at) {
    for (std::size_t i = 0; i < known.size(); ++i) {
        if (required[i] && !members.contains(known[i])) {
            at.fail("the member " + json_string(known[i]) + " is missing");
            return false;
        }
    }
    if (at.ignores_unknown()) return true;
    for (const json_member& member : members) {
        if (std::find(known.begin(), known.end(), member.name) != known.end()) continue;
        const std::string name = utf8::shortened(member.name, 60);
        at.fail(error(errc::invalid_argument,
                      "there is no member " + json_string(name) + "; known: " + listed(known))
                    .with_hint(lang::suggest_names(name, {known.begin(), known.end()})));
        return false;
    }
    return true;
}

std::optional<std::size_t> read_enumerator(const json& from,
                                           std::span<const std::string_view> names,
                                           const json_place& at) {
    if (const auto* text = from.get_if<std::string>()) {
        const auto found = std::find(names.begin(), names.end(), *text);
        if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    }
    return at.expected("one of " + listed(names), from);
}

json enum_schema(std::span<const std::string_view> names) {
    return json::object{{"type", "string"}, {"enum", json::array(names.begin(), names.end())}};
}

json::object object_schema(std::span<const std::string_view> names, std::span<const bool> required,
                           json::array members) {
    json::object properties;
    json::array needed;
    for (std::size_t i = 0; i < names.size(); ++i) {
        properties.add(std::string(names[i]), std::move(members[i]));
        if (required[i]) needed.emplace_back(names[i]);
    }
    return {{"type", "object"},
            {"properties", std::move(properties)},
            {"required", std::move(needed)},
            {"additionalProperties", false}};
}

} // namespace heddle::detail
