// What whole responses and stream chunks of Chat Completions have in common.
#pragma once

#include <heddle/ports/llm_port.hpp>

#include "common/json_reader.hpp"
#include "common/response_parts.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace heddle::providers::openai {

/// Calls `take` with the text of a `content`: a string, or parts of which those of type text count.
/// What some servers send as a value of JSON is text as well.
template <class Take>
void for_each_text(const json::value& content, Take take) {
    if (const json::string* text = content.if_string()) {
        take(std::string_view(text->data(), text->size()));
        return;
    }
    if (content.is_number() || content.is_bool() || content.is_object()) {
        take(std::string_view(text_of_json(content)));
        return;
    }
    const json::array* parts = content.if_array();
    if (!parts) return;
    for (const json::value& part : *parts) {
        const json::object* object = part.if_object();
        if (object && text_member(*object, "type") == "text") take(text_member(*object, "text"));
    }
}

/// What servers of reasoning models put next to the text of a message or delta; empty: nothing. It
/// becomes one part, which no service needs back.
[[nodiscard]] std::string_view reasoning_text(const json::object& message);

[[nodiscard]] ports::finish_reason read_finish(std::string_view text) noexcept;

/// Nothing when `usage` is not an object with counts.
[[nodiscard]] std::optional<ports::token_usage> read_usage(const json::value* usage);

/// The choice with the index 0, wherever it is in the list, else the first one; null if that is no
/// object. The list is not empty.
[[nodiscard]] const json::object* first_choice(const json::array& choices);

} // namespace heddle::providers::openai
