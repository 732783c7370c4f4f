// Which requests may be served.
#pragma once

#include "serve/request_rates.hpp"
#include "serve/serve_options.hpp"

#include <heddle/coro/deadline.hpp>
#include <heddle/http/server_request.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace heddle::cli {

/// Checks tokens, rates and where a request comes from. Threads: one.
class request_gate {
public:
    /// Why a request is refused.
    struct refusal {
        int status = 0;
        std::string message;
        std::optional<std::chrono::seconds> retry_after;
    };

    explicit request_gate(const request_rules& rules) noexcept
        : rules_(rules), rates_(rules.rate) {}

    /// Nothing if it may be served; then `client` is the owner of its token, or empty without
    /// tokens.
    [[nodiscard]] std::optional<refusal> check(const http::server_request& request,
                                               coro::clock::time_point now, std::string& client);

    /// The same before the body is received: only what tokens and origin forbid is refused, and
    /// counted.
    [[nodiscard]] std::optional<refusal> check_begun(const http::server_request& request,
                                                     coro::clock::time_point now);

private:
    /// `owner`: of the token; null without tokens.
    [[nodiscard]] std::optional<refusal> check_right(const http::server_request& request,
                                                     coro::clock::time_point now,
                                                     const std::string*& owner);
    [[nodiscard]] std::optional<refusal> check_origin(const http::server_request& request) const;

    const request_rules& rules_; ///< outlives this
    request_rates rates_;
};

} // namespace heddle::cli
