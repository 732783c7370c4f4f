#include "common/request_parts.hpp"

#include <heddle/base/hex.hpp>
#include <heddle/base/json_string.hpp>
#include <heddle/base/utf8.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::providers {

error invalid_request(std::string message) {
    return error(ports::make_error_code(ports::llm_errc::invalid_request), std::move(message))
        .with_retryable(false);
}

bool is_blank(std::string_view text) noexcept {
    for (std::size_t at = 0; at < text.size();) {
        const utf8::code_point next = utf8::decode(text, at);
        if (!utf8::is_space(next.value)) return false;
        at += next.bytes;
    }
    return true;
}

bool is_empty(const ports::chat_message& message) noexcept {
    if (message.role == ports::chat_role::tool) return false;
    return message.tool_calls.empty() && is_blank(message.text);
}

result<void> check_messages(const ports::chat_request& request) {
    const auto& all = request.messages;
    if (all.empty()) return invalid_request("the request holds no message");
    const bool no_prompt = all.back().role == ports::chat_role::user && is_empty(all.back());
    if (no_prompt || std::all_of(all.begin(), all.end(), is_empty)) {
        return invalid_request("the prompt is blank: there is nothing to ask the model")
            .with_hint("check the inputs that fill the instructions of the task");
    }
    return {};
}

bool is_among(std::string_view name, std::initializer_list<std::string_view> names) noexcept {
    return std::find(names.begin(), names.end(), name) != names.end();
}

result<void> write_finite(json_writer& out, std::string_view key, std::string_view shown,
                          std::optional<double> value) {
    if (!value) return {};
    if (!std::isfinite(*value)) {
        return invalid_request(std::string(shown) + " is not a finite number");
    }
    out.key(key).number(*value);
    return {};
}

result<void> check_extra(const ports::extra_parameter& parameter, bool own) {
    const std::string& name = parameter.name;
    if (own) {
        return invalid_request("the extra parameter '" + name +
                               "' is a setting; set it by its own clause");
    }
    if (check_json(parameter.value_json) != json_kind::none &&
        utf8::is_valid(parameter.value_json)) {
        return {};
    }
    return invalid_request("the extra parameter '" + name + "' is not JSON");
}

std::string_view arguments_of(const ports::tool_call& call, std::string& own) {
    constexpr std::size_t max_quoted_bytes = 4'000;
    if (call.arguments_json.empty()) return "{}";
    if (check_json(call.arguments_json) == json_kind::object &&
        utf8::is_valid(call.arguments_json)) {
        return call.arguments_json;
    }
    own = R"({"invalid_arguments":)";
    append_json_string(own, utf8::shortened(call.arguments_json, max_quoted_bytes));
    own += '}';
    return own;
}

std::string_view tool_of_result(const ports::chat_request& request, std::size_t index) noexcept {
    const ports::chat_message& result = request.messages[index];
    if (!result.tool_name.empty()) return result.tool_name;
    for (std::size_t i = index; i-- > 0;) {
        for (const ports::tool_call& call : request.messages[i].tool_calls) {
            if (call.id == result.tool_call_id) return call.name;
        }
    }
    return {};
}

result<void> check_parameters(const ports::tool_spec& tool, json_memo& known) {
    if (tool.parameters_json.empty() || known.is_object(tool.parameters_json)) return {};
    return invalid_request("the parameters of tool '" + tool.name + "' are not a JSON object");
}

bool is_item_id(std::string_view signature) noexcept {
    return signature.starts_with("rs_") || signature.starts_with("fc_") ||
           signature.starts_with("fc-");
}

std::size_t expected_size(const ports::chat_request& request) noexcept {
    std::size_t size = 512 + request.model.size() + request.format.schema_json.size();
    for (const ports::chat_message& message : request.messages) {
        size += 96 + message.text.size() + message.text.size() / 16;
        for (const auto& call : message.tool_calls) size += 128 + call.arguments_json.size();
        for (const auto& part : message.reasoning) {
            size += 64 + part.text.size() + part.signature.size() + part.opaque.size();
        }
    }
    for (const auto& tool : request.tools) {
        size += 128 + tool.description.size() + tool.parameters_json.size();
    }
    return size;
}

void append_path_segment(std::string& out, std::string_view segment) {
    append_percent_encoded(out, segment);
}

} // namespace heddle::providers
