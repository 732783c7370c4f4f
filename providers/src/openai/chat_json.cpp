#include "openai/chat_json.hpp"

namespace heddle::providers::openai {

std::string_view text_member(const json::object& object, std::string_view name) {
    const json::value* found = object.if_contains(name);
    if (!found || !found->is_string()) return {};
    const json::string& text = found->get_string();
    return {text.data(), text.size()};
}

std::int64_t count_member(const json::object& object, std::string_view name) {
    const json::value* found = object.if_contains(name);
    if (!found) return 0;
    if (found->is_int64()) return found->get_int64();
    // Some servers write 12.0; the range check keeps the conversion defined.
    if (found->is_double() && found->get_double() >= 0 && found->get_double() < 9e15) {
        return static_cast<std::int64_t>(found->get_double());
    }
    return 0;
}

const json::object* object_member(const json::object& object, std::string_view name) {
    const json::value* found = object.if_contains(name);
    return found ? found->if_object() : nullptr;
}

const json::array* array_member(const json::object& object, std::string_view name) {
    const json::value* found = object.if_contains(name);
    return found ? found->if_array() : nullptr;
}

void append_content(std::string& out, const json::value& content) {
    if (const json::string* text = content.if_string()) {
        out.append(text->data(), text->size());
        return;
    }
    const json::array* parts = content.if_array();
    if (!parts) return;
    for (const json::value& part : *parts) {
        const json::object* object = part.if_object();
        if (object && text_member(*object, "type") == "text") out += text_member(*object, "text");
    }
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
    ports::token_usage read;
    read.input = count_member(*counts, "prompt_tokens");
    read.output = count_member(*counts, "completion_tokens");
    if (const auto* details = object_member(*counts, "prompt_tokens_details")) {
        read.cached = count_member(*details, "cached_tokens");
    }
    if (const auto* details = object_member(*counts, "completion_tokens_details")) {
        read.reasoning = count_member(*details, "reasoning_tokens");
    }
    return read;
}

bool read_failure(const json::value& body, service_failure& failure) {
    const json::object* root = body.if_object();
    if (!root) return false;
    const json::object* said = root;
    if (const json::value* inner = root->if_contains("error"); inner && !inner->is_null()) {
        if (const json::string* text = inner->if_string()) {
            failure.message = {text->data(), text->size()};
            return true;
        }
        said = inner->if_object();
        if (!said) return false;
    } else if (!root->if_contains("message") && !root->if_contains("detail")) {
        return false;
    }
    failure.type = text_member(*said, "type");
    failure.code = text_member(*said, "code");
    failure.message = text_member(*said, "message");
    if (failure.message.empty()) failure.message = text_member(*said, "detail");
    // Routers give the status of the service behind them as a number.
    const std::int64_t number = count_member(*said, "code");
    if (failure.status == 0 && number >= 400 && number < 600)
        failure.status = static_cast<int>(number);
    return true;
}

result<void> check_calls(std::vector<ports::tool_call>& calls, const decode_options& options) {
    for (ports::tool_call& call : calls) {
        if (call.arguments_json.empty()) call.arguments_json = "{}"; // how some say: none
        if (check_json(call.arguments_json) != json_kind::object) {
            return make_protocol_error(options.provider_name,
                                       "invalid tool arguments (not a JSON object) for '" +
                                           presentable(call.name, 64, options.hidden) + "'",
                                       call.arguments_json, options.hidden);
        }
    }
    return {};
}

namespace {

json::parse_options parser_limits(std::size_t max_depth) {
    json::parse_options limits;
    limits.max_depth = max_depth;
    return limits;
}

} // namespace

chat_reader::chat_reader(decode_options options)
    : options_(options), tree_memory_(tree_block_.data(), tree_block_.size()),
      parser_({}, parser_limits(options.max_depth), parser_block_.data(), parser_block_.size()) {}

result<json::value> chat_reader::parse(std::string_view text) {
    tree_memory_.release();
    parser_.reset(&tree_memory_);
    boost::system::error_code ec;
    parser_.write(text.data(), text.size(), ec);
    if (!ec) return parser_.release();
    const bool deep = ec == json::error::too_deep;
    return protocol_error(
        deep ? "the answer's JSON is nested too deeply" : "the answer is not JSON", text);
}

} // namespace heddle::providers::openai
