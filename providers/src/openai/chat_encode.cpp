#include "common/request_parts.hpp"
#include "openai/chat_wire.hpp"

#include <heddle/base/json_string.hpp>
#include <heddle/base/utf8.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace heddle::providers::openai {

namespace {

using ports::chat_message;
using ports::chat_request;
using ports::chat_role;
using ports::response_format;

/// Members that encode_request writes itself: an extra parameter must not name one again.
constexpr std::array<std::string_view, 17> own_members = {"model",
                                                          "messages",
                                                          "temperature",
                                                          "top_p",
                                                          "max_completion_tokens",
                                                          "max_tokens",
                                                          "seed",
                                                          "stop",
                                                          "response_format",
                                                          "tools",
                                                          "tool_choice",
                                                          "reasoning_effort",
                                                          "parallel_tool_calls",
                                                          "stream",
                                                          "stream_options",
                                                          "functions",
                                                          "function_call"};

/// Writes one request. A class only to keep the parts short; lives as long as one call.
class encoder {
public:
    encoder(const chat_request& request, const encode_options& options, json_memo* known,
            std::vector<left_out_setting>* left_out)
        : request_(request), options_(options), known_(known), left_out_(left_out) {}

    result<std::string> encode() {
        out_.reserve(expected_size());
        if (request_.model.empty()) return invalid_request("the request names no model");
        out_ += R"({"model":)";
        append_json_string(out_, request_.model);
        HEDDLE_CHECK(messages());
        HEDDLE_CHECK(settings());
        HEDDLE_CHECK(format());
        HEDDLE_CHECK(tools());
        HEDDLE_CHECK(extra());
        if (options_.mode == response_mode::stream) {
            out_ += R"(,"stream":true)";
            const bool asks = options_.stream_usage && options_.dialect != wire_dialect::mistral;
            if (asks) out_ += R"(,"stream_options":{"include_usage":true})";
        }
        out_ += '}';
        return std::move(out_);
    }

private:
    /// A little too much rather than one reallocation of a long prompt.
    std::size_t expected_size() const noexcept {
        std::size_t size = 256 + request_.model.size() + request_.format.schema_json.size();
        for (const chat_message& message : request_.messages) {
            size += 64 + message.text.size() + message.text.size() / 16;
            for (const auto& call : message.tool_calls)
                size += 128 + 2 * call.arguments_json.size();
        }
        for (const auto& tool : request_.tools) {
            size += 128 + tool.description.size() + tool.parameters_json.size();
        }
        return size;
    }

    void member(std::string_view name_with_quotes_and_colon) {
        out_ += ',';
        out_ += name_with_quotes_and_colon;
    }
    void string_member(std::string_view name_with_quotes_and_colon, std::string_view value) {
        member(name_with_quotes_and_colon);
        append_json_string(out_, value);
    }

    bool is_object(std::string_view json) {
        if (known_) return known_->is_object(json);
        return check_json(json) == json_kind::object && utf8::is_valid(json);
    }

    result<void> messages() {
        HEDDLE_CHECK(check_messages(request_));
        member(R"("messages":[)");
        bool first = true;
        for (const chat_message& message : request_.messages) {
            if (is_empty(message)) continue;
            if (!std::exchange(first, false)) out_ += ',';
            switch (message.role) {
            case chat_role::system: plain(R"({"role":"system","content":)", message); break;
            case chat_role::user: plain(R"({"role":"user","content":)", message); break;
            case chat_role::assistant: assistant(message); break;
            case chat_role::tool:
                if (message.tool_call_id.empty())
                    return invalid_request("a tool's message names no call");
                out_ += R"({"role":"tool","tool_call_id":)";
                append_json_string(out_, message.tool_call_id);
                plain(R"(,"content":)", message);
                break;
            }
        }
        out_ += ']';
        return {};
    }

    void plain(std::string_view beginning, const chat_message& message) {
        out_ += beginning;
        append_json_string(out_, message.text);
        out_ += '}';
    }

    void assistant(const chat_message& message) {
        if (message.tool_calls.empty()) {
            plain(R"({"role":"assistant","content":)", message);
            return;
        }
        out_ += R"({"role":"assistant","content":)";
        if (message.text.empty()) out_ += "null";
        else append_json_string(out_, message.text);
        if (options_.dialect == wire_dialect::openai) member(R"("refusal":null)");
        member(R"("tool_calls":[)");
        bool first = true;
        for (const ports::tool_call& call : message.tool_calls) {
            if (!std::exchange(first, false)) out_ += ',';
            out_ += R"({"id":)";
            append_json_string(out_, call.id);
            out_ += R"(,"type":"function","function":{"name":)";
            append_json_string(out_, call.name);
            std::string own;
            string_member(R"("arguments":)", arguments_of(call, own));
            out_ += "}}";
        }
        out_ += "]}";
    }

