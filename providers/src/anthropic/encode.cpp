#include "anthropic/wire.hpp"
#include "common/request_parts.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace heddle::providers::anthropic {

namespace {

using ports::chat_message;
using ports::chat_role;
using ports::response_format;

constexpr int max_cache_marks = 4; // more are refused by the service
/// Of a prompt that is kept without being asked for: about the 1,024 tokens below which the service
/// keeps nothing.
constexpr std::size_t min_cached_bytes = 4096;
constexpr double min_top_p_with_thinking = 0.95;

/// Writes one request. A class only to keep the parts short; lives as long as one call.
class encoder {
public:
    encoder(const ports::chat_request& request, const codec_options& options, json_memo& known,
            schema_shaper& schemas, std::vector<left_out_setting>* left_out)
        : request_(request), options_(options), known_(known), schemas_(schemas),
          left_out_(left_out) {}

    result<std::string> encode(response_mode mode) {
        if (request_.model.empty()) return invalid_request("the request names no model");
        HEDDLE_CHECK(check_messages(request_));
        choose_settings();
        HEDDLE_CHECK(shape_schema());
        out_.reserve(expected_size(request_));
        out_.begin_object();
        out_.key("model").string(request_.model);
        HEDDLE_CHECK(max_tokens());
        choose_marks();
        system();
        HEDDLE_CHECK(messages());
        HEDDLE_CHECK(tools());
        HEDDLE_CHECK(settings());
        output_config();
        HEDDLE_CHECK(extra());
        if (mode == response_mode::stream) out_.key("stream").boolean(true);
        out_.end_object();
        return std::move(out_).take();
    }

private:
    bool is_old() const noexcept { return options_.version == api_version::v2023_06_01; }

    void leave_out(std::string name) {
        left_out_.add(std::move(name), "API version 2026-10-21 has no such setting");
    }

    /// Which of the settings the service takes, alone and together.
    void choose_settings() {
        if (request_.seed) left_out_.add("seed", "the service has no such setting");
        temperature_ = request_.temperature;
        top_p_ = request_.top_p;
        budget_ = request_.reasoning_tokens;
        effort_ = request_.reasoning_effort;
        tool_choice_ = request_.tool_choice;
        if (effort_ == "none") {
            effort_ = {};
            budget_ = 0;
        }
        if (!is_old()) {
            if (std::exchange(temperature_, std::nullopt)) leave_out("temperature");
            if (std::exchange(top_p_, std::nullopt)) leave_out("top_p");
            if (budget_ && *budget_ > 0) {
                budget_.reset();
                left_out_.add("reasoning_tokens",
                              "API version 2026-10-21 takes a reasoning effort instead");
            }
            return;
        }
        if (!budget_ || *budget_ == 0) return;
        constexpr const char* reason = "the service does not take it beside a budget for thinking";
        if (std::exchange(temperature_, std::nullopt)) left_out_.add("temperature", reason);
        if (top_p_ && *top_p_ < min_top_p_with_thinking) {
            top_p_.reset();
            left_out_.add("top_p", reason);
        }
        if (!request_.tools.empty() && !is_among(tool_choice_, {"", "auto", "none"})) {
            tool_choice_ = "auto";
            left_out_.add("tool_choice", reason);
        }
    }

    /// A schema in the form that the service takes; one without such a form goes into the system
    /// text, in words. An object without a schema is asked for by the prompt alone.
    result<void> shape_schema() {
        const response_format& wanted = request_.format;
        if (wanted.type != response_format::kind::json_schema) return {};
        if (!known_.is_object(wanted.schema_json)) {
            return invalid_request("the schema of the response is not a JSON object");
        }
        schema_ = schemas_.shape(wanted.schema_json);
        if (schema_) return {};
        schema_note_ = "The JSON Schema of the answer: " + wanted.schema_json;
        return {};
    }

    result<void> max_tokens() {
        const std::int64_t budget = budget_.value_or(0);
        const std::int64_t most =
            request_.max_output_tokens.value_or(options_.default_max_tokens + budget);
        if (budget > 0 && most <= budget) {
            return invalid_request("the budget for reasoning leaves no token for the response")
                .with_hint("set max output tokens above the reasoning tokens");
        }
        out_.key("max_tokens").number(most);
        return {};
    }

    /// Marks of the caller go first. Without any, a long beginning that many requests may share
    /// (tools and system text) is marked, and of a conversation or a loop of tools all that there
    /// is: the next request of it begins with that. What is read from the cache costs a tenth of
    /// the price, what is written there a quarter more.
    void choose_marks() {
        if (request_.cache_prompt == false) return;
        const auto& all = request_.messages;
        for (const chat_message& message : all) {
            if (message.cache_up_to_here && !is_empty(message)) marked_.push_back(&message);
        }
        // Of too many the last ones count: what is kept up to there holds the earlier parts too.
        while (marked_.size() > max_cache_marks) marked_.erase(marked_.begin());
        if (!marked_.empty()) return;
        std::size_t beginning = 0;
        for (const ports::tool_spec& tool : request_.tools) {
            beginning += tool.name.size() + tool.description.size() + tool.parameters_json.size();
        }
        std::size_t rest = 0;
        const chat_message* system = nullptr;
        const chat_message* last = nullptr;
        bool has_response = false;
        for (const chat_message& message : all) {
            if (is_empty(message)) continue;
            if (message.role == chat_role::system) {
                beginning += message.text.size();
                system = &message;
                continue;
            }
            rest += message.text.size();
            last = &message;
            has_response = has_response || message.role == chat_role::assistant;
        }
        const std::size_t least = request_.cache_prompt == true ? 0 : min_cached_bytes;
        if (beginning >= least) {
            if (system) marked_.push_back(system);
            else marks_tools_ = !request_.tools.empty();
        }
        if (has_response && last && beginning + rest >= least) marked_.push_back(last);
    }

