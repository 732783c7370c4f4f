#include <heddle/function.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/json_string.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/builtin.hpp>
#include <heddle/lang/compile.hpp>
#include <heddle/lang/realm.hpp>

#include <algorithm>
#include <set>

namespace heddle {

namespace {

[[nodiscard]] bool is_name(std::string_view name) noexcept {
    static constexpr std::string_view others = "-_/?!";
    return !name.empty() && !ascii::is_digit(name.front()) && name.size() <= 200 &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return ascii::is_letter(c) || ascii::is_digit(c) ||
                      others.find(c) != std::string_view::npos;
           });
}

[[nodiscard]] error unusable(const std::string& what) { return {errc::invalid_argument, what}; }

} // namespace

result<void> function_definition::check() const {
    if (!is_name(name)) {
        return unusable(
            "the name of a function must consist of letters, digits, -, _, /, ? and "
            "!, and not begin with a digit: " +
            json_string(utf8::shortened(name, 60)));
    }
    if (lang::is_special_form(name) || lang::find_builtin(name)) {
        return unusable("the name of a function must not be that of a form or builtin: " + name)
            .with_hint("workflows would never call it");
    }
    const std::string about = "the function '" + name + "': ";
    if (!invoke) return unusable(about + "nothing to invoke");
    if (pure && completes_later) {
        return unusable(about + "a pure function must return its result itself")
            .with_hint("it awaits, calls back or has an executor: leave out pure");
    }
    if (pure && replays != function_replay::answer)
        return unusable(about + "a pure function is not recorded: leave out replays");
    std::set<std::string_view> seen;
    for (const function_parameter& each : parameters) {
        if (!is_name(each.name)) {
            return unusable(about + "the name of a parameter is unusable: " +
                            json_string(utf8::shortened(each.name, 60)));
        }
        if (!seen.insert(each.name).second)
            return unusable(about + "two parameters have the name '" + each.name + "'");
    }
    return {};
}

json function_definition::schema() const {
    json::object properties;
    json::array required;
    json::object definitions;
    for (const function_parameter& each : parameters) {
        json schema = each.schema;
        if (auto* members = schema.get_if<json::object>()) {
            if (const json* own = members->find("$defs")) {
                for (const json_member& type : own->as_object())
                    definitions.set(type.name, type.value);
                members->erase("$defs"); // references begin at the root
            }
            if (!each.documentation.empty()) members->set("description", each.documentation);
        }
        properties.set(each.name, std::move(schema));
        if (!each.optional) required.emplace_back(each.name);
    }
    json::object schema{{"type", "object"},
                        {"properties", std::move(properties)},
                        {"required", std::move(required)},
                        {"additionalProperties", false}};
    if (!definitions.empty()) schema.set("$defs", std::move(definitions));
    return schema;
}

result<std::vector<json>> function_definition::by_name(json::object arguments) const {
    std::vector<json> ordered;
    ordered.reserve(parameters.size());
    std::size_t used = 0;
    for (const function_parameter& each : parameters) {
        json* given = arguments.find(each.name);
        if (given == nullptr && !each.optional)
            return error(errc::invalid_argument,
                         name + ": the argument '" + each.name + "' is missing");
        if (given != nullptr) ++used;
        ordered.push_back(given == nullptr ? json() : std::move(*given));
    }
    if (used == arguments.size()) return ordered;
    std::vector<std::string> known;
    for (const function_parameter& each : parameters) known.push_back(each.name);
    for (const json_member& member : arguments) {
        if (std::find(known.begin(), known.end(), member.name) != known.end()) continue;
        const std::string unknown = utf8::shortened(member.name, 60);
        return error(errc::invalid_argument,
                     name + ": there is no parameter " + json_string(unknown))
            .with_hint(lang::suggest_names(unknown, known));
    }
    return ordered;
}

result<std::vector<json>> function_definition::by_position(std::vector<json> arguments) const {
    std::size_t needed = parameters.size(); // up to the last one that must be there
    while (needed > 0 && parameters[needed - 1].optional) --needed;
    if (arguments.size() < needed || arguments.size() > parameters.size()) {
        const std::string most = needed == parameters.size()
                                     ? std::string()
                                     : " to " + std::to_string(parameters.size());
        return error(errc::invalid_argument,
                     name + ": expected " + std::to_string(needed) + most +
                         (most.empty() && needed == 1 ? " argument" : " arguments") +
                         " but found " + std::to_string(arguments.size()));
    }
    arguments.resize(parameters.size());
    return arguments;
}

namespace detail {

function_definition define(std::string name, std::string documentation,
                           const function_options& options) {
    function_definition definition;
    definition.replays = options.replays;
    definition.pure = options.pure;
    definition.name = std::move(name);
    definition.documentation = std::move(documentation);
    return definition;
}

void add_parameter(function_definition& to, const parameter& named, json schema, bool optional) {
    to.parameters.push_back({named.name, std::move(schema), optional, named.documentation});
}

} // namespace detail
} // namespace heddle
