// Responses in JSON.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/http/response_writer.hpp>
#include <heddle/http/server_request.hpp>
#include <heddle/json.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

/// Sends a whole response with JSON in one line. A client that has hung up needs none: nothing is
/// reported.
[[nodiscard]] coro::task<void> send_text(http::response_writer& response, int status,
                                         std::string line,
                                         std::vector<http::response_field> fields = {});

/// The same for JSON that is small.
[[nodiscard]] coro::task<void> send_json(http::response_writer& response, int status, json body,
                                         std::vector<http::response_field> fields = {});

/// `{"error": {"status": …, "message": …}}`.
[[nodiscard]] json error_json(int status, std::string message);

/// `{"error": …}` with everything that is known of the failure of a call; files without folders.
[[nodiscard]] json error_json(int status, const error& failure);

/// Retry-After with a number of seconds.
[[nodiscard]] http::response_field retry_after(std::chrono::seconds wait);

/// Retry-After, where the failure of a call has a time for it, or the runtime has no place.
[[nodiscard]] std::vector<http::response_field> fields_of(const error& failure, int status);

/// The failure of a call as its client learns of it. When the server ends, which the runtime only
/// learns of as a cancellation, it is one for this reason; a hint names options of `heddle serve`.
[[nodiscard]] error for_client(error failure, coro::call_context context);

/// The JSON of a body; an empty one is null. Errors: invalid_argument for a body that is not JSON,
/// or has another Content-Type.
[[nodiscard]] result<json> json_of(const http::server_request& request);

/// The time that a request allows itself, from X-Heddle-Timeout or `timeout` in the query, in
/// seconds; at most `longest`. Errors: invalid_argument.
[[nodiscard]] result<std::chrono::nanoseconds> time_of(const http::server_request& request,
                                                       std::chrono::nanoseconds longest);

/// One event of a stream (text/event-stream). `line`: JSON in one line.
[[nodiscard]] std::string event_text(std::string_view name, std::string_view line);

} // namespace heddle::cli
