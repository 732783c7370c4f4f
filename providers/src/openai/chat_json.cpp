#include "openai/chat_json.hpp"

#include "common/response_parts.hpp"

namespace heddle::providers::openai {

std::string_view reasoning_text(const json::object& message) {
    const std::string_view text = text_member(message, "reasoning_content"); // DeepSeek, vLLM
    return text.empty() ? text_member(message, "reasoning") : text;          // OpenRouter, Ollama
}

ports::finish_reason read_finish(std::string_view text) noexcept {
    if (text == "stop") return ports::finish_reason::stop;
    if (text == "length") return ports::finish_reason::length;
    if (text == "tool_calls" || text == "function_call") return ports::finish_reason::tool_calls;
    if (text == "content_filter") return ports::finish_reason::content_filter;
    return ports::finish_reason::other;
}

std::optional<ports::token_usage> read_usage(const json::value* usage) {
    const json::object* counts = usage ? usage->if_object() : nullptr;
    if (!counts) return std::nullopt;
    auto reported = reported_usage(reported_tokens(*counts, "prompt_tokens"),
                                   reported_tokens(*counts, "completion_tokens"),
                                   reported_tokens(*counts, "total_tokens"));
    if (!reported) return std::nullopt;
    ports::token_usage& read = *reported;
    if (const auto* details = object_member(*counts, "prompt_tokens_details")) {
        read.cached = tokens_member(*details, "cached_tokens");
    }
    if (read.cached == 0)
        read.cached = tokens_member(*counts, "prompt_cache_hit_tokens"); // DeepSeek
    if (const auto* details = object_member(*counts, "completion_tokens_details")) {
        read.reasoning = tokens_member(*details, "reasoning_tokens");
    }
    return reported;
}

const json::object* first_choice(const json::array& choices) {
    for (const json::value& each : choices) {
        const json::object* choice = each.if_object();
        const json::value* index = choice ? member(*choice, "index") : nullptr;
        if (index && index->is_int64() && index->get_int64() == 0) return choice;
    }
    return choices.front().if_object();
}

} // namespace heddle::providers::openai
