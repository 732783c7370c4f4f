// Translates the errors of services.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/secret.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/providers/common/retry.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::providers {

/// A response that is an error, as the wire has it. The views are only read during the call.
struct service_failure {
    int status = 0;         ///< 0: it came inside a response, without an HTTP status
    bool in_stream = false; ///< that was streamed
    std::string_view type;
    std::string_view code;
    std::string_view message;
    std::string_view request_id;
    retry_advice advice;
    std::optional<ports::llm_errc> kind{}; ///< set where the service deviates from the usual format
};

/// The kind of an error by its status, and by type and code where these say more. Pure.
[[nodiscard]] ports::llm_errc classify(const service_failure& failure) noexcept;

/// What the headers of a response say about trying again (read_retry_advice).
[[nodiscard]] retry_advice advice_of(const ports::http_response& received,
                                     std::chrono::system_clock::time_point wall_now);

/// Makes the error: kind, retryable, retry_after, origin server. The message begins with the
/// provider's name and holds the server's text made fit to show. Pure.
[[nodiscard]] error make_service_error(std::string_view provider_name,
                                       const service_failure& failure, const secret* hidden);

/// An error about a response that is not what it should be (llm_errc::protocol), not retryable.
/// `seen` is a text of the server, or empty.
[[nodiscard]] error make_protocol_error(std::string_view provider_name, std::string_view what,
                                        std::string_view seen, const secret* hidden);

/// What an error of the HTTP port means for a call of a model: llm_errc::connection,
/// request_timeout, protocol or configuration, retryable() set, the HTTP error as its cause.
/// Cancellation and errors of others pass unchanged. Pure.
[[nodiscard]] error from_http_error(error failure, std::string_view provider_name);

/// Makes a text of a server fit for one line of a message: `hidden` and whatever looks like a key
/// are taken out, control characters and runs of blanks become one blank, bytes that are not UTF-8
/// become U+FFFD, and what is left is cut to about `max_bytes`, never inside a character.
[[nodiscard]] std::string presentable(std::string_view text, std::size_t max_bytes,
                                      const secret* hidden);

} // namespace heddle::providers
