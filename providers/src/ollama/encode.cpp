
#include "common/request_parts.hpp"
#include "ollama/wire.hpp"

#include <utility>

namespace heddle::providers::ollama {

namespace {

using ports::chat_message;
using ports::chat_role;
using ports::response_format;

/// Extra parameters that stand beside `options`, where the others go.
bool is_beside_options(std::string_view name) noexcept {
    return is_among(name, {"keep_alive", "logprobs", "top_logprobs", "truncate", "shift"});
}

bool is_own(std::string_view name) noexcept {
    return is_among(name, {"model", "messages", "tools", "format", "options", "stream", "think",
                           "temperature", "top_p", "num_predict", "seed", "stop"});
}

std::string_view role_name(chat_role role) noexcept {
    switch (role) {
    case chat_role::system: return R"("system")";
    case chat_role::user: return R"("user")";
    case chat_role::assistant: return R"("assistant")";
    case chat_role::tool: return R"("tool")";
    }
    return R"("user")";
}

/// Writes one request. A class only to keep the parts short; lives as long as one call.
class encoder {
public:
    encoder(const ports::chat_request& request, json_memo& known,
            std::vector<left_out_setting>* left_out)
        : request_(request), known_(known), left_out_(left_out) {}

    result<std::string> encode(response_mode mode) {
        if (request_.model.empty()) return invalid_request("the request names no model");
        HEDDLE_CHECK(check_messages(request_));
        HEDDLE_CHECK(check_settings());
        out_.reserve(expected_size(request_));
        out_.begin_object();
        out_.key("model").string(request_.model);
        out_.key("messages").begin_array();
        for (std::size_t i = 0; i < request_.messages.size(); ++i) {
            if (!is_empty(request_.messages[i])) HEDDLE_CHECK(message(i));
        }
        out_.end_array();
        HEDDLE_CHECK(tools());
        HEDDLE_CHECK(format());
        think();
        HEDDLE_CHECK(options());
        for (const ports::extra_parameter& parameter : request_.extra) {
            if (!is_beside_options(parameter.name)) continue;
            out_.foreign_key(parameter.name).raw(parameter.value_json);
        }
        out_.key("stream").boolean(mode == response_mode::stream); // true if left out
        out_.end_object();
        return std::move(out_).take();
    }

private:
    result<void> check_settings() {
        if (!request_.tools.empty() && !request_.tool_choice.empty() &&
            !is_among(request_.tool_choice, {"auto", "none"})) {
            left_out_.add("tool_choice", "the service cannot be made to call a tool");
        }
        if (request_.parallel_tool_calls == false && !request_.tools.empty()) {
            left_out_.add("parallel_tool_calls", "the service cannot switch them off");
        }
        for (const ports::extra_parameter& parameter : request_.extra) {
            HEDDLE_CHECK(check_extra(parameter, is_own(parameter.name)));
        }
        return {};
    }

    result<void> message(std::size_t index) {
        const chat_message& message = request_.messages[index];
        out_.begin_object();
        out_.key("role").raw(role_name(message.role));
        if (message.role == chat_role::tool) {
            out_.key("tool_name").string(tool_of_result(request_, index));
            if (is_service_call_id(message.tool_call_id)) {
                out_.key("tool_call_id").string(message.tool_call_id);
            }
        }
        // The service has no mark for a result that reports a failure.
        if (message.tool_failed) out_.key("content").string("Error: " + message.text);
        else out_.key("content").string(message.text);
        if (message.role == chat_role::assistant) {
            thinking(message);
            HEDDLE_CHECK(calls(message));
        }
        out_.end_object();
        return {};
    }

    void thinking(const chat_message& message) {
        std::string all;
        for (const ports::reasoning_part& part : message.reasoning) all += part.text;
        if (!all.empty()) out_.key("thinking").string(all);
    }

    result<void> calls(const chat_message& message) {
        if (message.tool_calls.empty()) return {};
        out_.key("tool_calls").begin_array();
        for (const ports::tool_call& call : message.tool_calls) {
            std::string own;
            const std::string_view arguments = arguments_of(call, own);
            out_.begin_object();
            if (is_service_call_id(call.id)) out_.key("id").string(call.id);
            out_.key("function").begin_object();
            out_.key("name").string(call.name);
            out_.key("arguments").raw(arguments);
            out_.end_object();
            out_.end_object();
        }
        out_.end_array();
        return {};
    }

    result<void> tools() {
        if (request_.tools.empty() || request_.tool_choice == "none") return {};
        out_.key("tools").begin_array();
        for (const ports::tool_spec& tool : request_.tools) {
            HEDDLE_CHECK(check_parameters(tool, known_));
            out_.begin_object();
            out_.key("type").raw(R"("function")");
            out_.key("function").begin_object();
            out_.key("name").string(tool.name);
            if (!tool.description.empty()) out_.key("description").string(tool.description);
            out_.key("parameters");
            out_.raw(tool.parameters_json.empty() ? R"({"type":"object"})"
                                                  : std::string_view(tool.parameters_json));
            out_.end_object();
            out_.end_object();
        }
        out_.end_array();
        return {};
    }

    result<void> format() {
        const response_format& wanted = request_.format;
        if (wanted.type == response_format::kind::text) return {};
        if (wanted.type == response_format::kind::json_object) {
            out_.key("format").raw(R"("json")");
            return {};
        }
        if (!known_.is_object(wanted.schema_json)) {
            return invalid_request("the schema of the response is not a JSON object");
        }
        out_.key("format").raw(wanted.schema_json);
        return {};
    }

    void think() {
        if (request_.reasoning_tokens == 0 || request_.reasoning_effort == "none") {
            out_.key("think").boolean(false);
        } else if (!request_.reasoning_effort.empty()) {
            out_.key("think").string(request_.reasoning_effort);
        } else if (request_.reasoning_tokens) {
            out_.key("think").boolean(true);
        }
    }

    bool has_options() const {
        if (request_.temperature || request_.top_p || request_.max_output_tokens || request_.seed ||
            !request_.stop.empty()) {
            return true;
        }
        for (const ports::extra_parameter& parameter : request_.extra) {
            if (!is_beside_options(parameter.name)) return true;
        }
        return false;
    }

    result<void> options() {
        if (!has_options()) return {};
        out_.key("options").begin_object();
        HEDDLE_CHECK(write_finite(out_, "temperature", "temperature", request_.temperature));
        HEDDLE_CHECK(write_finite(out_, "top_p", "top_p", request_.top_p));
        if (request_.max_output_tokens) {
            out_.key("num_predict").number(*request_.max_output_tokens);
        }
        if (request_.seed) out_.key("seed").number(*request_.seed);
        if (!request_.stop.empty()) {
            out_.key("stop").begin_array();
            for (const std::string& stop : request_.stop) out_.string(stop);
            out_.end_array();
        }
        for (const ports::extra_parameter& parameter : request_.extra) {
            if (is_beside_options(parameter.name)) continue;
            out_.foreign_key(parameter.name).raw(parameter.value_json);
        }
        out_.end_object();
        return {};
    }

    const ports::chat_request& request_;
    json_memo& known_;
    left_out_list left_out_;
    json_writer out_;
};

} // namespace

result<std::string> encode_body(const ports::chat_request& request, response_mode mode,
                                json_memo& known, std::vector<left_out_setting>* left_out) {
    return encoder(request, known, left_out).encode(mode);
}

} // namespace heddle::providers::ollama
