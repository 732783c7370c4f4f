#include "responses/wire.hpp"

#include "common/json_writer.hpp"
#include "common/request_parts.hpp"

#include <heddle/base/ascii.hpp>

#include <algorithm>

namespace heddle::providers::responses {

namespace {

using ports::chat_message;
using ports::chat_request;
using ports::chat_role;
using ports::response_format;

/// Writes one request. A class only to keep the parts short; lives as long as one call.
class encoder {
public:
    encoder(const chat_request& request, const encode_options& options, json_memo& known,
            std::vector<left_out_setting>* left_out)
        : request_(request), options_(options), known_(known), left_out_(left_out) {}

    result<std::string> encode() {
        if (request_.model.empty()) return invalid_request("the request names no model");
        HEDDLE_CHECK(check_messages(request_));
        if (request_.seed) left_out_.add("seed", "the service has no such setting");
        if (!request_.stop.empty()) left_out_.add("stop", "the service has no such setting");
        stored_ = !options_.encrypted_reasoning && !turns_storing_off();
        out_.reserve(expected_size(request_));
        out_.begin_object();
        out_.key("model").string(request_.model);
        HEDDLE_CHECK(messages());
        HEDDLE_CHECK(write_finite(out_, "temperature", "temperature", request_.temperature));
        HEDDLE_CHECK(write_finite(out_, "top_p", "top_p", request_.top_p));
        if (request_.max_output_tokens) {
            out_.key("max_output_tokens").number(*request_.max_output_tokens);
        }
        reasoning();
        HEDDLE_CHECK(format());
        HEDDLE_CHECK(tools());
        HEDDLE_CHECK(extra());
        if (options_.mode == response_mode::stream) out_.key("stream").boolean(true);
        out_.end_object();
        return std::move(out_).take();
    }

private:
    bool turns_storing_off() const {
        return std::any_of(request_.extra.begin(), request_.extra.end(), [](const auto& one) {
            return one.name == "store" && one.value_json == "false";
        });
    }

    result<void> messages() {
        const auto& all = request_.messages;
        auto first = std::find_if(all.begin(), all.end(), [](const chat_message& message) {
            return message.role != chat_role::system && !is_empty(message);
        });
        if (first == all.end()) first = all.begin(); // something has to be the input
        if (first != all.begin()) {
            std::string instructions;
            for (auto one = all.begin(); one != first; ++one) {
                if (is_empty(*one)) continue;
                if (!instructions.empty()) instructions += "\n\n";
                instructions += one->text;
            }
            if (!instructions.empty()) out_.key("instructions").string(instructions);
        }
        out_.key("input");
        // The service refuses json_object unless its input, instructions apart, has the word.
        const bool needs_the_word =
            request_.format.type == response_format::kind::json_object &&
            std::none_of(first, all.end(), [](const chat_message& message) {
                return ascii::to_lower(message.text).find("json") != std::string::npos;
            });
        if (options_.short_input && !needs_the_word && all.end() - first == 1 &&
            first->role == chat_role::user) {
            out_.string(first->text);
            return {};
        }
        out_.begin_array();
        if (needs_the_word) plain("system", "Answer with JSON.");
        for (; first != all.end(); ++first) {
            if (!is_empty(*first)) HEDDLE_CHECK(message(*first));
        }
        out_.end_array();
        return {};
    }

    void plain(std::string_view role, std::string_view text) {
        out_.begin_object();
        out_.key("role").string(role);
        out_.key("content").string(text);
        out_.end_object();
    }

    result<void> message(const chat_message& message) {
        switch (message.role) {
        case chat_role::system: plain("system", message.text); return {};
        case chat_role::user: plain("user", message.text); return {};
        case chat_role::tool: return tool_result(message);
        case chat_role::assistant: break;
        }
        for (const ports::reasoning_part& part : message.reasoning) thought(part);
        if (!is_blank(message.text)) plain("assistant", message.text);
        for (const ports::tool_call& call : message.tool_calls) HEDDLE_CHECK(tool_call(call));
        return {};
    }

    /// Goes back as an item of its own. One of another service, or one that is neither stored nor
    /// encrypted, would be refused.
    void thought(const ports::reasoning_part& part) {
        if (!part.signature.starts_with("rs_")) return;
        if (part.opaque.empty() && !stored_) return;
        out_.begin_object();
        out_.key("type").string("reasoning");
        out_.key("id").string(part.signature);
        out_.key("summary").begin_array();
        if (!part.text.empty()) {
            out_.begin_object();
            out_.key("type").string("summary_text");
            out_.key("text").string(part.text);
            out_.end_object();
        }
        out_.end_array();
        if (!part.opaque.empty()) out_.key("encrypted_content").string(part.opaque);
        out_.end_object();
    }

