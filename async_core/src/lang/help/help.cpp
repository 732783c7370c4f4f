#include <heddle/lang/help.hpp>

#include "lang/compile/special_form.hpp"
#include "lang/help/wrap.hpp"
#include "lang/print/form_text.hpp"

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
    help_entry made;
    made.kind = help_kind::special_form;
    made.name = row.name;
    made.usage = row.usage;
    take_docstring(made, row.summary);
    made.examples = split_examples(row.example);
    made.family = row.family;
    return made;
}

help_entry entry_of(const builtin& row) {
    help_entry made;
    made.kind = help_kind::primitive;
    made.name = row.name;
    made.usage = "(" + made.name;
    if (!row.parameters.empty()) made.usage += " " + std::string(row.parameters);
    made.usage += ")";
    made.summary = row.summary;
    made.examples = split_examples(row.example);
    made.family = row.family;
    return made;
}

help_entry entry_of(std::string_view name, const function& code) {
    help_entry made;
    made.kind = code.library ? help_kind::library_function : help_kind::function;
    made.name = name;
    made.usage = usage_of(name, code);
    take_docstring(made, code.doc);
    if (code.library) made.family = "functions";
    else made.place = code.span;
    return made;
}

help_entry entry_of(std::string_view name, const operator_doc& known) {
    help_entry made;
    made.kind = known.is_tool ? help_kind::tool : help_kind::task;
    made.name = name;
    made.usage = "(" + made.name;
    for (const operator_doc::input& each : known.inputs) {
        const std::string clause = "(" + each.name + " …)";
        made.usage += each.optional ? " [" + clause + "]" : " " + clause;
        if (each.type.empty() && each.description.empty()) continue;
        if (!made.details.empty()) made.details += '\n';
        made.details += "- " + each.name;
        if (!each.type.empty()) made.details += " (" + each.type + ")";
        if (!each.description.empty()) made.details += ": " + each.description;
    }
    made.usage += ")";
    made.summary = known.description;
    made.place = known.place;
    return made;
}

help_entry entry_of_value(std::string_view name, const value& content) {
    help_entry made;
    made.name = name;
    made.usage = name;
    const std::string_view type = kind_name(content.type());
    const bool vowel = std::string_view("aeiou").find(type.front()) != std::string_view::npos;
    made.summary = (vowel ? "An " : "A ") + std::string(type) + ": " + shown(content);
    return made;
}

std::optional<help_entry> describe_operator(realm& world, std::string_view name) {
    const auto known = world.host().describe_operator(name);
    if (!known) return std::nullopt;
    return entry_of(name, *known);
}

std::optional<help_entry> describe_object(realm& world, std::string_view name,
                                          const host_object& object) {
    const auto info = world.host().describe_callable(object);
    if (!info) return std::nullopt;
    return describe_operator(world, info->name.empty() ? name : info->name);
}

help_entry entry_of_macro(std::string_view name, const value& expander) {
    help_entry made = entry_of(name, *closure_of(expander)->code);
    made.kind = help_kind::macro;
    return made;
}

/// What a program made of a name.
std::optional<help_entry> describe_own(realm& world, std::string_view name) {
    if (const value* expander = world.find_macro(name)) return entry_of_macro(name, *expander);
    const auto index = world.find_program_global(name);
    if (!index) return std::nullopt;
    const value& content = world.global(*index);
    if (content.is(kind::closure)) return entry_of(name, *closure_of(content)->code);
    if (content.is(kind::builtin)) return entry_of(content.as_builtin());
    if (const host_object* object = host_of(content)) {
        if (auto found = describe_object(world, name, *object)) return found;
    }
    return entry_of_value(name, content);
}

/// What the language and the host make of it.
std::optional<help_entry> describe_given(realm& world, std::string_view name, help_reach reach) {
    if (const special_form* row = find_special_form(name); row && !row->family.empty())
        return entry_of(*row);
    if (const auto index = world.find_library_global(name)) {
        const value& content = world.global(*index);
        if (content.is(kind::closure)) return entry_of(name, *closure_of(content)->code);
    }
    if (const builtin* row = find_builtin(name)) return entry_of(*row);
    if (const builtin* row = world.host().find_effect(name)) return entry_of(*row);
    if (reach == help_reach::language) return std::nullopt;
    return describe_operator(world, name);
}

} // namespace

std::string_view to_string(help_kind kind) noexcept {
    switch (kind) {
    case help_kind::special_form: return "special form";
    case help_kind::primitive: return "primitive";
    case help_kind::library_function: return "library function";
    case help_kind::function: return "function";
    case help_kind::macro: return "macro";
    case help_kind::task: return "task";
    case help_kind::tool: return "tool";
    case help_kind::value: return "value";
    }
    return "value";
}

result<help_entry> describe(realm& world, std::string_view name, help_reach reach) {
    std::optional<help_entry> found;
    const bool own = !name.empty() && name.front() == '%'; // of the language's own sources
    if (!own && reach == help_reach::everything) found = describe_own(world, name);
    if (!own && !found) found = describe_given(world, name, reach);
    if (found) return *std::move(found);
    std::vector<std::string> names;
    if (reach == help_reach::everything) world.collect_names(names);
    error failure(errc::unbound, "help: nothing is called '" + std::string(name) + "'");
    std::string hint = suggest_names(name, names);
    if (hint.empty()) hint = "(help) lists what there is";
    return std::move(failure).with_hint(std::move(hint)).with_origin(error_origin::script);
}

std::optional<help_entry> describe_callable(realm& world, const value& callable) {
    if (callable.is(kind::builtin)) return entry_of(callable.as_builtin());
    if (callable.is(kind::closure)) {
        const function& code = *closure_of(callable)->code;
        return entry_of(code.name, code);
    }
    const host_object* object = host_of(callable);
    if (!object) return std::nullopt;
    return describe_object(world, {}, *object);
}

std::string help_text(const realm& world, const help_entry& entry) {
    std::string text = entry.usage + "\n";
    if (entry.kind == help_kind::value) return text + entry.summary + "\n";
    constexpr std::size_t width = 80;
    text += entry.summary.empty() ? "Without documentation." : wrapped(entry.summary, width);
    text += "\n";
    if (!entry.details.empty()) text += wrapped(entry.details, width) + "\n";
    if (!entry.examples.empty()) text += "\n";
    for (const std::string& example : entry.examples) text += example + "\n";
    if (const source_location at = world.sources().locate(entry.place); at.line != 0) {
        text += "\n" + std::string(to_string(entry.kind)) + " defined at " + at.file + ":" +
                std::to_string(at.line) + "\n";
    }
    return text;
}

} // namespace heddle::lang
