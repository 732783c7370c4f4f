#include "ollama/wire.hpp"

namespace heddle::providers::ollama {

using ports::chat_response;
using ports::finish_reason;

bool read_failure(const json::object& root, service_failure& failure) {
    const json::value* said = member(root, "error");
    if (!said) return false;
    if (const json::string* text = said->if_string()) {
        failure.message = {text->data(), text->size()};
        return true;
    }
    const json::object* object = said->if_object();
    if (!object) return false;
    failure.type = text_member(*object, "type");
    failure.code = text_member(*object, "code");
    failure.message = text_member(*object, "message");
    return true;
}

result<void> collector::take(const json::object& piece, std::string& text) {
    if (done_) return {}; // nothing after the end mark matters
    if (response_.model.empty()) response_.model = text_member(piece, "model");
    if (made_at_.empty()) made_at_ = text_member(piece, "created_at");
    const bool ends = is_true(piece, "done");
    if (ends) { // first: it is paid, whatever else is wrong
        // The count of the prompt is left out when all of it was still in memory.
        response_.usage = reported_usage(reported_tokens(piece, "prompt_eval_count"),
                                         reported_tokens(piece, "eval_count"));
    }
    if (const json::object* message = object_member(piece, "message")) {
        HEDDLE_CHECK(take_message(*message, text));
    }
    if (!ends) return {};
    take_end(piece);
    text += pieces_.end_text(response_);
    return {};
}

result<void> collector::take_message(const json::object& message, std::string& text) {
    const std::string_view thought = text_member(message, "thinking");
    if (!thought.empty()) {
        if (response_.reasoning.empty()) response_.reasoning.emplace_back();
        pieces_.append(response_, grown_string::reasoning, 0, thought);
    }
    text += pieces_.append_text(response_, text_member(message, "content"));
    const json::array* calls = array_member(message, "tool_calls");
    if (!calls) return {};
    for (const json::value& one : *calls) {
        const json::object* call = one.if_object();
        const json::object* function = call ? object_member(*call, "function") : nullptr;
        if (!function) return reader_.protocol_error("a tool call of the response is not one");
        if (response_.tool_calls.size() >= reader_.options().max_tool_calls) {
            return reader_.protocol_error("the response holds too many tool calls");
        }
        ports::tool_call& tool = response_.tool_calls.emplace_back();
        tool.id = text_member(*call, "id");
        tool.name = text_member(*function, "name");
        const json::value* arguments = member(*function, "arguments");
        if (!arguments || arguments->is_null()) continue;
        // An object, by the format; some servers send it as a text.
        if (arguments->is_string()) tool.arguments_json = text_member(*function, "arguments");
        else tool.arguments_json = text_of_json(*arguments);
    }
    return {};
}

void collector::take_end(const json::object& piece) {
    done_ = true;
    const std::string_view reason = text_member(piece, "done_reason");
    if (reason == "stop" || reason.empty()) response_.finish = finish_reason::stop;
    else if (reason == "length") response_.finish = finish_reason::length;
    else response_.finish = finish_reason::other; // "load", "unload"
}

result<chat_response> collector::finish() {
    pieces_.end(response_);
    if (response_.finish == finish_reason::unfinished) response_.finish = finish_reason::stop;
    mend_calls(response_, reader_.options());
    name_calls(response_.tool_calls, made_at_);
    // Calls end with "stop" here.
    if (!response_.tool_calls.empty() && response_.finish == finish_reason::stop) {
        response_.finish = finish_reason::tool_calls;
    }
    return std::move(response_);
}

} // namespace heddle::providers::ollama