    result<void> tool_call(const ports::tool_call& call) {
        if (call.id.empty()) return invalid_request("a call of a tool has no id");
        std::string mended;
        const std::string_view arguments = arguments_of(call, mended);
        out_.begin_object();
        out_.key("type").string("function_call");
        const bool own = call.signature.starts_with("fc"); // not of another service
        if (own) out_.key("id").string(call.signature);
        out_.key("call_id").string(call.id);
        out_.key("name").string(call.name);
        out_.key("arguments").string(arguments);
        if (own) out_.key("status").string("completed");
        out_.end_object();
        return {};
    }

    result<void> tool_result(const chat_message& message) {
        if (message.tool_call_id.empty()) return invalid_request("a tool's message names no call");
        out_.begin_object();
        out_.key("type").string("function_call_output");
        out_.key("call_id").string(message.tool_call_id);
        out_.key("output").string(message.text);
        out_.end_object();
        return {};
    }

    void reasoning() {
        std::string_view effort = request_.reasoning_effort;
        if (effort.empty() && request_.reasoning_tokens) {
            if (*request_.reasoning_tokens == 0) effort = "none";
            else left_out_.add("reasoning_tokens", std::string(takes_effort));
        }
        if (effort.empty()) return;
        has_reasoning_ = true;
        out_.key("reasoning").begin_object();
        out_.key("effort").string(effort);
        out_.end_object();
    }

    result<void> format() {
        const response_format& wanted = request_.format;
        if (wanted.type == response_format::kind::text) return {};
        has_format_ = true;
        out_.key("text").begin_object();
        out_.key("format").begin_object();
        if (wanted.type == response_format::kind::json_object) {
            out_.key("type").string("json_object");
        } else {
            if (!known_.is_object(wanted.schema_json)) {
                return invalid_request("the schema of the response is not a JSON object");
            }
            out_.key("type").string("json_schema");
            out_.key("name").string(wanted.schema_name.empty() ? "answer" : wanted.schema_name);
            out_.key("schema").raw(wanted.schema_json);
            if (wanted.strict) out_.key("strict").boolean(true);
        }
        out_.end_object();
        out_.end_object();
        return {};
    }

    result<void> tools() {
        if (request_.tools.empty()) return {};
        out_.key("tools").begin_array();
        for (const ports::tool_spec& tool : request_.tools) {
            HEDDLE_CHECK(check_parameters(tool, known_));
            out_.begin_object();
            out_.key("type").string("function");
            out_.key("name").string(tool.name);
            if (!tool.description.empty()) out_.key("description").string(tool.description);
            out_.key("parameters")
                .raw(tool.parameters_json.empty()
                         ? R"({"type":"object","properties":{},"required":[],)"
                           R"("additionalProperties":false})"
                         : std::string_view(tool.parameters_json));
            out_.key("strict").boolean(tool.strict); // absent means true here
            out_.end_object();
        }
        out_.end_array();
        tool_choice();
        if (request_.parallel_tool_calls) {
            out_.key("parallel_tool_calls").boolean(*request_.parallel_tool_calls);
        }
        return {};
    }

    void tool_choice() {
        const std::string& choice = request_.tool_choice;
        if (choice.empty()) return;
        out_.key("tool_choice");
        if (is_among(choice, {"auto", "none", "required"})) {
            out_.string(choice);
            return;
        }
        out_.begin_object();
        out_.key("type").string("function");
        out_.key("name").string(choice);
        out_.end_object();
    }

    /// Members that were written already: an extra parameter must not name one again.
    bool is_own(std::string_view name) const {
        if (name == "reasoning") return has_reasoning_;
        if (name == "text") return has_format_;
        if (name == "store" || name == "include") return options_.encrypted_reasoning;
        if (name == "tools") return !request_.tools.empty(); // the service has tools of its own
        return is_among(
            name, {"model", "input", "instructions", "temperature", "top_p", "max_output_tokens",
                   "tool_choice", "parallel_tool_calls", "stream"});
    }

    result<void> extra() {
        for (const ports::extra_parameter& parameter : request_.extra) {
            HEDDLE_CHECK(check_extra(parameter, is_own(parameter.name)));
            out_.foreign_key(parameter.name).raw(parameter.value_json);
        }
        if (options_.encrypted_reasoning) {
            out_.key("store").boolean(false);
            out_.key("include").raw(R"(["reasoning.encrypted_content"])");
        }
        return {};
    }

    const chat_request& request_;
    const encode_options& options_;
    json_memo& known_;
    left_out_list left_out_;
    json_writer out_;
    bool stored_ = true; // the service keeps items, which can be named by their ids then
    bool has_reasoning_ = false;
    bool has_format_ = false;
};

} // namespace

result<std::string> encode_request(const chat_request& request, const encode_options& options,
                                   json_memo& known, std::vector<left_out_setting>* left_out) {
    return encoder(request, options, known, left_out).encode();
}

} // namespace heddle::providers::responses
