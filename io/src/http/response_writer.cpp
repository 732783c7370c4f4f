#include <heddle/http/response_writer.hpp>

#include "http/server_connection.hpp"

#include <heddle/base/json_string.hpp>

namespace heddle::http {

namespace {

error wrong_order() {
    return error(errc::internal, "a handler sends the parts of a response in a wrong order");
}

} // namespace

coro::task<result<void>> response_writer::send(response_head head, std::string body) {
    if (phase_ != phase::none) co_return wrong_order();
    phase_ = phase::finished;
    connection_.put_head(head, body.size());
    connection_.put_body(body);
    result<void> sent = co_await server_connection::flush(connection_);
    co_return sent;
}

coro::task<result<void>> response_writer::start(response_head head) {
    if (result<void> put = put_head(head); !put) co_return put;
    result<void> sent = co_await server_connection::flush(connection_);
    co_return sent;
}

coro::task<result<void>> response_writer::write(std::string piece) {
    if (result<void> added = put(piece); !added) co_return added;
    result<void> sent = co_await server_connection::flush(connection_);
    co_return sent;
}

result<void> response_writer::put_head(const response_head& head) {
    if (phase_ != phase::none) return wrong_order();
    phase_ = phase::body;
    connection_.put_head(head, std::nullopt);
    return {};
}

result<void> response_writer::put(std::string_view piece) {
    if (phase_ != phase::body) return wrong_order();
    connection_.put_chunk(piece);
    return {};
}

coro::task<result<void>> response_writer::flush() { return server_connection::flush(connection_); }

void response_writer::abandon() noexcept {
    phase_ = phase::finished;
    connection_.close();
}

coro::task<result<void>> response_writer::finish() {
    if (phase_ != phase::body) co_return wrong_order();
    phase_ = phase::finished;
    connection_.put_last_chunk();
    result<void> sent = co_await server_connection::flush(connection_);
    co_return sent;
}

std::string error_body(int status, std::string_view message) {
    std::string body = R"({"error":{"status":)" + std::to_string(status) + R"(,"message":)";
    append_json_string(body, message);
    return body + "}}";
}

} // namespace heddle::http
