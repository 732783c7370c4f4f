#include <heddle/lang/help.hpp>

#include "lang/compile/special_form.hpp"
#include "lang/help/wrap.hpp"
#include "lang/print/form_text.hpp"
#include "lang/reader/lexer.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/objects.hpp>

namespace heddle::lang {

namespace {

/// "(map f items more…)"
std::string usage_of(std::string_view name, const function& code) {
    std::string text = "(" + std::string(name.empty() ? "lambda" : name);
    for (std::size_t i = 0; i < code.parameter_names.size(); ++i) {
        const std::string& parameter = code.parameter_names[i];
        if (i < code.required) text += " " + parameter;
        else if (i < std::size_t{code.required} + code.optional) text += " [" + parameter + "]";
        else text += " " + parameter + "…";
    }
    return text + ")";
}

void take_docstring(help_entry& entry, std::string_view text) {
    docstring read = parse_docstring(text);
    entry.summary = std::move(read.summary);
    entry.details = std::move(read.details);
    entry.examples = std::move(read.examples);
}

help_entry entry_of(const special_form& row) {
    help_entry entry;
    entry.kind = help_kind::special_form;
    entry.name = row.name;
    entry.usage = row.usage;
    take_docstring(entry, row.summary);
    entry.examples = split_examples(row.example);
    entry.family = row.family;
    return entry;
}

help_entry entry_of(const builtin& row) {
    help_entry entry;
    entry.kind = help_kind::builtin;
    entry.name = row.name;
    entry.usage = "(" + entry.name;
    if (!row.parameters.empty()) entry.usage += " " + std::string(row.parameters);
    entry.usage += ")";
    entry.summary = row.summary;
    entry.examples = split_examples(row.example);
    entry.family = row.family;
    return entry;
}

help_entry entry_of(std::string_view name, const function& code) {
    help_entry entry;
    entry.kind = code.from_prelude ? help_kind::library_function : help_kind::function;
    entry.name = name;
    entry.usage = usage_of(name, code);
    take_docstring(entry, code.doc);
    if (code.from_prelude) entry.family = "functions";
    else entry.place = code.span;
    return entry;
}

help_entry entry_of(std::string_view name, const operator_doc& known) {
    help_entry entry;
    entry.kind = known.is_tool ? help_kind::tool : help_kind::task;
    entry.name = name;
    entry.usage = "(" + entry.name;
    for (const operator_doc::input& each : known.inputs) {
        const std::string clause = "(" + each.name + " …)";
        entry.usage += each.optional ? " [" + clause + "]" : " " + clause;
        if (each.type.empty() && each.description.empty()) continue;
        if (!entry.details.empty()) entry.details += '\n';
        entry.details += "- " + each.name;
        if (!each.type.empty()) entry.details += " (" + each.type + ")";
        if (!each.description.empty()) entry.details += ": " + each.description;
    }
    entry.usage += ")";
    entry.summary = known.description;
    entry.place = known.place;
    return entry;
}

help_entry entry_of_value(std::string_view name, const value& content) {
    help_entry entry;
    entry.name = name;
    entry.usage = name;
    const std::string_view type = kind_name(content.type());
    const bool vowel = std::string_view("aeiou").find(type.front()) != std::string_view::npos;
    entry.summary = (vowel ? "An " : "A ") + std::string(type) + ": " + shown(content);
    return entry;
}

std::optional<help_entry> describe_operator(realm& realm, std::string_view name) {
    const auto known = realm.host().describe_operator(name);
    if (!known) return std::nullopt;
    return entry_of(name, *known);
}

std::optional<help_entry> describe_object(realm& realm, std::string_view name,
                                          const host_object& object) {
    const auto info = realm.host().describe_callable(object);
    if (!info) return std::nullopt;
    return describe_operator(realm, info->name.empty() ? name : info->name);
}

help_entry entry_of_macro(std::string_view name, const value& expander) {
    help_entry entry = entry_of(name, *closure_of(expander)->code);
    entry.kind = help_kind::macro;
    return entry;
}

/// What a program made of a name.
std::optional<help_entry> describe_own(realm& realm, std::string_view name) {
    if (const value* expander = realm.find_macro(name)) return entry_of_macro(name, *expander);
    const auto index = realm.find_program_global(name);
    if (!index) return std::nullopt;
    const value& content = realm.global(*index);
    if (content.is(kind::closure)) return entry_of(name, *closure_of(content)->code);
    if (content.is(kind::builtin)) return entry_of(content.as_builtin());
    if (const host_object* object = host_of(content)) {
        if (auto found = describe_object(realm, name, *object)) return found;
    }
    return entry_of_value(name, content);
}

/// What the language and the host make of it.
std::optional<help_entry> describe_given(realm& realm, std::string_view name, help_reach reach) {
    if (const special_form* row = find_special_form(name); row && !row->family.empty())
        return entry_of(*row);
    if (const auto index = realm.find_prelude_global(name)) {
        const value& content = realm.global(*index);
        if (content.is(kind::closure)) return entry_of(name, *closure_of(content)->code);
    }
    if (const builtin* row = find_builtin(name)) return entry_of(*row);
    if (const builtin* row = realm.host().find_effect(name)) return entry_of(*row);
    if (reach == help_reach::language) return std::nullopt;
    return describe_operator(realm, name);
}

} // namespace

std::string_view to_string(help_kind kind) noexcept {
    switch (kind) {
    case help_kind::special_form: return "special form";
    case help_kind::builtin: return "builtin";
    case help_kind::library_function: return "library function";
    case help_kind::function: return "function";
    case help_kind::macro: return "macro";
    case help_kind::task: return "task";
    case help_kind::tool: return "tool";
    case help_kind::value: return "value";
    }
    return "value";
}

result<help_entry> describe(realm& realm, std::string_view name, help_reach reach) {
    std::optional<help_entry> found;
    // Of the language's own sources, or longer than a name can be.
    const bool own = name.starts_with('%') || name.size() > lexer::max_atom_length;
    if (!own && reach == help_reach::everything) found = describe_own(realm, name);
    if (!own && !found) found = describe_given(realm, name, reach);
    if (found) return *std::move(found);
    std::vector<std::string> names;
    if (reach == help_reach::everything) realm.collect_names(names);
    error failure(errc::unbound,
                  "help: there is no entry for '" + utf8::shortened(name, 200) + "'");
    std::string hint = suggest_names(name, names);
    if (hint.empty()) hint = "(help) lists all names";
    return std::move(failure).with_hint(std::move(hint)).with_origin(error_origin::script);
}

std::optional<help_entry> describe_callable(realm& realm, const value& callable) {
    if (callable.is(kind::builtin)) return entry_of(callable.as_builtin());
    if (callable.is(kind::closure)) {
        const function& code = *closure_of(callable)->code;
        return entry_of(code.name, code);
    }
    const host_object* object = host_of(callable);
    if (!object) return std::nullopt;
    return describe_object(realm, {}, *object);
}

std::string help_text(const realm& realm, const help_entry& entry) {
    std::string text = entry.usage + "\n";
    if (entry.kind == help_kind::value) return text + entry.summary + "\n";
    constexpr std::size_t width = 80;
    text += entry.summary.empty() ? "Without documentation." : wrapped(entry.summary, width);
    text += "\n";
    if (!entry.details.empty()) text += wrapped(entry.details, width) + "\n";
    if (!entry.examples.empty()) text += "\n";
    for (const std::string& example : entry.examples) text += example + "\n";
    if (const source_location at = realm.sources().locate(entry.place); at.line != 0) {
        text += "\n" + std::string(to_string(entry.kind)) + " defined at " + at.file + ":" +
                std::to_string(at.line) + "\n";
    }
    return text;
}

} // namespace heddle::lang
