#include "anthropic/wire.hpp"
#include "common/request_parts.hpp"

#include <algorithm>
#include <span>

namespace heddle::providers::anthropic {

namespace {

using ports::chat_message;
using ports::chat_role;
using ports::response_format;

constexpr int most_cache_marks = 4; // more are refused by the service

/// Writes one request. A class only to keep the parts short; lives as long as one call.
class encoder {
public:
    encoder(const ports::chat_request& request, const codec_options& options, json_memo& known)
        : request_(request), options_(options), known_(known) {}

    result<std::string> encode(answer_mode mode) {
        if (request_.model.empty()) return invalid_request("the request names no model");
        HEDDLE_CHECK(check_settings());
        out_.reserve(expected_size(request_));
        out_.begin_object();
        out_.key("model").string(request_.model);
        HEDDLE_CHECK(max_tokens());
        spare_marks();
        system();
        HEDDLE_CHECK(messages());
        HEDDLE_CHECK(tools());
        HEDDLE_CHECK(settings());
        HEDDLE_CHECK(output_config());
        HEDDLE_CHECK(extra());
        if (mode == answer_mode::stream) out_.key("stream").boolean(true);
        out_.end_object();
        return std::move(out_).take();
    }

private:
    bool is_old() const noexcept { return options_.version == api_version::v2023_06_01; }

    static error not_in_new_version(std::string_view setting) {
        return invalid_request(std::string(setting) +
                               ": API version 2026-10-21 has no such setting")
            .with_hint("leave " + std::string(setting) +
                       " out, or choose API version 2023-06-01 for this provider");
    }

    result<void> check_settings() const {
        if (request_.seed) {
            return invalid_request("seed: this service has no such setting")
                .with_hint("leave the seed out for this provider");
        }
        if (is_old()) return {};
        if (request_.temperature) return not_in_new_version("temperature");
        if (request_.top_p) return not_in_new_version("top_p");
        if (request_.reasoning_tokens && *request_.reasoning_tokens > 0) {
            return invalid_request(
                       "reasoning tokens: API version 2026-10-21 takes no budget for thinking")
                .with_hint(
                    "set a reasoning effort instead, or choose API version 2023-06-01 for this "
                    "provider");
        }
        return {};
    }

    result<void> max_tokens() {
        const std::int64_t budget = request_.reasoning_tokens.value_or(0);
        const std::int64_t most =
            request_.max_output_tokens.value_or(options_.default_max_tokens + budget);
        if (budget > 0 && most <= budget) {
            return invalid_request("the budget for reasoning leaves no token for the answer")
                .with_hint("set max output tokens above the reasoning tokens");
        }
        out_.key("max_tokens").number(most);
        return {};
    }

    /// Of too many marks the last ones count: what is kept up to there holds the earlier parts too.
    void spare_marks() {
        const auto marks = std::count_if(request_.messages.begin(), request_.messages.end(),
                                         [](const auto& one) { return one.cache_up_to_here; });
        marks_to_skip_ = std::max<std::ptrdiff_t>(0, marks - most_cache_marks);
    }

    bool is_marked(const chat_message& message) {
        if (!message.cache_up_to_here) return false;
        if (marks_to_skip_ == 0) return true;
        --marks_to_skip_;
        return false;
    }

    void end_block(bool marked) {
        if (marked) out_.key("cache_control").raw(R"({"type":"ephemeral"})");
        out_.end_object();
    }

    void text_block(std::string_view text, bool marked) {
        out_.begin_object();
        out_.key("type").raw(R"("text")");
        out_.key("text").string(text);
        end_block(marked);
    }

    void system() {
        std::size_t count = 0;
        const chat_message* only = nullptr;
        for (const chat_message& message : request_.messages) {
            if (message.role != chat_role::system) continue;
            ++count;
            only = &message;
        }
        if (count == 0) return;
        out_.key("system");
        if (count == 1 && !only->cache_up_to_here) {
            out_.string(only->text);
            return;
        }
        out_.begin_array();
        for (const chat_message& message : request_.messages) {
            if (message.role == chat_role::system && !message.text.empty()) {
                text_block(message.text, is_marked(message));
            }
        }
        out_.end_array();
    }

