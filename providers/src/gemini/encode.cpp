#include <heddle/base/utf8.hpp>

#include "common/request_parts.hpp"
#include "gemini/wire.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace heddle::providers::gemini {

namespace {

using ports::chat_message;
using ports::chat_role;
using ports::response_format;

/// Extra parameters that belong into generationConfig; the others stand beside it.
bool is_of_generation(std::string_view name) noexcept {
    return is_among(name, {"topK", "top_k", "presencePenalty", "frequencyPenalty",
                           "responseModalities", "mediaResolution", "speechConfig", "imageConfig",
                           "responseLogprobs", "logprobs", "enableEnhancedCivicAnswers"});
}

bool is_own(std::string_view name) noexcept {
    return is_among(
        name, {"model", "contents", "systemInstruction", "tools", "toolConfig", "generationConfig",
               "temperature", "topP", "maxOutputTokens", "stopSequences", "seed", "candidateCount",
               "responseMimeType", "responseSchema", "responseJsonSchema", "thinkingConfig"});
}

/// Writes one request. A class only to keep the parts short; lives as long as one call.
class encoder {
public:
    encoder(const ports::chat_request& request, json_memo& known, json_reader& reader,
            std::vector<left_out_setting>* left_out)
        : request_(request), known_(known), reader_(reader), left_out_(left_out) {}

    result<std::string> encode() {
        HEDDLE_CHECK(check_settings());
        out_.reserve(expected_size(request_));
        out_.begin_object();
        HEDDLE_CHECK(contents());
        const bool has_system = system();
        HEDDLE_CHECK(tools());
        HEDDLE_CHECK(generation(has_system));
        for (const ports::extra_parameter& parameter : request_.extra) {
            if (is_of_generation(parameter.name)) continue;
            out_.foreign_key(parameter.name).raw(parameter.value_json);
        }
        out_.end_object();
        return std::move(out_).take();
    }

private:
    result<void> check_settings() {
        HEDDLE_CHECK(check_messages(request_));
        if (request_.parallel_tool_calls == false && !request_.tools.empty()) {
            left_out_.add("parallel_tool_calls", "the service cannot switch them off");
        }
        if (!request_.reasoning_effort.empty() && request_.reasoning_tokens) {
            return invalid_request("reasoning: this service takes an effort or a budget, not both")
                .with_hint("leave out the effort or the reasoning tokens");
        }
        for (const ports::extra_parameter& parameter : request_.extra) {
            HEDDLE_CHECK(check_extra(parameter, is_own(parameter.name)));
        }
        return {};
    }

    void text_part(std::string_view text, std::string_view signature = {}) {
        out_.begin_object();
        out_.key("text").string(text);
        if (!signature.empty()) out_.key("thoughtSignature").string(signature);
        out_.end_object();
    }

    bool system() {
        bool any = false;
        for (const chat_message& message : request_.messages) {
            if (message.role != chat_role::system || is_empty(message)) continue;
            if (!std::exchange(any, true)) {
                out_.key("systemInstruction").begin_object();
                out_.key("parts").begin_array();
            }
            text_part(message.text);
        }
        if (!any) return false;
        out_.end_array();
        out_.key("role").raw(R"("user")");
        out_.end_object();
        return true;
    }

    /// Not a part of the contents.
    static bool is_passed_over(const chat_message& message) noexcept {
        return message.role == chat_role::system || is_empty(message);
    }

    result<void> contents() {
        const auto& all = request_.messages;
        bool any = false;
        out_.key("contents").begin_array();
        for (std::size_t i = 0; i < all.size();) {
            if (is_passed_over(all[i])) {
                ++i;
                continue;
            }
            any = true;
            const bool is_model = all[i].role == chat_role::assistant;
            std::size_t end = i + 1;
            while (end < all.size() && (is_passed_over(all[end]) ||
                                        (all[end].role == chat_role::assistant) == is_model)) {
                ++end;
            }
            HEDDLE_CHECK(turn(i, end, is_model));
            i = end;
        }
        out_.end_array();
        if (!any) return invalid_request("the request holds no message besides the system text");
        return {};
    }

