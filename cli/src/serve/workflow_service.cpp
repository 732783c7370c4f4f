#include "serve/workflow_service.hpp"

#include "serve/json_response.hpp"
#include "serve/openapi.hpp"

#include <utility>

namespace heddle::cli {

namespace {

constexpr std::chrono::seconds second{1};

// For those who watch the process: they have no token.
constexpr const char* health_path = "/healthz";
constexpr const char* ready_path = "/readyz";

constexpr std::string_view chat_path = "/v1/chat/completions";
constexpr std::string_view models_path = "/v1/models";

/// Whether clients of OpenAI's API ask there: they get errors in its form.
bool is_of_chat(std::string_view path) noexcept {
    return path == chat_path || path.starts_with(models_path);
}

/// The body of a refusal, in the form that the clients of `path` know.
json refusal_of(std::string_view path, int status, std::string message) {
    if (!is_of_chat(path)) return error_json(status, std::move(message));
    return chat_error(status, std::move(message), status == 401 ? "invalid_api_key" : "");
}

bool is_public(const http::server_request& request) noexcept {
    const std::string_view path = request.path();
    return (request.method == "GET" || request.method == "HEAD") &&
           (path == health_path || path == ready_path);
}

/// Whether the body that is to come, of which nothing is read, takes little memory.
bool has_small_body(const http::server_request& request) noexcept {
    constexpr std::size_t max_digits = 3;
    return request.field("transfer-encoding").empty() &&
           request.field("content-length").size() <= max_digits;
}

} // namespace

workflow_service::workflow_service(const request_rules& rules, const served_functions& functions,
                                   const runtime& workflows, const json_work& data, log_port& log)
    : rules_(rules), functions_(functions), workflows_(workflows), log_(log), gate_(rules),
      places_(rules.client_calls), calls_(functions, rules, metrics_, data),
      chats_(functions, calls_, data, rules.stream_task),
      routes_([this](std::string_view path, int status, std::string_view message) {
          return count_refusal(path, status, message);
      }) {
    add("POST", "/v1/call/*", &workflow_service::call);
    add("POST", std::string(chat_path), &workflow_service::chat);
    add("GET", std::string(models_path), &workflow_service::models);
    add("GET", std::string(models_path) + "/*", &workflow_service::models);
    add("GET", "/openapi.json", &workflow_service::describe);
    add("GET", "/metrics", &workflow_service::count);
    add("GET", health_path, &workflow_service::health);
    add("GET", ready_path, &workflow_service::ready);
}

http::early_refusal workflow_service::refuse_early(const http::server_request& request,
                                                   coro::clock::time_point now) {
    if (is_public(request) && has_small_body(request)) return {};
    auto refused = gate_.check_begun(request, now);
    if (!refused) return {};
    return {refused->status, std::move(refused->message), refused->retry_after};
}

std::string workflow_service::count_refusal(std::string_view path, int status,
                                            std::string_view message) {
    metrics_.refused(status);
    return refusal_of(path, status, std::string(message)).to_string();
}

void workflow_service::add(std::string method, std::string path, endpoint what) {
    routes_.add(
        std::move(method), std::move(path),
        [this, what](const http::server_request& request, http::response_writer& response,
                     coro::call_context context) { return run(what, request, response, context); });
}

coro::task<void> workflow_service::serve(const http::server_request& request,
                                         http::response_writer& response,
                                         coro::call_context context) {
    return routes_.serve(request, response, context);
}

coro::task<void> workflow_service::run(endpoint what, const http::server_request& request,
                                       http::response_writer& response,
                                       coro::call_context context) {
    if (is_public(request)) {
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
        const int status = co_await refuse(*refused, request.path(), response);
        metrics_.refused(status);
        co_return;
    }
    if (!client.empty()) metrics_.called_by(client);
    const serve_metrics::request_in_progress counted(metrics_);
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

coro::task<int> workflow_service::refuse(const request_gate::refusal& why, std::string_view path,
                                         http::response_writer& response) {
    std::vector<http::response_field> fields;
    if (why.retry_after) fields.push_back(retry_after(*why.retry_after));
    if (why.status == 401) fields.push_back({"WWW-Authenticate", "Bearer"});
    json body = refusal_of(path, why.status, why.message);
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
