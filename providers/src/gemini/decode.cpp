#include <heddle/providers/common/retry.hpp>

#include "common/request_parts.hpp"
#include "gemini/wire.hpp"

#include <utility>

namespace heddle::providers::gemini {

namespace {

using ports::chat_response;
using ports::finish_reason;

/// A limit that is counted by the day does not pass while a run waits.
bool is_daily(const json::object& detail) {
    const json::array* violations = array_member(detail, "violations");
    if (!violations) return false;
    for (const json::value& one : *violations) {
        const json::object* violation = one.if_object();
        if (violation &&
            text_member(*violation, "quotaId").find("PerDay") != std::string_view::npos) {
            return true;
        }
    }
    return false;
}

void read_detail(const json::object& detail, service_failure& failure) {
    const std::string_view type = text_member(detail, "@type");
    if (type.ends_with("google.rpc.RetryInfo")) {
        if (auto wait = parse_duration(text_member(detail, "retryDelay"))) {
            failure.advice.wait = wait;
        }
    } else if (type.ends_with("google.rpc.ErrorInfo")) {
        failure.code = text_member(detail, "reason");
        if (is_among(failure.code, {"API_KEY_INVALID", "API_KEY_EXPIRED"})) {
            failure.kind = ports::llm_errc::authentication;
        }
    } else if (type.ends_with("google.rpc.QuotaFailure") && is_daily(detail)) {
        failure.kind = ports::llm_errc::quota;
    }
}

finish_reason read_finish(std::string_view reason) noexcept {
    if (reason == "STOP") return finish_reason::stop;
    if (reason == "MAX_TOKENS") return finish_reason::length;
    if (reason == "FUNCTION_CALL") return finish_reason::tool_calls; // servers alike
    if (is_among(reason,
                 {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE",
                  "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR"})) {
        return finish_reason::content_filter;
    }
    return finish_reason::other;
}

} // namespace

bool read_failure(const json::object& root, service_failure& failure) {
    const json::object* said = object_member(root, "error");
    if (!said && !text_member(root, "message").empty()) said = &root; // gateways
    if (!said) return false;
    failure.type = text_member(*said, "status");
    failure.message = text_member(*said, "message");
    const std::int64_t status = count_member(*said, "code");
    if (failure.status == 0 && status >= 400 && status < 600) {
        failure.status = static_cast<int>(status);
    }
    if (const json::array* details = array_member(*said, "details")) {
        for (const json::value& one : *details) {
            if (const json::object* detail = one.if_object()) read_detail(*detail, failure);
        }
    }
    return true;
}

result<void> collector::take(const json::object& chunk, std::string& text) {
    if (response_.id.empty()) response_.id = text_member(chunk, "responseId");
    if (response_.model.empty()) response_.model = text_member(chunk, "modelVersion");
    if (const json::object* counts = object_member(chunk, "usageMetadata")) take_usage(*counts);
    const json::array* candidates = array_member(chunk, "candidates");
    if (!candidates || candidates->empty()) {
        const json::object* feedback = object_member(chunk, "promptFeedback");
        const std::string_view reason = feedback ? text_member(*feedback, "blockReason") : "";
        if (reason.empty()) return {};
        finished_ = true;
        output_reported_ = true; // there is none
        response_.finish = finish_reason::content_filter;
        response_.refusal = "the service blocked the prompt (" + std::string(reason) + ")";
        return {};
    }
    const json::object* candidate = candidates->front().if_object();
    if (!candidate) return reader_.protocol_error("a candidate of the response is not an object");
    const json::object* content = object_member(*candidate, "content");
    const json::array* parts = content ? array_member(*content, "parts") : nullptr;
    if (parts) {
        for (const json::value& one : *parts) {
            const json::object* part = one.if_object();
            if (!part) return reader_.protocol_error("a part of the response is not an object");
            HEDDLE_CHECK(take_part(*part, text));
        }
    }
    const std::string_view reason = text_member(*candidate, "finishReason");
    if (reason.empty()) return {};
    take_finish(reason, text_member(*candidate, "finishMessage"));
    text += pieces_.end_text(response_);
    return {};
}

result<void> collector::take_part(const json::object& part, std::string& text) {
    const std::string_view signature = text_member(part, "thoughtSignature");
    if (const json::object* call = object_member(part, "functionCall")) {
        if (response_.tool_calls.size() >= reader_.options().max_tool_calls) {
            return reader_.protocol_error("the response holds too many tool calls");
        }
        started_ = true;
        ports::tool_call& tool = response_.tool_calls.emplace_back();
        tool.id = text_member(*call, "id");
        tool.name = text_member(*call, "name");
        tool.signature = signature;
        if (const json::value* arguments = member(*call, "args")) {
            tool.arguments_json = text_of_json(*arguments);
        }
        return {};
    }
    if (response_.reasoning.size() >= max_reasoning_parts) {
        return reader_.protocol_error("the response holds too many parts");
    }
    const std::string_view said = text_member(part, "text");
    if (is_true(part, "thought")) {
        take_thought(said, signature);
        return {};
    }
    if (!signature.empty()) {
        thought_open_ = false;
        response_.reasoning.push_back({{}, std::string(signature), {}});
    }
    if (said.empty()) return {};
    thought_open_ = false;
    started_ = true;
    text += pieces_.append_text(response_, said);
    return {};
}

/// Thoughts come in pieces too: they are one part until a signature or something else ends it.
void collector::take_thought(std::string_view text, std::string_view signature) {
    if (!thought_open_) response_.reasoning.emplace_back();
    pieces_.append(response_, grown_string::reasoning, response_.reasoning.size() - 1, text);
    response_.reasoning.back().signature += signature;
    thought_open_ = signature.empty();
}

/// Zeros are left out. The last report of each figure counts.
void collector::take_usage(const json::object& counts) {
    take_figure(input_, reported_tokens(counts, "promptTokenCount"));
    take_figure(tool_input_, reported_tokens(counts, "toolUsePromptTokenCount"));
    take_figure(output_, reported_tokens(counts, "candidatesTokenCount"));
    take_figure(thoughts_, reported_tokens(counts, "thoughtsTokenCount"));
    take_figure(total_, reported_tokens(counts, "totalTokenCount"));
    take_figure(cached_, reported_tokens(counts, "cachedContentTokenCount"));
    std::optional<std::int64_t> input = input_;
    if (input) *input += tool_input_.value_or(0);
    std::optional<std::int64_t> output = output_;
    if (thoughts_) output = output.value_or(0) + *thoughts_;
    auto reported = reported_usage(input, output, total_);
    if (!reported) return;
    reported->cached = cached_.value_or(0);
    reported->reasoning = thoughts_.value_or(0);
    output_reported_ = std::exchange(reported->output_reported, false); // more may come
    response_.usage = reported;
}

void collector::take_finish(std::string_view reason, std::string_view message) {
    finished_ = true;
    response_.finish = read_finish(reason);
    if (response_.finish == finish_reason::content_filter) {
        response_.refusal = message.empty()
                                ? "the service withheld the response (" + std::string(reason) + ")"
                                : std::string(message);
    } else if (is_among(reason, {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL",
                                 "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE"})) {
        bad_call_ = message.empty() ? reason : message;
    }
}

result<chat_response> collector::finish() {
    if (response_.usage) response_.usage->output_reported = output_reported_;
    if (!bad_call_.empty()) return reader_.protocol_error("malformed function call", bad_call_);
    pieces_.end(response_);
    if (response_.finish == finish_reason::unfinished) response_.finish = finish_reason::stop;
    mend_calls(response_, reader_.options());
    name_calls(response_.tool_calls, response_.id);
    drop_refused(response_);
    if (!response_.tool_calls.empty() && response_.finish == finish_reason::stop) {
        response_.finish = finish_reason::tool_calls;
    }
    return std::move(response_);
}

} // namespace heddle::providers::gemini
