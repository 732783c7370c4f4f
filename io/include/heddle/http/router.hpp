// Chooses a handler by method and path.
#pragma once

#include <heddle/http/server.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::http {

/// A request_handler made of others. A path without a handler is answered with 404, and one that
/// has handlers for other methods only with 405 and Allow. What is there for GET serves HEAD, too.
/// OPTIONS is answered with Allow.
/// Lifetime: outlives the requests. Threads: immutable once requests arrive.
class router {
public:
    /// As server_options::refusal_body, for 404 and 405.
    using refusal_body =
        std::function<std::string(std::string_view path, int status, std::string_view message)>;

    router() = default;
    explicit router(refusal_body body_of) : body_of_(std::move(body_of)) {}

    /// `path` is compared as it is in the target, without the query; one that ends in "*" matches
    /// all that begin like it. The first that was added counts.
    void add(std::string method, std::string path, request_handler handler);

    [[nodiscard]] coro::task<void> serve(const server_request& request, response_writer& response,
                                         coro::call_context context) const;

private:
    struct route {
        std::string method;
        std::string path;
        request_handler handler;
        [[nodiscard]] bool fits(std::string_view wanted) const noexcept;
    };
    [[nodiscard]] const route* find(const server_request& request) const noexcept;
    [[nodiscard]] std::string allowed(std::string_view path) const;
    [[nodiscard]] static coro::task<void> refuse(response_head head, std::string body,
                                                 response_writer& response);
    [[nodiscard]] std::string body_for(std::string_view path, int status,
                                       std::string_view message) const;

    std::vector<route> routes_;
    refusal_body body_of_; ///< empty: error_body()
};

} // namespace heddle::http