    result<void> number(std::string_view name, std::string_view key, std::optional<double> value) {
        if (!value) return {};
        if (!std::isfinite(*value))
            return invalid_request(std::string(name) + " is not a finite number");
        member(key);
        append_json_number(out_, *value);
        return {};
    }

    result<void> settings() {
        HEDDLE_CHECK(number("temperature", R"("temperature":)", request_.temperature));
        HEDDLE_CHECK(number("top_p", R"("top_p":)", request_.top_p));
        if (request_.max_output_tokens) {
            member(options_.dialect == wire_dialect::openai ? R"("max_completion_tokens":)"
                                                            : R"("max_tokens":)");
            append_json_number(out_, *request_.max_output_tokens);
        }
        if (request_.seed) {
            const bool own_name = options_.dialect == wire_dialect::mistral;
            member(own_name ? R"("random_seed":)" : R"("seed":)");
            append_json_number(out_, *request_.seed);
        }
        if (!request_.stop.empty()) {
            member(R"("stop":[)");
            bool first = true;
            for (const std::string& stop : request_.stop) {
                if (!std::exchange(first, false)) out_ += ',';
                append_json_string(out_, stop);
            }
            out_ += ']';
        }
        reasoning();
        return {};
    }

    void reasoning() {
        if (!request_.reasoning_effort.empty()) {
            string_member(R"("reasoning_effort":)", request_.reasoning_effort);
        } else if (request_.reasoning_tokens == 0) {
            string_member(R"("reasoning_effort":)", "none");
        } else if (request_.reasoning_tokens) {
            left_out_.add("reasoning_tokens", std::string(takes_effort));
        }
    }

    result<void> format() {
        const response_format& wanted = request_.format;
        if (wanted.type == response_format::kind::text) return {};
        if (wanted.type == response_format::kind::json_object) {
            member(R"("response_format":{"type":"json_object"})");
            return {};
        }
        if (!is_object(wanted.schema_json)) {
            return invalid_request("the schema of the response is not a JSON object");
        }
        member(R"("response_format":{"type":"json_schema","json_schema":{"name":)");
        append_json_string(out_, wanted.schema_name.empty() ? "answer" : wanted.schema_name);
        member(R"("schema":)");
        out_ += wanted.schema_json;
        if (wanted.strict) member(R"("strict":true)");
        out_ += "}}";
        return {};
    }

    result<void> tools() {
        if (request_.tools.empty()) return {};
        member(R"("tools":[)");
        bool first = true;
        for (const ports::tool_spec& tool : request_.tools) {
            if (!std::exchange(first, false)) out_ += ',';
            out_ += R"({"type":"function","function":{"name":)";
            append_json_string(out_, tool.name);
            if (!tool.description.empty()) string_member(R"("description":)", tool.description);
            if (!tool.parameters_json.empty()) {
                if (!is_object(tool.parameters_json)) {
                    return invalid_request("the parameters of tool '" + tool.name +
                                           "' are not a JSON object");
                }
                member(R"("parameters":)");
                out_ += tool.parameters_json;
            }
            if (tool.strict) member(R"("strict":true)");
            out_ += "}}";
        }
        out_ += ']';
        tool_choice();
        if (request_.parallel_tool_calls) {
            member(*request_.parallel_tool_calls ? R"("parallel_tool_calls":true)"
                                                 : R"("parallel_tool_calls":false)");
        }
        return {};
    }

    void tool_choice() {
        const std::string& choice = request_.tool_choice;
        if (choice.empty()) return;
        if (choice == "auto" || choice == "none" || choice == "required") {
            string_member(R"("tool_choice":)", choice);
            return;
        }
        string_member(R"("tool_choice":{"type":"function","function":{"name":)", choice);
        out_ += "}}";
    }

    result<void> extra() {
        for (const ports::extra_parameter& parameter : request_.extra) {
            const bool seed_again = request_.seed && parameter.name == "random_seed" &&
                                    options_.dialect == wire_dialect::mistral;
            const auto own = std::find(own_members.begin(), own_members.end(), parameter.name);
            HEDDLE_CHECK(check_extra(parameter, own != own_members.end() || seed_again));
            out_ += ',';
            append_json_string(out_, parameter.name);
            out_ += ':';
            out_ += parameter.value_json;
        }
        return {};
    }

    const chat_request& request_;
    const encode_options& options_;
    json_memo* known_;
    left_out_list left_out_;
    std::string out_;
};

} // namespace

result<std::string> encode_request(const chat_request& request, const encode_options& options,
                                   json_memo* known_json, std::vector<left_out_setting>* left_out) {
    return encoder(request, options, known_json, left_out).encode();
}

} // namespace heddle::providers::openai
