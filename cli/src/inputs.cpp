#include "inputs.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/json_bridge.hpp>
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
            return mistake("--input-json: contains several JSON documents, one per line")
                .with_hint(
                    "it takes one object, whose members are the inputs; with jq: "
                    "jq -s '{rows: .}' FILE | heddle … --input-json -");
        }
        if (!object) return mistake("--input-json: " + object.error().message());
        if (!object->is(lang::kind::map))
            return mistake("--input-json: must contain a JSON object");
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
    host::bound_arguments bound = host::bind_by_name(callee, inputs);
    if (!bound.not_a_list.empty()) {
        return mistake("main: " + bound.not_a_list + " must be a list")
            .with_hint("write --input " + bound.not_a_list + ":='[…]'");
    }
    if (bound.ok()) return std::move(bound.arguments);
    std::string wrong;
    if (!bound.missing.empty()) wrong = "main needs " + list_of(bound.missing);
    if (!bound.unknown.empty()) {
        wrong += (wrong.empty() ? "" : "; ") + ("main has no parameter " + list_of(bound.unknown));
    }
    const std::vector<std::string>& names = lang::closure_of(callee)->code->parameter_names;
    std::string hint = "its parameters are: " + list_of(names);
    if (names.empty()) hint = "it has no parameters";
    else if (!bound.missing.empty())
        hint += "; give one with --input " + bound.missing.front() + "=…";
    return mistake(std::move(wrong)).with_hint(std::move(hint));
}

} // namespace heddle::cli
