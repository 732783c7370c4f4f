// All endpoints of `heddle serve`.
#pragma once

#include "serve/call_endpoint.hpp"
#include "serve/chat_endpoint.hpp"
#include "serve/client_places.hpp"
#include "serve/request_gate.hpp"
#include "serve/serve_metrics.hpp"
#include "serve/serve_options.hpp"
#include "serve/served_functions.hpp"

#include <heddle/base/log.hpp>
#include <heddle/http/router.hpp>
#include <heddle/runtime.hpp>

#include <string>

namespace heddle::cli {

/// Checks requests, passes them to the endpoints, counts them and writes a line of the log for each
/// call: method, path, status and time, never a body or a field.
/// Lifetime: outlives the server. Threads: the loop's only.
class workflow_service {
public:
    /// All that is passed outlives it.
    workflow_service(const request_rules& rules, const served_functions& functions,
                     const runtime& workflows, const json_work& data, log_port& log);

    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): awaited at once
    [[nodiscard]] coro::task<void> serve(const http::server_request& request,
                                         http::response_writer& response,
                                         coro::call_context context);

    /// As http::server_options::before_body.
    [[nodiscard]] http::early_refusal refuse_early(const http::server_request& request,
                                                   coro::clock::time_point now);

    /// As http::server_options::refusal_body; counts the request, which serve() does not see.
    [[nodiscard]] std::string count_refusal(std::string_view path, int status,
                                            std::string_view message);

    /// From now on /readyz responds with 503.
    void drain() noexcept { is_ready_ = false; }

private:
    using endpoint = coro::task<served_outcome> (workflow_service::*)(const http::server_request&,
                                                                      http::response_writer&,
                                                                      coro::call_context);

    // NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)
    void add(std::string method, std::string path, endpoint what);
    [[nodiscard]] coro::task<void> run(endpoint what, const http::server_request& request,
                                       http::response_writer& response, coro::call_context context);
    [[nodiscard]] coro::task<int> refuse(const request_gate::refusal& why, std::string_view path,
                                         http::response_writer& response);
    [[nodiscard]] coro::task<served_outcome> call(const http::server_request& request,
                                                  http::response_writer& response,
                                                  coro::call_context context);
    [[nodiscard]] coro::task<served_outcome> chat(const http::server_request& request,
                                                  http::response_writer& response,
                                                  coro::call_context context);
    [[nodiscard]] coro::task<served_outcome> models(const http::server_request& request,
                                                    http::response_writer& response,
                                                    coro::call_context context);
    [[nodiscard]] coro::task<served_outcome> describe(const http::server_request& request,
                                                      http::response_writer& response,
                                                      coro::call_context context);
    [[nodiscard]] coro::task<served_outcome> health(const http::server_request& request,
                                                    http::response_writer& response,
                                                    coro::call_context context);
    [[nodiscard]] coro::task<served_outcome> ready(const http::server_request& request,
                                                   http::response_writer& response,
                                                   coro::call_context context);
    [[nodiscard]] coro::task<served_outcome> count(const http::server_request& request,
                                                   http::response_writer& response,
                                                   coro::call_context context);
    // NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

    const request_rules& rules_;
    const served_functions& functions_;
    const runtime& workflows_;
    log_port& log_;
    request_gate gate_;
    client_places places_;
    serve_metrics metrics_;
    call_endpoint calls_;
    chat_endpoint chats_;
    http::router routes_;
    bool is_ready_ = true;
};

} // namespace heddle::cli