    result<void> messages() {
        const auto& all = request_.messages;
        bool any = false;
        out_.key("messages").begin_array();
        for (std::size_t i = 0; i < all.size();) {
            if (all[i].role == chat_role::system) {
                ++i;
                continue;
            }
            any = true;
            const bool is_assistant = all[i].role == chat_role::assistant;
            std::size_t end = i + 1;
            while (end < all.size() && (all[end].role == chat_role::system ||
                                        (all[end].role == chat_role::assistant) == is_assistant)) {
                ++end;
            }
            HEDDLE_CHECK(turn(std::span(all).subspan(i, end - i), is_assistant));
            i = end;
        }
        out_.end_array();
        if (!any) return invalid_request("the request holds no message besides the system text");
        return {};
    }

    static bool is_plain(const chat_message& message) noexcept {
        return message.role != chat_role::tool && message.tool_calls.empty() &&
               message.reasoning.empty() && !message.cache_up_to_here;
    }

    result<void> turn(std::span<const chat_message> parts, bool is_assistant) {
        out_.begin_object();
        out_.key("role").raw(is_assistant ? R"("assistant")" : R"("user")");
        out_.key("content");
        if (parts.size() == 1 && is_plain(parts.front())) {
            out_.string(parts.front().text);
            out_.end_object();
            return {};
        }
        out_.begin_array();
        for (const chat_message& message : parts) {
            if (message.role == chat_role::system) continue;
            HEDDLE_CHECK(blocks(message));
        }
        out_.end_array();
        out_.end_object();
        return {};
    }

    result<void> blocks(const chat_message& message) {
        const bool marked = is_marked(message);
        if (message.role == chat_role::tool) {
            tool_result(message, marked);
            return {};
        }
        for (const ports::reasoning_part& part : message.reasoning) thinking(part);
        const auto& calls = message.tool_calls;
        // An empty text is refused by the service.
        if (!message.text.empty()) text_block(message.text, marked && calls.empty());
        for (std::size_t i = 0; i < calls.size(); ++i) {
            HEDDLE_CHECK(tool_use(calls[i], marked && i + 1 == calls.size()));
        }
        return {};
    }

    /// Only what the service has signed may go back.
    void thinking(const ports::reasoning_part& part) {
        if (is_item_id(part.signature)) return;
        if (!part.opaque.empty()) {
            out_.begin_object();
            out_.key("type").raw(R"("redacted_thinking")");
            out_.key("data").string(part.opaque);
            out_.end_object();
        } else if (!part.signature.empty()) {
            out_.begin_object();
            out_.key("type").raw(R"("thinking")");
            out_.key("thinking").string(part.text);
            out_.key("signature").string(part.signature);
            out_.end_object();
        }
    }

    /// Calls of services that give no ids are numbered, and their results, which come in the same
    /// order, alike.
    void call_id(std::string_view id, std::size_t& unnamed) {
        if (id.empty()) out_.string("heddle_call_" + std::to_string(unnamed++));
        else out_.string(id);
    }

    result<void> tool_use(const ports::tool_call& call, bool marked) {
        HEDDLE_TRY(const std::string_view arguments, arguments_of(call));
        out_.begin_object();
        out_.key("type").raw(R"("tool_use")");
        out_.key("id");
        call_id(call.id, unnamed_calls_);
        out_.key("name").string(call.name);
        out_.key("input").raw(arguments);
        end_block(marked);
        return {};
    }

    void tool_result(const chat_message& message, bool marked) {
        out_.begin_object();
        out_.key("type").raw(R"("tool_result")");
        out_.key("tool_use_id");
        call_id(message.tool_call_id, unnamed_results_);
        if (message.tool_failed) out_.key("is_error").boolean(true);
        out_.key("content").string(message.text);
        end_block(marked);
    }

