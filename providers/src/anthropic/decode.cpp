#include "anthropic/wire.hpp"

#include <utility>

namespace heddle::providers::anthropic {

namespace {

using ports::chat_response;
using ports::finish_reason;

finish_reason read_stop(std::string_view reason) noexcept {
    if (reason == "end_turn" || reason == "stop_sequence") return finish_reason::stop;
    if (reason == "max_tokens" || reason == "model_context_window_exceeded") {
        return finish_reason::length;
    }
    if (reason == "tool_use") return finish_reason::tool_calls;
    if (reason == "refusal") return finish_reason::refusal;
    if (reason == "content_filter") return finish_reason::content_filter; // services alike
    return finish_reason::other; // pause_turn: the assistant's turn goes back as it is
}

result<void> read_block(const json_reader& reader, const json::object& block,
                        chat_response& response) {
    const std::string_view type = text_member(block, "type");
    if (type == "text") {
        response.text += text_member(block, "text");
    } else if (type == "thinking") {
        response.reasoning.push_back({std::string(text_member(block, "thinking")),
                                      std::string(text_member(block, "signature")),
                                      {}});
    } else if (type == "redacted_thinking") {
        response.reasoning.push_back({{}, {}, std::string(text_member(block, "data"))});
    } else if (type == "tool_use") {
        if (response.tool_calls.size() >= reader.options().max_tool_calls) {
            return reader.protocol_error("the response holds too many tool calls");
        }
        ports::tool_call& call = response.tool_calls.emplace_back();
        call.id = text_member(block, "id");
        call.name = text_member(block, "name");
        if (const json::value* input = member(block, "input")) {
            call.arguments_json = text_of_json(*input);
        }
    }
    return {};
}

result<void> read_blocks(const json_reader& reader, const json::object& root,
                         chat_response& response) {
    const json::array* content = array_member(root, "content");
    if (!content) return reader.protocol_error("the response holds no content");
    for (const json::value& one : *content) {
        const json::object* block = one.if_object();
        if (!block) return reader.protocol_error("a part of the response is not an object");
        HEDDLE_CHECK(read_block(reader, *block, response));
        if (response.reasoning.size() > max_reasoning_parts) {
            return reader.protocol_error("the response holds too many parts");
        }
    }
    return {};
}

std::string_view request_id_of(const ports::http_response& received) {
    return received.header("request-id").value_or("");
}

} // namespace

void raw_usage::take(const json::object& counts) {
    const auto new_output = reported_tokens(counts, "output_tokens");
    if (new_output && std::exchange(begins, false)) output.reset();
    take_figure(input, reported_tokens(counts, "input_tokens"));
    take_figure(cache_read, reported_tokens(counts, "cache_read_input_tokens"));
    take_figure(cache_written, reported_tokens(counts, "cache_creation_input_tokens"));
    take_figure(output, new_output);
}

void raw_usage::take_first(const json::object& counts) {
    take(counts);
    begins = true; // no count yet
}

std::optional<ports::token_usage> raw_usage::total() const {
    auto reported = reported_usage(input, output);
    if (!reported) return std::nullopt;
    reported->cached = cache_read.value_or(0);
    reported->cache_written = cache_written.value_or(0);
    // The service counts them apart.
    if (input) reported->input += reported->cached + reported->cache_written;
    if (begins) reported->output_reported = false;
    return reported;
}

void take_stop(chat_response& response, std::string_view reason, const json::object* details) {
    response.finish = read_stop(reason);
    if (response.finish != finish_reason::refusal) return;
    if (details) response.refusal = text_member(*details, "explanation");
    if (!response.refusal.empty()) return;
    response.refusal = "the model refused to answer";
    const std::string_view category = details ? text_member(*details, "category") : "";
    if (!category.empty()) response.refusal += " (" + std::string(category) + ")";
}

bool read_failure(const json::object& root, service_failure& failure) {
    const json::object* said = object_member(root, "error");
    // Gateways put the message at the top.
    if (!said && text_member(root, "message").empty()) return false;
    failure.type = said ? text_member(*said, "type") : text_member(root, "code");
    failure.message = text_member(said ? *said : root, "message");
    if (failure.request_id.empty()) failure.request_id = text_member(root, "request_id");
    // An empty account is reported as a wrong request.
    if (failure.type == "billing_error" ||
        failure.message.find("credit balance is too low") != std::string_view::npos) {
        failure.kind = ports::llm_errc::quota;
    }
    return true;
}

result<chat_response> read_response(json_reader& reader, const ports::http_response& received,
                                    std::chrono::system_clock::time_point wall_now) {
    HEDDLE_TRY(const json::value tree,
               read_object(reader, received, wall_now, read_failure, request_id_of(received)));
    const json::object& root = tree.get_object();
    chat_response response = begun_response();
    response.id = text_member(root, "id");
    response.model = text_member(root, "model");
    if (const json::object* counts = object_member(root, "usage")) {
        raw_usage usage;
        usage.take(*counts);
        response.usage = usage.total(); // first: it is paid, whatever else is wrong
    }
    if (auto read = read_blocks(reader, root, response); !read) {
        return with_so_far(std::move(read).error(), response);
    }
    take_stop(response, text_member(root, "stop_reason"), object_member(root, "stop_details"));
    mend_calls(response, reader.options());
    name_calls(response.tool_calls, response.id); // services alike may leave ids out
    drop_refused(response);
    return response;
}

result<std::vector<std::string>> read_models(json_reader& reader,
                                             const ports::http_response& received,
                                             std::chrono::system_clock::time_point wall_now) {
    HEDDLE_TRY(const json::value tree,
               read_object(reader, received, wall_now, read_failure, request_id_of(received)));
    return read_names(reader, tree.get_object(), "data", "id");
}

} // namespace heddle::providers::anthropic
