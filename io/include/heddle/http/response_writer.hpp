// How a handler of the server responds.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/task.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace heddle::http {

class server_connection;

/// A header field of a response. Control characters in it are sent as spaces.
struct response_field {
    std::string name;
    std::string value;
};

/// Status line and header of a response. Date, Connection, Content-Length and Transfer-Encoding are
/// added by the server.
struct response_head {
    int status = 200;
    std::string content_type = "application/json"; ///< empty: no Content-Type
    std::vector<response_field> fields{};
};

/// Sends the response to one request: whole, by send(), or in pieces, by start(), write() and
/// finish(). A call returns once the system has taken all of its bytes, so that a slow reader holds
/// back whoever produces them. Pieces that are there at once go out together when they are put by
/// put_head() and put() and sent by flush() or finish(). The response to a HEAD is sent without its
/// body.
///
/// Errors of all calls: cancelled with cancel_reason::user when the client has hung up or reads too
/// slowly (server_options::write_time); later calls then fail in the same way.
/// Cancellation of the request's context does not end them: the last words of a cancelled request
/// should reach the client. They end within write_time, or when the server closes the connection.
/// Lifetime: as long as the handler that got it. Threads: the server's only.
class response_writer {
public:
    explicit response_writer(server_connection& connection) noexcept : connection_(connection) {}
    response_writer(const response_writer&) = delete;
    response_writer& operator=(const response_writer&) = delete;

    /// Sends a whole response. Once, and not after start().
    [[nodiscard]] coro::task<result<void>> send(response_head head, std::string body);
    /// Sends the head of a response whose length is not known. Once, and not after send().
    [[nodiscard]] coro::task<result<void>> start(response_head head);
    /// Sends a piece of the body; an empty one sends nothing. After start().
    [[nodiscard]] coro::task<result<void>> write(std::string piece);
    /// Ends the body. After start(); the server calls it for a handler that does not.
    [[nodiscard]] coro::task<result<void>> finish();

    /// As start() and write(), but keeps the bytes in memory, without bound, until the next call
    /// that sends. Errors: errc::internal where start() and write() are not allowed.
    [[nodiscard]] result<void> put_head(const response_head& head);
    [[nodiscard]] result<void> put(std::string_view piece);
    /// Sends what was put.
    [[nodiscard]] coro::task<result<void>> flush();

    /// Closes the connection without the rest of the response, or without any of it: the client
    /// sees that it is incomplete. What was put and not sent is lost. Cancels the handler's
    /// context; the response counts as finished.
    void abandon() noexcept;

    /// Whether a status has been sent, so that an error cannot be shown by another one.
    [[nodiscard]] bool has_started() const noexcept { return phase_ != phase::none; }
    [[nodiscard]] bool has_finished() const noexcept { return phase_ == phase::finished; }

private:
    enum class phase : unsigned char { none, body, finished };

    server_connection& connection_;
    phase phase_ = phase::none;
};

/// `{"error":{"status":…,"message":…}}`: the body of the errors that the server itself sends.
[[nodiscard]] std::string error_body(int status, std::string_view message);

} // namespace heddle::http
