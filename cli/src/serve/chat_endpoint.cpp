#include "serve/chat_endpoint.hpp"

#include "serve/cancel_signal.hpp"
#include "serve/json_response.hpp"

#include <heddle/base/hex.hpp>
#include <heddle/failure.hpp>

#include <atomic>
#include <ctime>
#include <utility>

namespace heddle::cli {

namespace {

constexpr std::string_view prefix = "heddle/";

bool is_model(const served_function& each) noexcept {
    const function_signature& has = each.signature;
    return !has.parameters.empty() && has.parameters.front() == "messages" && has.required <= 2 &&
           (has.required < 2 || has.parameters[1] == "options");
}

bool takes_options(const function_signature& has) noexcept {
    return has.parameters.size() > 1 && has.parameters[1] == "options";
}

std::string new_id() {
    // Unique in this process; with the time also from one start to the next.
    static std::atomic<std::uint64_t> count{0};
    return "chatcmpl-" + std::to_string(std::time(nullptr)) + "-" + std::to_string(++count);
}

json usage_json(const usage& used) {
    return json::object{{"prompt_tokens", used.input_tokens},
                        {"completion_tokens", used.output_tokens},
                        {"total_tokens", used.input_tokens + used.output_tokens}};
}

std::string_view type_of(int status) noexcept {
    switch (status) {
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 429: return "rate_limit_error";
    default: return status < 500 ? "invalid_request_error" : "server_error";
    }
}

bool flag_in(const json& of, std::string_view name) noexcept {
    const json* found = of.find(name);
    const bool* truth = found ? found->get_if<bool>() : nullptr;
    return truth && *truth;
}

} // namespace

struct chat_endpoint::chat_request {
    const served_function* called = nullptr;
    std::string model; ///< as it was written
    json input;
    bool is_stream = false;
    bool wants_usage = false; ///< at the end of a stream
};

json chat_error(int status, std::string message, std::string code) {
    json::object inner{{"message", std::move(message)}, {"type", type_of(status)}};
    inner.set("param", json());
    inner.set("code", code.empty() ? json() : json(std::move(code)));
    return json::object{{"error", std::move(inner)}};
}

result<chat_endpoint::chat_request> chat_endpoint::read(const http::server_request& request) const {
    HEDDLE_TRY(json body, json_of(request));
    auto* members = body.get_if<json::object>();
    if (!members) return error(errc::invalid_argument, "the body is not an object");
    json* messages = members->find("messages");
    if (!messages || !messages->is_array() || messages->as_array().empty())
        return error(errc::invalid_argument, "'messages' is not a list of messages");
    chat_request asked;
    if (const json* model = members->find("model")) {
        const std::string* name = model->get_if<std::string>();
        if (!name) return error(errc::invalid_argument, "'model' is not a string");
        asked.model = *name;
    }
    std::string_view name = asked.model;
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    asked.called = functions_.find(name.empty() ? "chat" : name);
    if (!asked.called || !is_model(*asked.called))
        return error(errc::not_found, "there is no model '" + asked.model + "'");
    asked.is_stream = flag_in(body, "stream");
    if (const json* wanted = members->find("stream_options"))
        asked.wants_usage = flag_in(*wanted, "include_usage");
    json::object input;
    input.set("messages", std::move(*messages));
    if (takes_options(asked.called->signature)) {
        members->erase("messages");
        input.set("options", std::move(body));
    }
    asked.input = std::move(input);
    return asked;
}

coro::task<int> chat_endpoint::refuse(http::response_writer& response, int status,
                                      std::string message, std::string code) {
    json body = chat_error(status, std::move(message), std::move(code));
    co_await send_json(response, status, std::move(body));
    co_return status;
}

coro::task<served_outcome> chat_endpoint::serve(const http::server_request& request,
                                                http::response_writer& response,
                                                coro::call_context context) const {
    served_outcome outcome;
    result<chat_request> asked = read(request);
    result<call_options> bounds = calls_.bounds_of(request);
    if (!asked || !bounds) {
        const error wrong = asked ? bounds.error() : asked.error();
        const bool is_unknown = wrong.code() == make_error_code(errc::not_found);
        outcome.status = co_await refuse(response, is_unknown ? 404 : 400, wrong.message(),
                                         is_unknown ? "model_not_found" : "");
        co_return outcome;
    }
    outcome.function = asked->called->name;
    if (context.cancelled()) {
        outcome.status = co_await refuse(response, 503, "the server ends", "");
        co_return outcome;
    }
    cancel_signal stop(context);
    json input = std::move(asked->input);
    result<answer> ended = co_await asked->called->program.call(
        asked->called->signature.name, std::move(input), *bounds, stop.token());
    if (ended && ended->is_failed_result()) { // data for a caller, but no text of a model
        outcome.status = co_await refuse(response, 502, "a task of the workflow failed", "");
        co_return outcome;
    }
    if (ended) {
        outcome.status = co_await send(response, *asked, *ended);
        co_return outcome;
    }
    const error& failure = ended.error();
    calls_.note(failure);
    const int status = status_of(failure, context);
    outcome.status = co_await refuse(response, status, failure.message(), "");
    co_return outcome;
}

coro::task<int> chat_endpoint::send(http::response_writer& response, const chat_request& asked,
                                    const answer& said) {
    json::object whole{{"id", new_id()},
                       {"object", asked.is_stream ? "chat.completion.chunk" : "chat.completion"},
                       {"created", static_cast<std::int64_t>(std::time(nullptr))},
                       {"model", asked.model.empty() ? "chat" : asked.model}};
    if (!asked.is_stream) {
        json::object message{{"role", "assistant"}, {"content", said.text()}};
        json::object choice{{"index", 0}, {"message", std::move(message)}};
        choice.set("finish_reason", "stop");
        whole.set("choices", json::array{json(std::move(choice))});
        whole.set("usage", usage_json(said.used()));
        co_await send_json(response, 200, std::move(whole));
        co_return 200;
    }
    const auto chunk = [&](json::object delta, json finish) {
        json::object choice{{"index", 0}, {"delta", std::move(delta)}};
        choice.set("finish_reason", std::move(finish));
        json::object one = whole;
        one.set("choices", json::array{json(std::move(choice))});
        return "data: " + json(std::move(one)).to_string() + "\n\n";
    };
    http::response_head head;
    head.content_type = "text/event-stream";
    head.fields.push_back({"Cache-Control", "no-cache"});
    result<void> sent = co_await response.start(std::move(head));
    std::string text = chunk({{"role", "assistant"}, {"content", ""}}, json());
    text += chunk({{"content", said.text()}}, json());
    text += chunk({}, "stop");
    if (asked.wants_usage) {
        json::object last = whole;
        last.set("choices", json::array());
        last.set("usage", usage_json(said.used()));
        text += "data: " + json(std::move(last)).to_string() + "\n\n";
    }
    text += "data: [DONE]\n\n";
    if (sent) sent = co_await response.write(std::move(text));
    co_return 200;
}

coro::task<served_outcome> chat_endpoint::list(const http::server_request& request,
                                               http::response_writer& response) const {
    constexpr std::string_view path = "/v1/models/";
    const auto wanted =
        request.path().starts_with(path)
            ? percent_decoded(request.path().substr(path.size()), broken_escape::refused)
            : std::optional<std::string>();
    json::array models;
    for (const served_function& each : functions_.all()) {
        if (!is_model(each)) continue;
        const std::string id = std::string(prefix) + each.name;
        if (wanted && *wanted != id && *wanted != each.name) continue;
        models.emplace_back(
            json::object{{"id", id}, {"object", "model"}, {"created", 0}, {"owned_by", "heddle"}});
    }
    served_outcome outcome;
    if (!wanted) {
        json body = json::object{{"object", "list"}, {"data", std::move(models)}};
        co_await send_json(response, 200, std::move(body));
    } else if (models.empty()) {
        outcome.status =
            co_await refuse(response, 404, "there is no such model", "model_not_found");
    } else {
        json body = std::move(models.front());
        co_await send_json(response, 200, std::move(body));
    }
    co_return outcome;
}

} // namespace heddle::cli
