// Workflows in the place of models: OpenAI's chat completions.
#pragma once

#include "serve/call_endpoint.hpp"

#include <string>
#include <utility>

namespace heddle::cli {

class chat_stream;

/// `POST /v1/chat/completions` and `GET /v1/models`. A model is a function whose first parameter is
/// `messages`: it is called with the messages of the request, a list of maps, and, if it has a
/// parameter `options`, with all other members of the request, a map. What it returns is the text
/// of the response. Its name is "heddle/NAME" or "NAME"; without either it is the function `chat`.
///
/// A workflow calls several models, and which of their texts becomes a part of its own only shows
/// at its end. So a stream sends the text then, in one piece; that of one task, if its name is
/// known, is sent as it arrives, and the result must begin with it. Errors have OpenAI's form.
/// Cancellation, lifetimes and threads: as call_endpoint.
class chat_endpoint {
public:
    /// `stream_task`: the task whose text is sent as it arrives; empty: none.
    chat_endpoint(const served_functions& functions, const call_endpoint& calls,
                  const json_work& data, std::string stream_task)
        : functions_(functions), calls_(calls), data_(data), stream_task_(std::move(stream_task)) {}

    // NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters): awaited at once
    [[nodiscard]] coro::task<served_outcome> serve(const http::server_request& request,
                                                   http::response_writer& response,
                                                   coro::call_context context) const;
    [[nodiscard]] coro::task<served_outcome> list(const http::server_request& request,
                                                  http::response_writer& response) const;
    // NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

private:
    struct chat_request;
    [[nodiscard]] result<chat_request> read(json body) const;
    [[nodiscard]] static coro::task<int> refuse(http::response_writer& response, int status,
                                                std::string message, std::string code);
    [[nodiscard]] coro::task<result<answer>> run(chat_stream& stream, chat_request& asked,
                                                 call_options bounds,
                                                 coro::call_context context) const;
    [[nodiscard]] coro::task<int> respond(http::response_writer& response, chat_request& asked,
                                          call_options bounds, coro::call_context context) const;
    [[nodiscard]] coro::task<void> send_whole(http::response_writer& response,
                                              json::object envelope, std::string said,
                                              usage used) const;

    const served_functions& functions_;
    const call_endpoint& calls_;
    const json_work& data_;
    std::string stream_task_;
};

/// The body of an error in OpenAI's form.
[[nodiscard]] json chat_error(int status, std::string message, std::string code);

} // namespace heddle::cli
