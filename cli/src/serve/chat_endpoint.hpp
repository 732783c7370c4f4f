// Workflows in the place of models: OpenAI's chat completions.
#pragma once

#include "serve/call_endpoint.hpp"

namespace heddle::cli {

/// `POST /v1/chat/completions` and `GET /v1/models`. A model is a function whose first parameter is
/// `messages`: it is called with the messages of the request, a list of maps, and, if it has a
/// parameter `options`, with all other members of the request, a map. What it returns is the text
/// of the response. Its name is "heddle/NAME" or "NAME"; without either it is the function `chat`.
///
/// A stream sends the text at the end, in one piece: a workflow calls several models, and which of
/// their texts becomes a part of its own only shows then. Errors have OpenAI's form.
/// Cancellation, lifetimes and threads: as call_endpoint.
class chat_endpoint {
public:
    chat_endpoint(const served_functions& functions, const call_endpoint& calls) noexcept
        : functions_(functions), calls_(calls) {}

    // NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters): awaited at once
    [[nodiscard]] coro::task<served_outcome> serve(const http::server_request& request,
                                                   http::response_writer& response,
                                                   coro::call_context context) const;
    [[nodiscard]] coro::task<served_outcome> list(const http::server_request& request,
                                                  http::response_writer& response) const;
    // NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

private:
    struct chat_request;
    [[nodiscard]] result<chat_request> read(const http::server_request& request) const;
    [[nodiscard]] static coro::task<int> refuse(http::response_writer& response, int status,
                                                std::string message, std::string code);
    [[nodiscard]] static coro::task<int> send(http::response_writer& response,
                                              const chat_request& asked, const answer& said);

    const served_functions& functions_;
    const call_endpoint& calls_;
};

/// The body of an error in OpenAI's form.
[[nodiscard]] json chat_error(int status, std::string message, std::string code);

} // namespace heddle::cli
