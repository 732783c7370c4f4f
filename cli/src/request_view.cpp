#include "request_view.hpp"

#include <heddle/base/json_string.hpp>
#include <heddle/providers/common/neutral_json.hpp>

namespace heddle::cli {

ports::chat_request without_secrets(const ports::chat_request& request, const redactor& secrets) {
    ports::chat_request shown = request;
    if (!secrets.hides()) return shown;
    for (ports::chat_message& each : shown.messages) {
        secrets.hide(each.text);
        for (ports::tool_call& call : each.tool_calls) secrets.hide(call.arguments_json);
        for (ports::reasoning_part& part : each.reasoning) {
            secrets.hide(part.text);
            secrets.hide(part.signature);
            secrets.hide(part.opaque);
        }
    }
    for (ports::tool_spec& tool : shown.tools) {
        secrets.hide(tool.description);
        secrets.hide(tool.parameters_json);
    }
    secrets.hide(shown.format.schema_json);
    for (std::string& each : shown.stop) secrets.hide(each);
    for (ports::extra_parameter& each : shown.extra) secrets.hide(each.value_json);
    return shown;
}

std::string request_members(const ports::chat_request& request, std::string_view service) {
    std::string out = "\"task\":";
    append_json_string(out, request.origin.task);
    if (!request.origin.work.empty()) {
        out += ",\"work\":";
        append_json_string(out, request.origin.work);
    }
    out += ",\"service\":";
    append_json_string(out, service);
    out += ",\"model\":";
    append_json_string(out, request.model);
    out += ",\"request\":";
    providers::append_request_json(out, request);
    return out;
}

} // namespace heddle::cli