    result<void> turn(std::size_t begin, std::size_t end, bool is_model) {
        out_.begin_object();
        out_.key("parts").begin_array();
        for (std::size_t i = begin; i < end; ++i) {
            const chat_message& message = request_.messages[i];
            if (is_passed_over(message)) continue;
            if (message.role == chat_role::user) {
                text_part(message.text);
                continue;
            }
            HEDDLE_CHECK(is_model ? model_parts(message) : tool_result(i));
        }
        out_.end_array();
        out_.key("role").raw(is_model ? R"("model")" : R"("user")");
        out_.end_object();
        return {};
    }

    /// Sends only what the service has signed. A signature without text belongs to the response.
    result<void> model_parts(const chat_message& message) {
        std::string_view text_signature;
        for (const ports::reasoning_part& part : message.reasoning) {
            if (part.signature.empty() || is_item_id(part.signature)) continue;
            if (part.text.empty()) {
                text_signature = part.signature;
                continue;
            }
            out_.begin_object();
            out_.key("text").string(part.text);
            out_.key("thought").boolean(true);
            out_.key("thoughtSignature").string(part.signature);
            out_.end_object();
        }
        if (!message.text.empty() || message.tool_calls.empty()) {
            text_part(message.text, text_signature);
        }
        for (const ports::tool_call& call : message.tool_calls) HEDDLE_CHECK(function_call(call));
        return {};
    }

    result<void> function_call(const ports::tool_call& call) {
        std::string own;
        const std::string_view arguments = arguments_of(call, own);
        out_.begin_object();
        out_.key("functionCall").begin_object();
        out_.key("args").raw(arguments);
        if (is_service_call_id(call.id)) out_.key("id").string(call.id);
        out_.key("name").string(call.name);
        out_.end_object();
        if (!call.signature.empty() && !is_item_id(call.signature)) {
            out_.key("thoughtSignature").string(call.signature);
        }
        out_.end_object();
        return {};
    }

    result<void> tool_result(std::size_t index) {
        const chat_message& message = request_.messages[index];
        const std::string_view name = tool_of_result(request_, index);
        if (name.empty()) return invalid_request("a tool's message names no tool");
        out_.begin_object();
        out_.key("functionResponse").begin_object();
        if (is_service_call_id(message.tool_call_id)) out_.key("id").string(message.tool_call_id);
        out_.key("name").string(name);
        out_.key("response");
        const bool is_object = !message.tool_failed &&
                               check_json(message.text) == json_kind::object &&
                               utf8::is_valid(message.text);
        if (is_object) {
            out_.raw(message.text);
        } else {
            out_.begin_object();
            out_.key(message.tool_failed ? "error" : "output").string(message.text);
            out_.end_object();
        }
        out_.end_object();
        out_.end_object();
        return {};
    }

    /// True for the service's own kind of schema, whose types are in capitals.
    bool is_own_schema(std::string_view schema) {
        static constexpr std::array<std::string_view, 6> types = {"OBJECT", "ARRAY",   "STRING",
                                                                  "NUMBER", "INTEGER", "BOOLEAN"};
        // A look for the words spares nearly every schema the parsing.
        const bool maybe = std::any_of(types.begin(), types.end(), [&](std::string_view type) {
            return schema.find(type) != std::string_view::npos;
        });
        if (!maybe) return false;
        const auto tree = reader_.parse(schema);
        const json::object* root = tree ? tree->if_object() : nullptr;
        return root &&
               std::find(types.begin(), types.end(), text_member(*root, "type")) != types.end();
    }

