#include <heddle/base/keyed_hash.hpp>
#include <heddle/base/utf8.hpp>

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>
#include <heddle/tasks/prompt/prompt_template.hpp>
#include "tasks/output/message_json.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace heddle::tasks {

namespace {

[[nodiscard]] std::string braced(std::string_view inside) {
    return "{{" + utf8::shortened(inside, 80) + "}}";
}

[[nodiscard]] error unusable(std::string_view inside, std::string why) {
    return task_failed(task_failure_reason::input_validation_failure,
                       braced(inside) + ": " + std::move(why));
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
        auto json = message_json(content);
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

const bound_input* prompt_template::find_input(std::span<const bound_input> inputs,
                                               std::string_view name, std::int32_t index) {
    if (index >= 0) return &inputs[static_cast<std::size_t>(index)];
    const auto found = std::find_if(inputs.begin(), inputs.end(),
                                    [&](const bound_input& one) { return one.name == name; });
    return found == inputs.end() ? nullptr : &*found;
}

/// find_input for many placeholders: where there are many inputs, each is not compared with all.
class prompt_template::inputs_by_name {
public:
    explicit inputs_by_name(std::span<const bound_input> inputs) : inputs_(inputs) {}

    [[nodiscard]] const bound_input* find(std::string_view name, std::int32_t index) {
        constexpr std::size_t few = 16;
        if (index >= 0 || inputs_.size() <= few) return find_input(inputs_, name, index);
        if (places_.empty()) {
            for (const bound_input& each : inputs_) places_.try_emplace(each.name, &each);
        }
        const auto found = places_.find(name);
        return found == places_.end() ? nullptr : found->second;
    }

private:
    std::span<const bound_input> inputs_;
    std::unordered_map<std::string_view, const bound_input*, name_hash> places_;
};

/// Null, and the step that leads nowhere, when there is nothing.
const lang::value* prompt_template::walk(const lang::value& from, std::span<const step> path,
                                         const step** missing) {
    const lang::value* content = &from;
    for (const step& next : path) {
        const lang::value* inner = nullptr;
        if (next.by_index && content->is(lang::kind::list)) {
            const auto items = lang::list_items(*content);
            if (next.index < items.size()) inner = &items[next.index];
        } else if (!next.by_index && content->is(lang::kind::map)) {
            inner = field_of(*content, next.field);
        }
        if (!inner) {
            if (missing) *missing = &next;
            return nullptr;
        }
        content = inner;
    }
    return content;
}

/// The value of a placeholder; null: of an optional input that was left out.
result<const lang::value*> prompt_template::resolve(const placeholder& wanted,
                                                    inputs_by_name& inputs) {
    const bound_input* input = inputs.find(wanted.name, wanted.index);
    if (!input) return unusable(wanted.text, "there is no input '" + wanted.name + "'");
    if (!input->given) return nullptr;
    const step* missing = nullptr;
    if (const lang::value* found = walk(input->content, wanted.path, &missing)) return found;
    if (!input->as_given.is_nil()) {
        if (const lang::value* found = walk(input->as_given, wanted.path)) return found;
    }
    return unusable(wanted.text,
                    "there is no " +
                        (missing->by_index ? "element " + std::to_string(missing->index)
                                           : "field '" + missing->field + "'") +
                        " in the input '" + wanted.name + "'");
}

result<void> prompt_template::check(std::span<const bound_input> inputs) const {
    inputs_by_name given(inputs);
    for (const part& next : parts_) {
        if (const auto* wanted = std::get_if<placeholder>(&next)) {
            HEDDLE_CHECK(resolve(*wanted, given));
        }
    }
    return {};
}

result<void> prompt_template::fill(std::string& out, std::span<const bound_input> inputs,
                                   std::span<const lang::value> contents) const {
    if (contents.size() != calls_.size()) {
        return error(heddle::errc::internal, "a prompt lacks the contents of its calls");
    }
    inputs_by_name given(inputs);
    std::size_t bytes = out.size() + literal_bytes_;
    for (const part& next : parts_) {
        const auto* wanted = std::get_if<placeholder>(&next);
        if (!wanted || !wanted->path.empty()) continue;
        const bound_input* input = given.find(wanted->name, wanted->index);
        if (input && input->content.is(lang::kind::string)) bytes += input->content.length();
    }
    for (const lang::value& content : contents) bytes += lang::string_bytes(content).size();
    out.reserve(bytes);
    for (const part& next : parts_) {
        if (const auto* literal = std::get_if<std::string>(&next)) {
            out += *literal;
        } else if (const auto* wanted = std::get_if<placeholder>(&next)) {
            HEDDLE_TRY(const lang::value* content, resolve(*wanted, given));
            if (content) HEDDLE_CHECK(write_value(out, *content, wanted->text));
        } else {
            out += lang::string_bytes(contents[std::get<call_place>(next).index]);
        }
    }
    return {};
}

} // namespace heddle::tasks
