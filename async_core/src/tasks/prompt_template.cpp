#include <heddle/lang/errors.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/prompt_template.hpp>

#include <algorithm>
#include <charconv>

namespace heddle::tasks {

namespace {

constexpr std::size_t longest_placeholder = 1000;
constexpr std::size_t longest_path = 64;

[[nodiscard]] bool is_blank(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

/// What ends a name inside a placeholder.
[[nodiscard]] bool ends_name(char c) noexcept {
    return is_blank(c) || c == '.' || c == '[' || c == ']' || c == '(' || c == ')' || c == '{' ||
           c == '}' || c == '"' || c == '\'' || c == ',' || c == ';' || c == ':' || c == '=';
}

[[nodiscard]] std::string braced(std::string_view inside) {
    std::string shown = "{{";
    shown += inside.substr(0, 80);
    if (inside.size() > 80) shown += "…";
    shown += "}}";
    return shown;
}

[[nodiscard]] error misread(std::string_view inside, std::string_view why) {
    return error(lang::errc::evaluation, braced(inside) + " " + std::string(why))
        .with_hint(
            "a placeholder is {{name}}, {{name.field}} or {{name[0]}}; \\{{ writes the braces");
}

[[nodiscard]] error unusable(std::string_view inside, std::string why) {
    return lang::task_error("input_validation_failure", braced(inside) + ": " + std::move(why));
}

/// The content of a string as it is, everything else as JSON.
[[nodiscard]] result<void> write_value(std::string& out, const lang::value& content,
                                       std::string_view inside) {
    switch (content.type()) {
    case lang::kind::string: out += lang::string_bytes(content); return {};
    case lang::kind::symbol: out += lang::symbol_name(content); return {};
    case lang::kind::integer: {
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, content.as_integer());
        out.append(digits, end.ptr);
        return {};
    }
    default: {
        auto json = lang::value_to_json(content);
        if (!json) return unusable(inside, json.error().message());
        out += *json;
        return {};
    }
    }
}

/// The field of a map; of a TaskResult also the field of its parsed content, as get-field has it.
[[nodiscard]] const lang::value* field_of(const lang::value& map, std::string_view name) noexcept {
    if (const lang::value* found = lang::map_find(map, name)) return found;
    const lang::value* parsed = lang::map_find(map, "parsedContent");
    return parsed && parsed->is(lang::kind::map) ? lang::map_find(*parsed, name) : nullptr;
}

} // namespace

result<prompt_template::placeholder> prompt_template::read_placeholder(std::string_view inside) {
    placeholder made;
    made.text = inside;
    std::size_t at = 0;
    const auto read_name = [&] {
        const std::size_t from = at;
        while (at < inside.size() && !ends_name(inside[at])) ++at;
        return inside.substr(from, at - from);
    };
    made.name = read_name();
    if (made.name.empty()) return misread(inside, "names no input");
    while (at < inside.size() && is_blank(inside[at])) ++at;
    if (at < inside.size() && inside[at] == '(') {
        return error(lang::errc::evaluation,
                     braced(inside) + ": calling a template inside a prompt is not supported")
            .with_hint("call '" + made.name + "' first and pass its content as an input");
    }
    while (at < inside.size()) {
        if (made.path.size() == longest_path) return misread(inside, "goes too deep");
        step next;
        if (inside[at] == '.') {
            ++at;
            next.field = read_name();
            if (next.field.empty()) return misread(inside, "has no field after the point");
        } else if (inside[at] == '[') {
            const char* const end = inside.data() + inside.size();
            const auto read = std::from_chars(inside.data() + at + 1, end, next.index);
            at = static_cast<std::size_t>(read.ptr - inside.data());
            if (read.ec != std::errc() || at == inside.size() || inside[at] != ']') {
                return misread(inside, "has no whole number between its brackets");
            }
            ++at;
            next.by_index = true;
        } else {
            return misread(inside, "cannot be read");
        }
        made.path.push_back(std::move(next));
    }
    return made;
}

result<prompt_template> prompt_template::compile(std::string_view text,
                                                 const std::vector<std::string>* declared) {
    prompt_template made;
    std::string literal;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t open = text.find("{{", at);
        if (open == std::string_view::npos) break;
        if (open > at && text[open - 1] == '\\') {
            literal.append(text, at, open - 1 - at);
            literal += "{{";
            at = open + 2;
            continue;
        }
        literal.append(text, at, open - at);
        const std::size_t close = text.find("}}", open + 2);
        if (close == std::string_view::npos || close - open > longest_placeholder) {
            return misread(text.substr(open + 2, 80), "is not closed");
        }
        HEDDLE_TRY(placeholder wanted,
                   read_placeholder(trimmed(text.substr(open + 2, close - open - 2))));
        if (declared) {
            const auto found = std::find(declared->begin(), declared->end(), wanted.name);
            if (found == declared->end()) {
                return error(lang::errc::evaluation, braced(wanted.text) + ": '" + wanted.name +
                                                         "' is not one of the declared inputs");
            }
            wanted.index = static_cast<std::int32_t>(found - declared->begin());
        }
        if (std::find(made.names_.begin(), made.names_.end(), wanted.name) == made.names_.end()) {
            made.names_.push_back(wanted.name);
        }
        if (!literal.empty()) {
            made.literal_bytes_ += literal.size();
            made.parts_.emplace_back(std::move(literal));
            literal.clear();
        }
        made.parts_.emplace_back(std::move(wanted));
        at = close + 2;
    }
    literal.append(text, at);
    if (!literal.empty()) {
        made.literal_bytes_ += literal.size();
        made.parts_.emplace_back(std::move(literal));
    }
    return made;
}

result<void> prompt_template::insert(std::string& out, const placeholder& wanted,
                                     std::span<const bound_input> inputs) {
    const bound_input* input = nullptr;
    if (wanted.index >= 0) {
        input = &inputs[static_cast<std::size_t>(wanted.index)];
    } else {
        const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const bound_input& one) {
            return one.name == wanted.name;
        });
        if (found == inputs.end()) {
            return unusable(wanted.text, "there is no input '" + wanted.name + "'");
        }
        input = &*found;
    }
    if (!input->given) return {};
    const lang::value* content = &input->content;
    for (const step& next : wanted.path) {
        const lang::value* inner = nullptr;
        if (next.by_index && content->is(lang::kind::list)) {
            const auto items = lang::list_items(*content);
            if (next.index < items.size()) inner = &items[next.index];
        } else if (!next.by_index && content->is(lang::kind::map)) {
            inner = field_of(*content, next.field);
        }
        if (!inner) {
            const std::string missing = next.by_index ? "element " + std::to_string(next.index)
                                                      : "field '" + next.field + "'";
            return unusable(wanted.text,
                            "there is no " + missing + " in the input '" + wanted.name + "'");
        }
        content = inner;
    }
    return write_value(out, *content, wanted.text);
}

result<void> prompt_template::fill(std::string& out, std::span<const bound_input> inputs) const {
    std::size_t bytes = out.size() + literal_bytes_;
    for (const bound_input& input : inputs) {
        if (input.content.is(lang::kind::string)) bytes += input.content.length();
    }
    out.reserve(bytes);
    for (const part& next : parts_) {
        if (const auto* literal = std::get_if<std::string>(&next)) out += *literal;
        else HEDDLE_CHECK(insert(out, std::get<placeholder>(next), inputs));
    }
    return {};
}

} // namespace heddle::tasks