    result<void> tools() {
        if (request_.tools.empty()) return {};
        out_.key("tools").begin_array();
        out_.begin_object();
        out_.key("functionDeclarations").begin_array();
        for (const ports::tool_spec& tool : request_.tools) {
            HEDDLE_CHECK(check_parameters(tool, known_));
            out_.begin_object();
            out_.key("name").string(tool.name);
            if (!tool.description.empty()) out_.key("description").string(tool.description);
            if (!tool.parameters_json.empty()) {
                out_.key(is_own_schema(tool.parameters_json) ? "parameters"
                                                             : "parametersJsonSchema");
                out_.raw(tool.parameters_json);
            }
            out_.end_object();
        }
        out_.end_array();
        out_.end_object();
        out_.end_array();
        tool_choice();
        return {};
    }

    void tool_choice() {
        const std::string& choice = request_.tool_choice;
        if (choice.empty()) return;
        out_.key("toolConfig").begin_object();
        out_.key("functionCallingConfig").begin_object();
        out_.key("mode");
        if (choice == "auto") out_.raw(R"("AUTO")");
        else if (choice == "none") out_.raw(R"("NONE")");
        else out_.raw(R"("ANY")");
        if (choice != "auto" && choice != "none" && choice != "required") {
            out_.key("allowedFunctionNames").begin_array();
            out_.string(choice);
            out_.end_array();
        }
        out_.end_object();
        out_.end_object();
    }

    bool has_generation() const {
        return request_.temperature || request_.top_p || request_.max_output_tokens ||
               request_.seed || !request_.stop.empty() || !request_.reasoning_effort.empty() ||
               request_.reasoning_tokens || request_.format.type != response_format::kind::text;
    }

    /// Written, as the official client does it, whenever the request has more than its contents.
    result<void> generation(bool has_system) {
        const bool says_more =
            has_system || !request_.tools.empty() || !request_.extra.empty() || has_generation();
        if (!says_more) return {};
        out_.key("generationConfig").begin_object();
        HEDDLE_CHECK(write_finite(out_, "temperature", "temperature", request_.temperature));
        HEDDLE_CHECK(write_finite(out_, "topP", "top_p", request_.top_p));
        if (request_.max_output_tokens) {
            out_.key("maxOutputTokens").number(*request_.max_output_tokens);
        }
        if (!request_.stop.empty()) {
            out_.key("stopSequences").begin_array();
            for (const std::string& stop : request_.stop) out_.string(stop);
            out_.end_array();
        }
        if (request_.seed) out_.key("seed").number(*request_.seed);
        HEDDLE_CHECK(format());
        thinking();
        for (const ports::extra_parameter& parameter : request_.extra) {
            if (!is_of_generation(parameter.name)) continue;
            out_.foreign_key(parameter.name == "top_k" ? "topK" : parameter.name);
            out_.raw(parameter.value_json);
        }
        out_.end_object();
        return {};
    }

    result<void> format() {
        const response_format& wanted = request_.format;
        if (wanted.type == response_format::kind::text) return {};
        out_.key("responseMimeType").raw(R"("application/json")");
        if (wanted.type == response_format::kind::json_object) return {};
        if (!known_.is_object(wanted.schema_json)) {
            return invalid_request("the schema of the response is not a JSON object");
        }
        out_.key(is_own_schema(wanted.schema_json) ? "responseSchema" : "responseJsonSchema");
        out_.raw(wanted.schema_json);
        return {};
    }

    void thinking() {
        if (!request_.reasoning_tokens && request_.reasoning_effort.empty()) return;
        out_.key("thinkingConfig").begin_object();
        if (request_.reasoning_tokens) {
            out_.key("thinkingBudget").number(*request_.reasoning_tokens);
        } else {
            out_.key("thinkingLevel").string(request_.reasoning_effort);
        }
        out_.key("includeThoughts").boolean(request_.reasoning_tokens != 0);
        out_.end_object();
    }

    const ports::chat_request& request_;
    json_memo& known_;
    json_reader& reader_;
    left_out_list left_out_;
    json_writer out_;
};

} // namespace

result<std::string> encode_body(const ports::chat_request& request, json_memo& known,
                                json_reader& reader, std::vector<left_out_setting>* left_out) {
    return encoder(request, known, reader, left_out).encode();
}

} // namespace heddle::providers::gemini