    bool is_marked(const chat_message& message) const noexcept {
        return std::find(marked_.begin(), marked_.end(), &message) != marked_.end();
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
        const chat_message* only = nullptr;
        std::size_t count = schema_note_.empty() ? 0 : 1;
        for (const chat_message& message : request_.messages) {
            if (message.role != chat_role::system || is_empty(message)) continue;
            ++count;
            only = &message;
        }
        if (count == 0) return;
        out_.key("system");
        if (count == 1 && (!only || !is_marked(*only))) {
            out_.string(only ? only->text : schema_note_);
            return;
        }
        out_.begin_array();
        for (const chat_message& message : request_.messages) {
            if (message.role == chat_role::system && !is_empty(message)) {
                text_block(message.text, is_marked(message));
            }
        }
        if (!schema_note_.empty()) text_block(schema_note_, false);
        out_.end_array();
    }

    /// Not a part of the messages: system texts stand apart, empty ones are refused.
    static bool is_passed_over(const chat_message& message) noexcept {
        return message.role == chat_role::system || is_empty(message);
    }

    result<void> messages() {
        const auto& all = request_.messages;
        bool any = false;
        out_.key("messages").begin_array();
        for (std::size_t i = 0; i < all.size();) {
            if (is_passed_over(all[i])) {
                ++i;
                continue;
            }
            any = true;
            const bool is_assistant = all[i].role == chat_role::assistant;
            std::size_t end = i + 1;
            while (end < all.size() && (is_passed_over(all[end]) ||
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

    bool is_plain(const chat_message& message) const noexcept {
        return message.role != chat_role::tool && message.tool_calls.empty() &&
               message.reasoning.empty() && !is_marked(message);
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
            if (!is_passed_over(message)) HEDDLE_CHECK(blocks(message));
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
        // A blank text is refused by the service.
        if (!is_blank(message.text)) text_block(message.text, marked && calls.empty());
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
        std::string own;
        const std::string_view arguments = arguments_of(call, own);
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
        for (std::size_t i = 0; i < request_.tools.size(); ++i) {
            const ports::tool_spec& tool = request_.tools[i];
            HEDDLE_CHECK(check_parameters(tool, known_));
            out_.begin_object();
            out_.key("name").string(tool.name);
            if (!tool.description.empty()) out_.key("description").string(tool.description);
            out_.key("input_schema");
            out_.raw(tool.parameters_json.empty() ? R"({"type":"object"})"
                                                  : std::string_view(tool.parameters_json));
            end_block(marks_tools_ && i + 1 == request_.tools.size());
        }
        out_.end_array();
        tool_choice();
        return {};
    }

    void tool_choice() {
        const std::string_view choice = tool_choice_;
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
        HEDDLE_CHECK(write_finite(out_, "temperature", "temperature", temperature_));
        HEDDLE_CHECK(write_finite(out_, "top_p", "top_p", top_p_));
        if (!request_.stop.empty()) {
            out_.key("stop_sequences").begin_array();
            for (const std::string& stop : request_.stop) out_.string(stop);
            out_.end_array();
        }
        if (!budget_) return {};
        out_.key("thinking").begin_object();
        out_.key("type");
        if (*budget_ == 0) {
            out_.raw(R"("disabled")");
        } else {
            out_.raw(R"("enabled")");
            out_.key("budget_tokens").number(*budget_);
        }
        out_.end_object();
        return {};
    }

    void output_config() {
        if (!schema_ && effort_.empty()) return;
        out_.key("output_config").begin_object();
        if (!effort_.empty()) out_.key("effort").string(effort_);
        if (schema_) {
            out_.key("format").begin_object();
            out_.key("type").raw(R"("json_schema")");
            out_.key("schema").raw(*schema_);
            out_.end_object();
        }
        out_.end_object();
    }

    bool is_own(std::string_view name) const noexcept {
        if (name == "thinking") return budget_.has_value();
        return is_among(name,
                        {"model", "messages", "max_tokens", "system", "tools", "tool_choice",
                         "temperature", "top_p", "stop_sequences", "output_config", "stream"});
    }

    result<void> extra() {
        for (const ports::extra_parameter& parameter : request_.extra) {
            if (parameter.name == "top_k" && !is_old()) {
                leave_out("top_k");
                continue;
            }
            HEDDLE_CHECK(check_extra(parameter, is_own(parameter.name)));
            out_.foreign_key(parameter.name).raw(parameter.value_json);
        }
        return {};
    }

    const ports::chat_request& request_;
    const codec_options& options_;
    json_memo& known_;
    schema_shaper& schemas_;
    left_out_list left_out_;
    json_writer out_;
    std::optional<double> temperature_;
    std::optional<double> top_p_;
    std::optional<std::int64_t> budget_; ///< for thinking; 0: none at all
    std::string_view effort_;
    std::string_view tool_choice_;
    std::optional<std::string_view> schema_; ///< as the service takes it
    std::string schema_note_;                ///< the system text in its place
    std::vector<const chat_message*> marked_;
    bool marks_tools_ = false;
    std::size_t unnamed_calls_ = 0;
    std::size_t unnamed_results_ = 0;
};

} // namespace

result<std::string> encode_body(const ports::chat_request& request, const codec_options& options,
                                response_mode mode, json_memo& known, schema_shaper& schemas,
                                std::vector<left_out_setting>* left_out) {
    return encoder(request, options, known, schemas, left_out).encode(mode);
}

} // namespace heddle::providers::anthropic
