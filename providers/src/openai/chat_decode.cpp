#include "common/response_parts.hpp"
#include "openai/chat_json.hpp"
#include "openai/chat_wire.hpp"
#include "openai/service.hpp"

namespace heddle::providers::openai {

namespace {

using ports::chat_response;

void read_call(const json::object& call, ports::tool_call& read) {
    read.id = text_member(call, "id");
    const json::object* function = object_member(call, "function");
    if (!function) return;
    read.name = text_member(*function, "name");
    const json::value* arguments = member(*function, "arguments");
    if (!arguments) return;
    // A text, by the format; some servers send the object itself.
    if (arguments->is_object()) read.arguments_json = text_of_json(*arguments);
    else read.arguments_json = text_member(*function, "arguments");
}

result<void> read_message(const json_reader& reader, const json::object& message,
                          chat_response& response) {
    if (const json::value* content = member(message, "content")) {
        for_each_text(*content, [&](std::string_view text) { response.text += text; });
    }
    response.refusal = text_member(message, "refusal");
    if (const std::string_view thought = reasoning_text(message); !thought.empty()) {
        response.reasoning.push_back({std::string(thought), {}, {}});
    }
    const json::array* calls = array_member(message, "tool_calls");
    if (!calls) return {};
    if (calls->size() > reader.options().max_tool_calls) {
        return reader.protocol_error("the response holds too many tool calls");
    }
    response.tool_calls.reserve(calls->size());
    for (const json::value& call : *calls) {
        const json::object* object = call.if_object();
        if (!object) return reader.protocol_error("a tool call of the response is not an object");
        read_call(*object, response.tool_calls.emplace_back());
    }
    return {};
}

} // namespace

result<chat_response> decode_response(json_reader& reader, const ports::http_response& received,
                                      std::chrono::system_clock::time_point wall_now) {
    const auto tree = read_object(reader, received, wall_now, &read_failure,
                                  received.header(request_id_header).value_or(""));
    if (!tree) {
        return with_reported_usage(reader, tree.error(), received, [](const json::object& failed) {
            return read_usage(member(failed, "usage"));
        });
    }
    const json::object& root = tree->get_object();
    chat_response response = begun_response();
    response.id = text_member(root, "id");
    response.model = text_member(root, "model");
    response.usage = read_usage(member(root, "usage")); // first: it is paid, whatever else is wrong
    const auto failed = [&](error failure) { return with_so_far(std::move(failure), response); };
    const json::array* choices = array_member(root, "choices");
    if (!choices || choices->empty()) {
        return failed(reader.protocol_error("the response holds no choices"));
    }
    const json::object* choice = first_choice(*choices);
    const json::object* message = choice ? object_member(*choice, "message") : nullptr;
    if (!message) return failed(reader.protocol_error("the response holds no message"));
    if (auto read = read_message(reader, *message, response); !read) {
        return failed(std::move(read).error());
    }
    response.finish = read_finish(text_member(*choice, "finish_reason"));
    mend_calls(response, reader.options());
    name_calls(response.tool_calls, response.id);
    if (!response.refusal.empty()) response.finish = ports::finish_reason::refusal;
    return response;
}

} // namespace heddle::providers::openai
