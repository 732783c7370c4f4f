// A chat completion in chunks.
#pragma once

#include <heddle/answer.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/http/response_writer.hpp>
#include <heddle/json.hpp>

#include <string>
#include <string_view>

namespace heddle::cli {

/// Writes the events of OpenAI's stream. Nothing is sent before the first text, so that a failure
/// before it can have a status.
/// Errors of all calls: as response_writer. Lifetime: within that of the response. Threads: its.
class chat_stream {
public:
    /// `envelope`: "id", "created" and "model", which each chunk has.
    chat_stream(http::response_writer& response, json::object envelope);

    /// Sends a piece of the text; the first one begins the response.
    [[nodiscard]] coro::task<result<void>> add(std::string text);
    /// Ends a stream that is whole. `used`: sent in a chunk of its own; null: not asked for.
    [[nodiscard]] coro::task<result<void>> finish(const usage* used);
    /// Ends a stream that has begun with an error, and without the end of a whole one.
    [[nodiscard]] coro::task<result<void>> fail(json body);

    [[nodiscard]] bool has_begun() const noexcept { return response_.has_started(); }
    /// All of it so far.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    [[nodiscard]] std::string chunk(json::object delta, json finish) const;

    http::response_writer& response_;
    json::object envelope_;
    std::string text_;
};

/// `{"prompt_tokens": …, "completion_tokens": …, "total_tokens": …}`.
[[nodiscard]] json chat_usage(const usage& used);

} // namespace heddle::cli
