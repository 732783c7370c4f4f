// The responses of the scripted server.
#pragma once

#include <heddle/base/secret.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/http/response_writer.hpp>
#include <heddle/http/server_request.hpp>
#include <heddle/scripted/engine.hpp>

#include "common/json_reader.hpp"
#include "scripted/server/served_routes.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::scripted {

/// Responds to requests by the rules, each in the format of its path.
/// Lifetime: outlives the requests. Threads: the loop's only.
class responder {
public:
    /// Requests without `required_key` receive a 401, unless it is empty.
    responder(std::shared_ptr<engine> rules, secret required_key);

    // What they refer to outlives them: the server waits for its handlers.
    // NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)

    /// An http::request_handler. A response whose client leaves, or that is cancelled, has no end.
    [[nodiscard]] static coro::task<void> respond(responder& self,
                                                  const http::server_request& request,
                                                  http::response_writer& response,
                                                  coro::call_context context);

private:
    struct whole_response {
        http::response_head head;
        std::string body;
    };

    [[nodiscard]] static coro::task<void> stream(const served_format& format,
                                                 const served_chat& asked, const outcome& chosen,
                                                 http::response_writer& response,
                                                 coro::call_context context);
    // NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

    [[nodiscard]] std::optional<whole_response> refuse(const http::server_request& request,
                                                       const served_route& route) const;
    [[nodiscard]] bool is_allowed(std::string_view given) const noexcept;
    /// The response to what is neither refused nor a chat.
    [[nodiscard]] whole_response describe(const served_route& route) const;
    /// Fills `asked`, except its chat.
    [[nodiscard]] outcome choose(const served_route& route, std::string_view body,
                                 served_chat& asked);

    std::shared_ptr<engine> rules_;
    secret required_key_;
    json_reader reader_; ///< used between two waits only
};

/// The body of a response to a request that nothing can be made of.
[[nodiscard]] std::string malformed_request_body(int status, std::string_view message);

} // namespace heddle::scripted
