#include "serve/workflow_service.hpp"

#include "serve/json_response.hpp"
#include "serve/openapi.hpp"

#include <utility>

namespace heddle::cli {

namespace {

constexpr std::chrono::seconds second{1};

} // namespace

workflow_service::workflow_service(const request_rules& rules, const served_functions& functions,
                                   const runtime& workflows, const json_work& data, log_port& log)
    : rules_(rules), functions_(functions), workflows_(workflows), log_(log), gate_(rules),
      places_(rules.client_calls), calls_(functions, rules, metrics_, data),
      chats_(functions, calls_, data, rules.stream_task) {
    add("POST", "/v1/call/*", &workflow_service::call);
    add("POST", "/v1/chat/completions", &workflow_service::chat);
    add("GET", "/v1/models", &workflow_service::models);
    add("GET", "/v1/models/*", &workflow_service::models);
    add("GET", "/openapi.json", &workflow_service::describe);
    add("GET", "/metrics", &workflow_service::count);
    // For those who watch the process: they have no token.
    add("GET", "/healthz", &workflow_service::health, true);
    add("GET", "/readyz", &workflow_service::ready, true);
}

http::early_refusal workflow_service::refuse_early(const http::server_request& request,
                                                   coro::clock::time_point now) {
    auto refused = gate_.check_begun(request, now);
    if (!refused) return {};
    metrics_.refused(refused->status);
    return {refused->status, std::move(refused->message)};
}

void workflow_service::add(std::string method, std::string path, endpoint what, bool is_public) {
    routes_.add(
        std::move(method), std::move(path),
        [this, what, is_public](const http::server_request& request,
                                http::response_writer& response, coro::call_context context) {
            return run(what, is_public, request, response, context);
        });
}

coro::task<void> workflow_service::serve(const http::server_request& request,
                                         http::response_writer& response,
                                         coro::call_context context) {
    return routes_.serve(request, response, context);
}

coro::task<void> workflow_service::run(endpoint what, bool is_public,
                                       const http::server_request& request,
                                       http::response_writer& response,
                                       coro::call_context context) {
    if (is_public) {
        [[maybe_unused]] const served_outcome outcome =
            co_await (this->*what)(request, response, context);
        co_return;
    }
    const auto began = context.loop->now();
    std::string client;
    auto refused = gate_.check(request, began, client);
    client_places::place place;
    const bool is_call = what == &workflow_service::call || what == &workflow_service::chat;
    if (!refused && is_call &&
        !places_.take(client.empty() ? std::string(request.client) : client, place)) {
        refused.emplace(request_gate::refusal{429, "too many calls at once", second});
    }
    if (refused) {
        const bool is_chat = what == &workflow_service::chat || what == &workflow_service::models;
        const int status = co_await refuse(*refused, is_chat, response);
        metrics_.refused(status);
        co_return;
    }
    if (!client.empty()) metrics_.called_by(client);
    metrics_.began();
    const served_outcome outcome = co_await (this->*what)(request, response, context);
    const auto took = context.loop->now() - began;
    metrics_.ended(outcome.function, outcome.status, took);
    if (!log_.enabled(log_level::info)) co_return;
    std::string line(request.method);
    line += ' ';
    line += request.path();
    line += ' ' + std::to_string(outcome.status) + ' ' +
            std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()) +
            " ms";
    if (!client.empty()) line += ' ' + client;
    log_.write(log_level::info, "serve", line);
}

coro::task<int> workflow_service::refuse(const request_gate::refusal& why, bool is_chat,
                                         http::response_writer& response) {
    std::vector<http::response_field> fields;
    if (why.retry_after) fields.push_back(retry_after(*why.retry_after));
    if (why.status == 401) fields.push_back({"WWW-Authenticate", "Bearer"});
    json body =
        is_chat ? chat_error(why.status, why.message, why.status == 401 ? "invalid_api_key" : "")
                : error_json(why.status, why.message);
    co_await send_json(response, why.status, std::move(body), std::move(fields));
    co_return why.status;
}

coro::task<served_outcome> workflow_service::call(const http::server_request& request,
                                                  http::response_writer& response,
                                                  coro::call_context context) {
    return calls_.serve(request, response, context);
}

coro::task<served_outcome> workflow_service::chat(const http::server_request& request,
                                                  http::response_writer& response,
                                                  coro::call_context context) {
    return chats_.serve(request, response, context);
}

coro::task<served_outcome> workflow_service::models(const http::server_request& request,
                                                    http::response_writer& response,
                                                    coro::call_context) {
    return chats_.list(request, response);
}

coro::task<served_outcome> workflow_service::describe(const http::server_request&,
                                                      http::response_writer& response,
                                                      coro::call_context) {
    json document = openapi_document(functions_, !rules_.tokens.empty());
    co_await send_json(response, 200, std::move(document));
    co_return served_outcome();
}

coro::task<served_outcome> workflow_service::health(const http::server_request&,
                                                    http::response_writer& response,
                                                    coro::call_context) {
    json body = json::object{{"status", "ok"}};
    co_await send_json(response, 200, std::move(body));
    co_return served_outcome();
}

coro::task<served_outcome> workflow_service::ready(const http::server_request&,
                                                   http::response_writer& response,
                                                   coro::call_context) {
    json body = json::object{{"status", is_ready_ ? "ready" : "draining"}};
    co_await send_json(response, is_ready_ ? 200 : 503, std::move(body));
    co_return served_outcome();
}

coro::task<served_outcome> workflow_service::count(const http::server_request&,
                                                   http::response_writer& response,
                                                   coro::call_context) {
    http::response_head head;
    head.content_type = "text/plain; version=0.0.4; charset=utf-8";
    std::string text = metrics_.text(workflows_.stats(), is_ready_);
    [[maybe_unused]] const result<void> sent =
        co_await response.send(std::move(head), std::move(text));
    co_return served_outcome();
}

} // namespace heddle::cli
