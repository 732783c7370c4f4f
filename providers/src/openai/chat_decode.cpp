#include "openai/chat_json.hpp"

namespace heddle::providers::openai {

namespace {

using ports::chat_response;
using ports::http_response;

/// The title of an HTML page that a proxy or a login page sent, or that it is one.
std::string_view html_title(std::string_view page) noexcept {
    constexpr std::string_view opening = "<title>";
    const std::size_t begin = page.find(opening);
    const std::size_t end = page.find("</title>");
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
        return "an HTML page";
    }
    return page.substr(begin + opening.size(), end - begin - opening.size());
}

bool is_html(std::string_view body) noexcept {
    const std::size_t begin = body.find_first_not_of(" \t\r\n");
    return begin != std::string_view::npos && body[begin] == '<';
}

error read_error_answer(chat_reader& reader, const http_response& answer,
                        std::chrono::system_clock::time_point wall_now) {
    service_failure failure;
    failure.status = answer.status;
    failure.request_id = answer.header("x-request-id").value_or("");
    failure.advice =
        read_retry_advice(answer.header("x-should-retry"), answer.header("retry-after-ms"),
                          answer.header("retry-after"), wall_now);
    const auto tree = reader.parse(answer.body);
    if (!tree || !read_failure(*tree, failure)) {
        failure.message = is_html(answer.body) ? html_title(answer.body) : answer.body;
    }
    return make_service_error(reader.options().provider_name, failure, reader.options().hidden);
}

void read_call(const json::object& call, ports::tool_call& read) {
    read.id = text_member(call, "id");
    const json::object* function = object_member(call, "function");
    if (!function) return;
    read.name = text_member(*function, "name");
    const json::value* arguments = member(*function, "arguments");
    if (!arguments) return;
    // A text, by the format; some servers send the object itself.
    if (arguments->is_object()) read.arguments_json = json::serialize(*arguments);
    else read.arguments_json = text_member(*function, "arguments");
}

result<void> read_message(const chat_reader& reader, const json::object& message,
                          chat_response& response) {
    if (const json::value* content = member(message, "content")) {
        append_content(response.text, *content);
    }
    response.refusal = text_member(message, "refusal");
    const json::array* calls = array_member(message, "tool_calls");
    if (!calls) return {};
    if (calls->size() > reader.options().max_tool_calls) {
        return reader.protocol_error("the answer holds too many tool calls");
    }
    response.tool_calls.reserve(calls->size());
    for (const json::value& call : *calls) {
        const json::object* object = call.if_object();
        if (!object) return reader.protocol_error("a tool call of the answer is not an object");
        read_call(*object, response.tool_calls.emplace_back());
    }
    return check_calls(response.tool_calls, reader.options());
}

result<chat_response> read_answer(chat_reader& reader, const http_response& answer,
                                  std::chrono::system_clock::time_point wall_now) {
    if (is_html(answer.body)) {
        return reader.protocol_error("the answer is not JSON but HTML", html_title(answer.body));
    }
    HEDDLE_TRY(const json::value tree, reader.parse(answer.body));
    const json::object* root = tree.if_object();
    if (!root) return reader.protocol_error("the answer is not a JSON object", answer.body);
    if (const json::value* failed = member(*root, "error"); failed && !failed->is_null()) {
        service_failure failure;
        failure.request_id = answer.header("x-request-id").value_or("");
        failure.advice = read_retry_advice({}, answer.header("retry-after-ms"),
                                           answer.header("retry-after"), wall_now);
        if (!read_failure(tree, failure))
            return reader.protocol_error("the answer is an error", answer.body);
        return make_service_error(reader.options().provider_name, failure, reader.options().hidden);
    }

    const json::array* choices = array_member(*root, "choices");
    if (!choices || choices->empty()) return reader.protocol_error("the answer holds no choices");
    const json::object* choice = choices->front().if_object();
    const json::object* message = choice ? object_member(*choice, "message") : nullptr;
    if (!message) return reader.protocol_error("the answer holds no message");

    chat_response response;
    response.id = text_member(*root, "id");
    response.model = text_member(*root, "model");
    HEDDLE_CHECK(read_message(reader, *message, response));
    response.finish = read_finish(text_member(*choice, "finish_reason"));
    if (!response.refusal.empty()) response.finish = ports::finish_reason::refusal;
    response.usage = read_usage(member(*root, "usage"));
    return response;
}

} // namespace

chat_decoder::chat_decoder(decode_options options) : state_(std::make_unique<state>(options)) {}
chat_decoder::~chat_decoder() = default;
chat_decoder::chat_decoder(chat_decoder&&) noexcept = default;
chat_decoder& chat_decoder::operator=(chat_decoder&&) noexcept = default;

result<chat_response> chat_decoder::decode_response(
    const http_response& answer, std::chrono::system_clock::time_point wall_now) {
    if (answer.status >= 200 && answer.status < 300) {
        return read_answer(state_->reader, answer, wall_now);
    }
    return read_error_answer(state_->reader, answer, wall_now);
}

error from_http_error(error failure, std::string_view provider_name) {
    using ports::http_errc;
    using ports::llm_errc;
    if (failure.is_cancelled() || failure.code().category() != ports::http_category())
        return failure;
    llm_errc kind = llm_errc::connection;
    bool retryable = is_retryable(failure);
    switch (static_cast<http_errc>(failure.code().value())) {
    case http_errc::connect_timeout:
    case http_errc::first_byte_timeout:
    case http_errc::idle_timeout:
    case http_errc::total_timeout: kind = llm_errc::request_timeout; break;
    case http_errc::protocol_error:
    case http_errc::header_too_large:
    case http_errc::body_too_large: kind = llm_errc::protocol; break;
    case http_errc::invalid_url:
        kind = llm_errc::configuration;
        retryable = false;
        break;
    default: break;
    }
    error made(ports::make_error_code(kind), std::string(provider_name) + ": " + failure.message());
    if (!failure.info().hint.empty()) made = std::move(made).with_hint(failure.info().hint);
    return std::move(made)
        .with_origin(failure.info().origin)
        .with_retryable(retryable)
        .with_cause(failure);
}

} // namespace heddle::providers::openai
