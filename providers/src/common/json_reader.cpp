#include "common/json_reader.hpp"

#include <heddle/providers/common/json_text.hpp>

#include <memory>
#include <string>
#include <utility>

namespace heddle::providers {

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

std::string_view html_title(std::string_view body) noexcept {
    const std::size_t first = body.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || body[first] != '<') return {};
    constexpr std::string_view opening = "<title>";
    const std::size_t begin = body.find(opening);
    const std::size_t end = body.find("</title>");
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
        return "an HTML page";
    }
    return body.substr(begin + opening.size(), end - begin - opening.size());
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

json_reader::json_reader(decode_options options)
    : options_(options),
      parser_({}, parser_limits(options.max_depth), parser_block_.data(), parser_block_.size()) {}

result<json::value> json_reader::parse(std::string_view text) {
    // release() would keep the size of the next block, which doubles with every block: a reader that
    // has seen a few dozen big answers would ask for more memory than there is.
    tree_memory_.emplace(tree_block_.data(), tree_block_.size());
    parser_.reset(&*tree_memory_);
    boost::system::error_code ec;
    parser_.write(text.data(), text.size(), ec);
    if (!ec) return parser_.release();
    const bool deep = ec == json::error::too_deep;
    return protocol_error(
        deep ? "the answer's JSON is nested too deeply" : "the answer is not JSON", text);
}

error with_so_far(error failure, const ports::chat_response& so_far) {
    return std::move(failure).with_payload(std::make_shared<ports::partial_response>(so_far));
}

error ended_early(std::string_view provider_name, const ports::chat_response& so_far) {
    error early(ports::make_error_code(ports::llm_errc::connection),
                std::string(provider_name) + ": the stream ended early");
    return with_so_far(std::move(early).with_origin(error_origin::server).with_retryable(true),
                       so_far);
}

} // namespace heddle::providers
