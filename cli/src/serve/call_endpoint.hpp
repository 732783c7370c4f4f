// `POST /v1/call/NAME`.
#pragma once

#include "serve/json_work.hpp"
#include "serve/serve_metrics.hpp"
#include "serve/serve_options.hpp"
#include "serve/served_functions.hpp"

#include <heddle/http/response_writer.hpp>
#include <heddle/http/server_request.hpp>

namespace heddle::cli {

/// The status that a request ended with, and the function that it called.
struct served_outcome {
    int status = 200;
    std::string function = "-";
};

/// Calls a function with the JSON of a request. The response is one JSON object, or a stream of
/// events when the client accepts text/event-stream: `piece` for text of models as it arrives,
/// which a slow reader holds back, and at the end `result` or `error`.
/// Cancellation of the context cancels the call, which is awaited. The references outlive the call.
/// Threads: the loop's only.
class call_endpoint {
public:
    call_endpoint(const served_functions& functions, const request_rules& rules,
                  serve_metrics& metrics, const json_work& data) noexcept
        : functions_(functions), rules_(rules), metrics_(metrics), data_(data) {}

    // NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters): awaited at once
    [[nodiscard]] coro::task<served_outcome> serve(const http::server_request& request,
                                                   http::response_writer& response,
                                                   coro::call_context context) const;

    /// The bounds of a call by this request. Errors: invalid_argument for a malformed timeout.
    [[nodiscard]] result<call_options> bounds_of(const http::server_request& request) const;
    /// Counts a failure that a model caused.
    void note(const error& failure) const;

private:
    [[nodiscard]] coro::task<int> respond_whole(const served_function& called, json input,
                                                call_options bounds,
                                                http::response_writer& response,
                                                coro::call_context context) const;
    [[nodiscard]] coro::task<int> respond_in_pieces(const served_function& called, json input,
                                                    call_options bounds,
                                                    http::response_writer& response,
                                                    coro::call_context context) const;
    // NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

    const served_functions& functions_;
    const request_rules& rules_;
    serve_metrics& metrics_;
    const json_work& data_;
};

/// `{"value": …, "usage": {…}, "cost_usd": …, "seconds": …}`.
[[nodiscard]] json answer_json(answer of);

} // namespace heddle::cli
