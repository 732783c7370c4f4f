#include "request_text.hpp"

#include <heddle/base/number_text.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/setup/display_text.hpp>

#include <algorithm>
#include <optional>
#include <string_view>

namespace heddle::cli {

namespace {

std::string_view role_text(ports::chat_role role) noexcept {
    switch (role) {
    case ports::chat_role::system: return "system";
    case ports::chat_role::user: return "user";
    case ports::chat_role::assistant: return "assistant";
    case ports::chat_role::tool: return "tool result";
    }
    return "user";
}

/// Writes the parts of a request, within the bounds.
class request_writer {
public:
    explicit request_writer(const request_text_bounds& bounds)
        : one_(bounds.one), left_(bounds.all) {}

    void heading(std::string_view text) { out_.append(text).append(":\n"); }
    void part(std::string_view text) {
        const std::string_view shown = utf8::prefix(text, std::min(one_, left_));
        left_ -= shown.size();
        for (std::size_t at = 0; at < shown.size();) {
            const std::size_t end = std::min(shown.find('\n', at), shown.size());
            const std::string_view line = shown.substr(at, end - at);
            if (!line.empty()) out_.append("  ").append(line);
            out_ += '\n';
            at = end + 1;
        }
        const std::size_t more = text.size() - shown.size();
        if (more != 0) out_ += "  … " + setup::counted(more, "more byte") + "\n";
    }
    [[nodiscard]] std::string take() && { return std::move(out_); }

private:
    std::string out_;
    std::size_t one_;
    std::size_t left_;
};

void add_message(request_writer& to, const ports::chat_message& message) {
    std::string heading(role_text(message.role));
    if (!message.tool_name.empty()) heading += " of " + message.tool_name;
    if (message.tool_failed) heading += " (failed)";
    to.heading(heading);
    for (const ports::reasoning_part& each : message.reasoning) {
        if (!each.text.empty()) to.part("(reasoning) " + each.text);
    }
    if (!message.text.empty()) to.part(message.text);
    for (const ports::tool_call& call : message.tool_calls)
        to.part("calls " + call.name + " " + call.arguments_json);
}

} // namespace

std::string settings_text(const ports::chat_request& request) {
    std::string text;
    const auto add = [&text](std::string_view name, std::string_view value) {
        if (!text.empty()) text += ", ";
        text.append(name).append(" ").append(value);
    };
    const auto add_count = [&add](std::string_view name, const std::optional<std::int64_t>& count) {
        if (count) add(name, std::to_string(*count));
    };
    if (request.temperature) add("temperature", number_text(*request.temperature));
    if (request.top_p) add("top_p", number_text(*request.top_p));
    add_count("max_tokens", request.max_output_tokens);
    add_count("seed", request.seed);
    for (const std::string& each : request.stop) add("stop", utf8::printable_line(each));
    if (!request.tool_choice.empty()) add("tool_choice", request.tool_choice);
    if (request.parallel_tool_calls)
        add("parallel_tool_calls", *request.parallel_tool_calls ? "true" : "false");
    if (!request.reasoning_effort.empty()) add("reasoning_effort", request.reasoning_effort);
    add_count("reasoning_tokens", request.reasoning_tokens);
    if (request.cache_prompt) add("prompt_cache", *request.cache_prompt ? "true" : "false");
    for (const ports::extra_parameter& each : request.extra) add(each.name, each.value_json);
    return text;
}

std::string request_text(const ports::chat_request& request, const request_text_bounds& bounds) {
    request_writer writer(bounds);
    for (const ports::chat_message& each : request.messages) add_message(writer, each);
    for (const ports::tool_spec& tool : request.tools) {
        writer.heading("tool " + tool.name);
        if (!tool.description.empty()) writer.part(tool.description);
        writer.part(tool.parameters_json);
    }
    if (request.format.type == ports::response_format::kind::json_schema) {
        writer.heading("schema of the response");
        writer.part(request.format.schema_json);
    } else if (request.format.type == ports::response_format::kind::json_object) {
        writer.heading("form of the response");
        writer.part("a JSON object");
    }
    return std::move(writer).take();
}

} // namespace heddle::cli