    result<void> tools() {
        if (request_.tools.empty()) return {};
        out_.key("tools").begin_array();
        for (const ports::tool_spec& tool : request_.tools) {
            HEDDLE_CHECK(check_parameters(tool, known_));
            out_.begin_object();
            out_.key("name").string(tool.name);
            if (!tool.description.empty()) out_.key("description").string(tool.description);
            out_.key("input_schema");
            out_.raw(tool.parameters_json.empty() ? R"({"type":"object"})"
                                                  : std::string_view(tool.parameters_json));
            out_.end_object();
        }
        out_.end_array();
        tool_choice();
        return {};
    }

    void tool_choice() {
        const std::string& choice = request_.tool_choice;
        const bool one_at_a_time = request_.parallel_tool_calls == false;
        if (choice.empty() && !one_at_a_time) return;
        out_.key("tool_choice").begin_object();
        out_.key("type");
        if (choice.empty() || choice == "auto") out_.raw(R"("auto")");
        else if (choice == "none") out_.raw(R"("none")");
        else if (choice == "required") out_.raw(R"("any")");
        else {
            out_.raw(R"("tool")");
            out_.key("name").string(choice);
        }
        if (one_at_a_time && choice != "none") {
            out_.key("disable_parallel_tool_use").boolean(true);
        }
        out_.end_object();
    }

    result<void> settings() {
        HEDDLE_CHECK(write_finite(out_, "temperature", "temperature", request_.temperature));
        HEDDLE_CHECK(write_finite(out_, "top_p", "top_p", request_.top_p));
        if (!request_.stop.empty()) {
            out_.key("stop_sequences").begin_array();
            for (const std::string& stop : request_.stop) out_.string(stop);
            out_.end_array();
        }
        if (!request_.reasoning_tokens) return {};
        out_.key("thinking").begin_object();
        out_.key("type");
        if (*request_.reasoning_tokens == 0) {
            out_.raw(R"("disabled")");
        } else {
            out_.raw(R"("enabled")");
            out_.key("budget_tokens").number(*request_.reasoning_tokens);
        }
        out_.end_object();
        return {};
    }

    result<void> output_config() {
        const response_format& wanted = request_.format;
        if (wanted.type == response_format::kind::json_object) {
            return invalid_request("JSON without a schema: this service has no such answers")
                .with_hint("give a schema for the answer");
        }
        const bool has_schema = wanted.type == response_format::kind::json_schema;
        if (!has_schema && request_.reasoning_effort.empty()) return {};
        out_.key("output_config").begin_object();
        if (!request_.reasoning_effort.empty()) {
            out_.key("effort").string(request_.reasoning_effort);
        }
        if (has_schema) {
            if (!known_.is_object(wanted.schema_json)) {
                return invalid_request("the schema of the answer is not a JSON object");
            }
            out_.key("format").begin_object();
            out_.key("type").raw(R"("json_schema")");
            out_.key("schema").raw(wanted.schema_json);
            out_.end_object();
        }
        out_.end_object();
        return {};
    }

    bool is_own(std::string_view name) const noexcept {
        if (name == "thinking") return request_.reasoning_tokens.has_value();
        return is_among(name,
                        {"model", "messages", "max_tokens", "system", "tools", "tool_choice",
                         "temperature", "top_p", "stop_sequences", "output_config", "stream"});
    }

    result<void> extra() {
        for (const ports::extra_parameter& parameter : request_.extra) {
            if (!is_old() && parameter.name == "top_k") return not_in_new_version("top_k");
            HEDDLE_CHECK(check_extra(parameter, is_own(parameter.name)));
            out_.foreign_key(parameter.name).raw(parameter.value_json);
        }
        return {};
    }

    const ports::chat_request& request_;
    const codec_options& options_;
    json_memo& known_;
    json_writer out_;
    std::ptrdiff_t marks_to_skip_ = 0;
    std::size_t unnamed_calls_ = 0;
    std::size_t unnamed_results_ = 0;
};

} // namespace

result<std::string> encode_body(const ports::chat_request& request, const codec_options& options,
                                answer_mode mode, json_memo& known) {
    return encoder(request, options, known).encode(mode);
}

} // namespace heddle::providers::anthropic
