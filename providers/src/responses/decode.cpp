#include "responses/wire.hpp"

#include "common/response_parts.hpp"
#include "openai/service.hpp"

namespace heddle::providers::responses {

namespace {

using ports::chat_response;
using ports::finish_reason;

void read_message(const json::object& item, chat_response& response) {
    const json::array* parts = array_member(item, "content");
    if (!parts) return;
    for (const json::value& part : *parts) {
        const json::object* object = part.if_object();
        if (!object) continue;
        const std::string_view type = text_member(*object, "type");
        if (type == "output_text") response.text += text_member(*object, "text");
        else if (type == "refusal") response.refusal += text_member(*object, "refusal");
    }
}

/// The summaries, or the texts themselves where a server shows them.
void read_thought(const json::object& item, chat_response& response) {
    ports::reasoning_part& part = response.reasoning.emplace_back();
    part.signature = text_member(item, "id");
    part.opaque = text_member(item, "encrypted_content");
    for (const std::string_view name : {"summary", "content"}) {
        const json::array* texts = array_member(item, name);
        if (!texts || !part.text.empty()) continue;
        for (const json::value& one : *texts) {
            const json::object* object = one.if_object();
            if (!object) continue;
            if (!part.text.empty()) part.text += "\n\n";
            part.text += text_member(*object, "text");
        }
    }
}

result<void> read_item(const json_reader& reader, const json::object& item,
                       chat_response& response) {
    const std::string_view type = text_member(item, "type");
    if (type == "message") {
        read_message(item, response);
    } else if (type == "reasoning") {
        read_thought(item, response);
    } else if (type == "function_call") {
        if (response.tool_calls.size() >= reader.options().max_tool_calls) {
            return reader.protocol_error("the response holds too many tool calls");
        }
        response.tool_calls.push_back(
            {std::string(text_member(item, "call_id")), std::string(text_member(item, "name")),
             std::string(text_member(item, "arguments")), std::string(text_member(item, "id"))});
    }
    return {}; // what the service did by itself, and kinds that we do not know
}

std::optional<ports::token_usage> read_usage(const json::object& root) {
    const json::object* counts = object_member(root, "usage");
    if (!counts) return std::nullopt;
    auto reported = reported_usage(reported_tokens(*counts, "input_tokens"),
                                   reported_tokens(*counts, "output_tokens"),
                                   reported_tokens(*counts, "total_tokens"));
    if (!reported) return std::nullopt;
    ports::token_usage& read = *reported;
    if (const auto* details = object_member(*counts, "input_tokens_details")) {
        read.cached = tokens_member(*details, "cached_tokens");
        read.cache_written = tokens_member(*details, "cache_write_tokens");
    }
    if (const auto* details = object_member(*counts, "output_tokens_details")) {
        read.reasoning = tokens_member(*details, "reasoning_tokens");
    }
    return reported;
}

finish_reason read_finish(const json::object& root, const chat_response& response) {
    if (text_member(root, "status") == "incomplete") {
        const json::object* details = object_member(root, "incomplete_details");
        const std::string_view reason = details ? text_member(*details, "reason") : "";
        if (reason == "content_filter") return finish_reason::content_filter;
        if (reason.empty() || reason == "max_output_tokens") return finish_reason::length;
        return finish_reason::other;
    }
    if (!response.refusal.empty()) return finish_reason::refusal;
    return response.tool_calls.empty() ? finish_reason::stop : finish_reason::tool_calls;
}

} // namespace

namespace {

result<void> read_output(const json_reader& reader, const json::object& root,
                         chat_response& response) {
    const std::string_view status = text_member(root, "status");
    if (status != "completed" && status != "incomplete") {
        return reader.protocol_error("the response is not finished", status);
    }
    const json::array* output = array_member(root, "output");
    if (!output) return reader.protocol_error("the response holds no output");
    for (const json::value& item : *output) {
        const json::object* object = item.if_object();
        if (!object) return reader.protocol_error("an item of the response is not an object");
        HEDDLE_CHECK(read_item(reader, *object, response));
    }
    return {};
}

} // namespace

result<chat_response> read_response(json_reader& reader, const json::object& root,
                                    response_mode mode) {
    chat_response response = begun_response();
    response.id = text_member(root, "id");
    response.model = text_member(root, "model");
    response.usage = read_usage(root); // first: it is paid, whatever else is wrong
    const auto failed = [&](error failure) { return with_so_far(std::move(failure), response); };
    service_failure failure;
    failure.in_stream = mode == response_mode::stream;
    if (holds_error(root)) {
        (void)openai::read_failure(root, failure);
        return failed(reader.service_error(failure));
    }
    if (text_member(root, "status") == "failed") return failed(reader.service_error(failure));
    if (auto read = read_output(reader, root, response); !read) {
        return failed(std::move(read).error());
    }
    response.finish = read_finish(root, response);
    return response;
}

result<chat_response> decode_response(json_reader& reader, const ports::http_response& received,
                                      std::chrono::system_clock::time_point wall_now) {
    const auto tree = read_object(reader, received, wall_now, &openai::read_failure,
                                  received.header(openai::request_id_header).value_or(""));
    if (!tree) return with_reported_usage(reader, tree.error(), received, &read_usage);
    HEDDLE_TRY(chat_response response,
               read_response(reader, tree->get_object(), response_mode::whole));
    mend_calls(response, reader.options());
    name_calls(response.tool_calls, response.id);
    return response;
}

} // namespace heddle::providers::responses
