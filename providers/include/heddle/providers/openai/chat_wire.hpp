// Chat Completions on the wire: requests to bytes, bytes to answers. No I/O.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/secret.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/providers/common/json_text.hpp>
#include <heddle/providers/common/sse_parser.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers::openai {

inline constexpr std::string_view chat_path = "/chat/completions"; ///< below the base URL
inline constexpr std::string_view models_path = "/models";

/// `compatible` leaves out what other servers of this format do not know: max_tokens is used in
/// place of max_completion_tokens, and no `refusal: null` goes back in assistant messages.
enum class wire_dialect : std::uint8_t { openai, compatible };

enum class answer_mode : std::uint8_t { whole, stream, stream_with_usage };

struct encode_options {
    answer_mode mode = answer_mode::whole;
    wire_dialect dialect = wire_dialect::openai;
};

/// The body of a request. JSON texts in `request` (schemas, extra fields) are checked and spliced
/// in as they are; `known_json` remembers those that were found good. Bytes that are not UTF-8
/// become U+FFFD. Errors: llm_errc::invalid_request, which names the part. Pure.
[[nodiscard]] result<std::string> encode_request(const ports::chat_request& request,
                                                 const encode_options& options,
                                                 json_memo* known_json = nullptr);

enum class request_body : std::uint8_t { json, none };

/// The headers of every request, to be made once. `api_key` and the others are left out if empty.
[[nodiscard]] std::vector<ports::http_header> request_headers(
    const secret& api_key, std::string_view organization, std::string_view project,
    request_body body = request_body::json);

struct decode_options {
    std::string_view provider_name = "openai"; ///< what error messages begin with; outlives
    const secret* hidden = nullptr;            ///< never shown, should the service repeat it
    std::size_t max_depth = 64;                ///< of the JSON
    std::size_t max_tool_calls = 256;
};

/// Reads answers. Keeps its memory from one to the next: one decoder for each shard.
class chat_decoder {
public:
    explicit chat_decoder(decode_options options);
    ~chat_decoder();
    chat_decoder(chat_decoder&&) noexcept;
    chat_decoder& operator=(chat_decoder&&) noexcept;

    /// Reads a whole answer of any status. `wall_now` is for a Retry-After that is a date.
    /// Errors: llm_errc with origin server, retryable and retry_after where known; texts of the
    /// server are cut to a line of bounded length.
    [[nodiscard]] result<ports::chat_response> decode_response(
        const ports::http_response& answer, std::chrono::system_clock::time_point wall_now);

private:
    friend class chat_stream;
    struct state;
    std::unique_ptr<state> state_;
};

/// Reads one streamed answer (status 200, text/event-stream) in any pieces.
class chat_stream {
public:
    /// `decoder` outlives this. Several streams may share one.
    explicit chat_stream(chat_decoder& decoder);
    ~chat_stream();
    chat_stream(const chat_stream&) = delete;
    chat_stream& operator=(const chat_stream&) = delete;

    /// Takes a piece of the body and hands new text to `on_delta`, whose error is passed on.
    /// Errors: as decode_response; an error that the service put into the stream.
    [[nodiscard]] result<void> feed(std::string_view piece, const ports::chat_delta_sink& on_delta);

    /// To be called when the body has ended. Errors: llm_errc::connection when the answer was not
    /// whole, with the text so far as a ports::partial_response.
    [[nodiscard]] result<ports::chat_response> finish();

    /// True once any text or tool call came: a retry would repeat what was handed out.
    [[nodiscard]] bool started() const noexcept;
    /// What came so far, for an error that ends the stream from outside.
    [[nodiscard]] const ports::chat_response& so_far() const noexcept;

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// What an error of the HTTP port means for a call of a model: llm_errc::connection,
/// request_timeout, protocol or configuration, retryable() set, the HTTP error as its cause.
/// Cancellation passes unchanged. Pure.
[[nodiscard]] error from_http_error(error failure, std::string_view provider_name);

} // namespace heddle::providers::openai
