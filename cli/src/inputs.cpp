#include "inputs.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>

namespace heddle::cli {

namespace {

using lang::value;

error mistake(std::string message) { return error(errc::invalid_argument, std::move(message)); }

std::pair<std::string, value>* find(named_inputs& inputs, std::string_view name) {
    const auto at = std::find_if(inputs.begin(), inputs.end(),
                                 [&](const auto& one) { return one.first == name; });
    return at == inputs.end() ? nullptr : &*at;
}

std::string list_of(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

result<std::pair<std::string, value>> read_pair(lang::heap& memory, const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || text.starts_with(":=")) {
        return mistake("--input " + text + ": is not NAME=TEXT or NAME:=JSON");
    }
    const std::string given = text.substr(equals + 1);
    if (text[equals - 1] == ':') {
        auto parsed = lang::json_to_value(memory, given);
        if (!parsed) return mistake("--input " + text + ": " + parsed.error().message());
        return std::pair(text.substr(0, equals - 1), *std::move(parsed));
    }
    if (!utf8::is_valid(given)) {
        return mistake("--input " + text.substr(0, equals) + ": is not UTF-8");
    }
    return std::pair(text.substr(0, equals), lang::make_string(memory, given));
}

/// Whether the first line is a JSON document, and something follows.
bool holds_json_lines(lang::heap& memory, std::string_view text) {
    text = ascii::trim(utf8::skip_byte_order_mark(text));
    const std::size_t end = text.find('\n');
    return end != text.npos && lang::json_to_value(memory, text.substr(0, end));
}

} // namespace

result<named_inputs> read_inputs(lang::heap& memory, const std::vector<std::string>& pairs,
                                 const std::optional<std::string>& json) {
    named_inputs inputs;
    if (json) {
        auto object = lang::json_to_value(memory, *json);
        if (!object && holds_json_lines(memory, *json)) {
            return mistake("--input-json: holds several JSON documents, one a line")
                .with_hint(
                    "it takes one object, whose members are the inputs; with jq: "
                    "jq -s '{rows: .}' FILE | heddle … --input-json -");
        }
        if (!object) return mistake("--input-json: " + object.error().message());
        if (!object->is(lang::kind::map)) return mistake("--input-json: must hold a JSON object");
        for (const lang::map_entry& entry : lang::map_entries(*object)) {
            inputs.emplace_back(lang::string_bytes(entry.key), entry.item);
        }
    }
    const std::size_t from_json = inputs.size();
    for (const std::string& text : pairs) {
        auto pair = read_pair(memory, text);
        if (!pair) return std::move(pair).error();
        auto* known = find(inputs, pair->first);
        if (!known) {
            inputs.push_back(*std::move(pair));
        } else if (known < inputs.data() + from_json) {
            known->second = std::move(pair->second);
        } else {
            return mistake("--input " + pair->first + ": is given twice");
        }
    }
    return inputs;
}

result<std::vector<value>> bind_inputs(const value& callee, const named_inputs& inputs) {
    const lang::function& code = *lang::closure_of(callee)->code;
    const std::vector<std::string>& names = code.parameter_names;
    std::vector<std::optional<value>> slots(names.size());
    std::vector<std::string> unknown;
    for (const auto& [name, given] : inputs) {
        const auto at = std::find(names.begin(), names.end(), name);
        if (at == names.end()) unknown.push_back(name);
        else slots[static_cast<std::size_t>(at - names.begin())] = given;
    }
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < code.required && i < slots.size(); ++i) {
        if (!slots[i]) missing.push_back(names[i]);
    }
    std::string wrong;
    if (!missing.empty()) wrong = "main needs " + list_of(missing);
    if (!unknown.empty()) {
        wrong += (wrong.empty() ? "" : "; ") + ("main has no parameter " + list_of(unknown));
    }
    if (!wrong.empty()) {
        std::string hint = "its parameters are: " + list_of(names);
        if (names.empty()) hint = "it has no parameters";
        else if (!missing.empty()) hint += "; give one with --input " + missing.front() + "=…";
        return mistake(std::move(wrong)).with_hint(std::move(hint));
    }

    std::vector<value> arguments;
    const std::size_t positional = std::size_t{code.required} + code.optional;
    std::size_t last = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i]) last = i + 1;
    }
    for (std::size_t i = 0; i < std::min(positional, last); ++i) {
        arguments.push_back(slots[i] ? *slots[i] : value());
    }
    if (code.has_rest && slots.size() > positional && slots[positional]) {
        const value& rest = *slots[positional];
        if (!rest.is(lang::kind::list)) {
            return mistake("main: " + names[positional] + " must be a list")
                .with_hint("write --input " + names[positional] + ":='[…]'");
        }
        const auto items = lang::list_items(rest);
        arguments.insert(arguments.end(), items.begin(), items.end());
    }
    return arguments;
}

} // namespace heddle::cli
