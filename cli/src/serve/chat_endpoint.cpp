#include "serve/chat_endpoint.hpp"

#include "serve/cancel_signal.hpp"
#include "serve/chat_stream.hpp"
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

std::string_view type_of(int status) noexcept {
    switch (status) {
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 429: return "rate_limit_error";
    default: return status < 500 ? "invalid_request_error" : "server_error";
    }
}

/// Only a message of a model may be without content: it may consist of calls of tools.
bool is_message(const json& each) noexcept {
    const json* role = each.find("role");
    const std::string* name = role ? role->get_if<std::string>() : nullptr;
    const json* content = each.find("content");
    return name && ((content && !content->is_null()) || *name == "assistant");
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

result<chat_endpoint::chat_request> chat_endpoint::read(json body) const {
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
    for (const json& each : messages->as_array()) {
        if (!is_message(each)) {
            return error(errc::invalid_argument,
                         "a message is not an object with a 'role' and a 'content'");
        }
    }
    if (const json* stream = members->find("stream");
        stream && !stream->is_null() && !stream->get_if<bool>())
        return error(errc::invalid_argument, "'stream' is neither true nor false");
    if (const json* choices = members->find("n");
        choices && !choices->is_null() && *choices != 1 && *choices != 1.0)
        return error(errc::invalid_argument, "'n' is not 1: a workflow has one result");
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
    result<json> body = co_await data_.read(request);
    result<chat_request> asked = body ? read(*std::move(body)) : body.error();
    result<call_options> bounds = calls_.bounds_of(request);
    if (!asked || !bounds) {
        const error wrong = asked ? bounds.error() : asked.error();
        const bool is_unknown = wrong.code() == make_error_code(errc::not_found);
        outcome.status = co_await refuse(response, is_unknown ? 404 : http_status(wrong),
                                         wrong.message(), is_unknown ? "model_not_found" : "");
        co_return outcome;
    }
    outcome.function = asked->called->name;
    if (context.cancelled()) {
        const error gone = for_client(error::cancelled(context.cancel->reason()), context);
        outcome.status = http_status(gone);
        json refusal = chat_error(outcome.status, gone.message(), "");
        std::vector<http::response_field> fields = fields_of(gone, outcome.status);
        co_await send_json(response, outcome.status, std::move(refusal), std::move(fields));
        co_return outcome;
    }
    outcome.status = co_await respond(response, *asked, *bounds, context);
    co_return outcome;
}

/// Adds the text of the task to the stream, if there is one that has a reader.
coro::task<result<answer>> chat_endpoint::run(chat_stream& stream, chat_request& asked,
                                              call_options bounds,
                                              coro::call_context context) const {
    const served_function& called = *asked.called;
    cancel_signal stop(context);
    if (!asked.is_stream || stream_task_.empty()) {
        result<answer> ended = co_await called.program.call(
            called.signature.name, std::move(asked.input), bounds, stop.token());
        co_return ended;
    }
    job running = called.program.start(called.signature.name, std::move(asked.input), bounds);
    // Not only between two pieces: a client that does not read may hold up a write.
    const job_cancellation ends(context, running);
    result<void> sent;
    while (sent && !context.cancelled()) {
        std::optional<piece> next = co_await running.next(stop.token());
        if (!next) break;
        if (next->task == stream_task_) sent = co_await stream.add(std::move(next->text));
    }
    // Nobody reads any more, or the server ends: the end of the call is awaited in any case.
    if (!sent || context.cancelled()) running.cancel();
    result<answer> ended = co_await running.result(stop.token());
    co_return ended;
}

coro::task<int> chat_endpoint::respond(http::response_writer& response, chat_request& asked,
                                       call_options bounds, coro::call_context context) const {
    json::object envelope{{"id", new_id()},
                          {"object", "chat.completion"},
                          {"created", static_cast<std::int64_t>(std::time(nullptr))},
                          {"model", asked.model.empty() ? "chat" : asked.model}};
    chat_stream stream(response, envelope);
    result<answer> ended = co_await run(stream, asked, bounds, context);
    if (!ended) calls_.note(ended.error());
    result<std::string> said = std::string();
    if (ended && !ended->is_failed_result()) said = co_await data_.text_of(*ended);
    const usage used = ended ? ended->used() : usage();
    int status = 200;
    std::string wrong;
    std::vector<http::response_field> fields;
    if (!said) {
        status = http_status(said.error());
        wrong = said.error().message();
    } else if (!ended) {
        const error failure = for_client(ended.error(), context);
        status = http_status(failure);
        fields = fields_of(failure, status);
        wrong = failure.message();
    } else if (ended->is_failed_result()) { // data for a caller, but no text of a model
        status = 502;
        wrong = "a task of the workflow failed";
    } else if (!said->starts_with(stream.text())) {
        status = 500;
        wrong = "the result does not begin with the text of the task " + stream_task_;
    }
    if (status != 200 && stream.has_begun()) {
        json body = chat_error(status, std::move(wrong), "");
        [[maybe_unused]] const result<void> sent = co_await stream.fail(std::move(body));
    } else if (status != 200) {
        json body = chat_error(status, std::move(wrong), "");
        co_await send_json(response, status, std::move(body), std::move(fields));
    } else if (asked.is_stream) {
        std::string rest = said->substr(stream.text().size());
        result<void> sent = co_await stream.add(std::move(rest));
        if (sent) sent = co_await stream.finish(asked.wants_usage ? &used : nullptr);
    } else {
        co_await send_whole(response, std::move(envelope), *std::move(said), used);
    }
    co_return status;
}

coro::task<void> chat_endpoint::send_whole(http::response_writer& response, json::object envelope,
                                           std::string said, usage used) const {
    json::object message{{"role", "assistant"}};
    message.set("content", std::move(said));
    json::object choice{{"index", 0}, {"message", std::move(message)}};
    choice.set("finish_reason", "stop");
    envelope.set("choices", json::array{json(std::move(choice))});
    envelope.set("usage", chat_usage(used));
    co_await data_.send(response, 200, std::move(envelope));
}

coro::task<served_outcome> chat_endpoint::list(const http::server_request& request,
                                               http::response_writer& response) const {
    constexpr std::string_view path = "/v1/models/";
    const bool is_one = request.path().starts_with(path);
    const auto wanted =
        is_one ? percent_decoded(request.path().substr(path.size()), broken_escape::refused)
               : std::optional<std::string>();
    json::array models;
    for (const served_function& each : functions_.all()) {
        if (!is_model(each)) continue;
        const std::string id = std::string(prefix) + each.name;
        if (is_one && wanted != id && wanted != each.name) continue;
        models.emplace_back(
            json::object{{"id", id}, {"object", "model"}, {"created", 0}, {"owned_by", "heddle"}});
    }
    served_outcome outcome;
    if (!is_one) {
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
