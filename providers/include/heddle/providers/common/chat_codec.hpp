// What a provider adapter is: a pure codec between chat_request and one service's HTTP.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/ports/llm_port.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers {

enum class answer_mode : std::uint8_t { whole, stream };

/// A setting of a request that the service does not have.
struct left_out_setting {
    std::string name;
    std::string reason;
};

/// What goes to the service: path below the origin, headers, body.
struct encoded_request {
    std::string method = "POST";
    std::string target; ///< path and query, the base URL's prefix included
    std::vector<ports::http_header> headers;
    std::string body;
    std::vector<left_out_setting> left_out{}; ///< not sent; the caller is warned
};

/// Reads one streamed answer in any pieces.
class chat_stream_reader {
public:
    virtual ~chat_stream_reader() = default;
    /// Takes a piece of the body and hands new text to `on_delta`, whose error is passed on.
    /// Errors: as chat_codec::decode; an error that the service put into the stream, with the text
    /// so far as a ports::partial_response.
    [[nodiscard]] virtual result<void> feed(std::string_view piece,
                                            const ports::chat_delta_sink& on_delta) = 0;
    /// To be called when the body has ended. Errors: llm_errc::connection, retryable, when the
    /// answer was not whole, with the text so far as a ports::partial_response.
    [[nodiscard]] virtual result<ports::chat_response> finish() = 0;
    /// True once any text or tool call came: a retry would repeat what was handed out.
    [[nodiscard]] virtual bool started() const noexcept = 0;
    /// What came so far, for an error that ends the stream from outside.
    [[nodiscard]] virtual const ports::chat_response& so_far() const noexcept = 0;
};

/// What the headers of an answer say about the limits of the account; absent: not said.
struct rate_limit_headers {
    std::optional<std::int64_t> requests_limit;
    std::optional<std::int64_t> requests_remaining;
    std::optional<std::chrono::milliseconds> requests_reset; ///< until the full limit is back
    std::optional<std::int64_t> tokens_limit;                ///< input and output together
    std::optional<std::int64_t> tokens_remaining;
    std::optional<std::chrono::milliseconds> tokens_reset;
    std::optional<std::int64_t> input_tokens_limit;
    std::optional<std::int64_t> input_tokens_remaining;
    std::optional<std::chrono::milliseconds> input_tokens_reset;
    std::optional<std::int64_t> output_tokens_limit;
    std::optional<std::int64_t> output_tokens_remaining;
    std::optional<std::chrono::milliseconds> output_tokens_reset;
    std::chrono::milliseconds reset_grain{
        1}; ///< what the resets are rounded to, as far as is known
};

/// One service's format. Pure: no I/O, no clock. Keeps scratch memory from one call to the next:
/// one codec for each shard. Adding a service is one folder with one of these
/// (docs/contributing/adding-a-provider.md).
class chat_codec {
public:
    virtual ~chat_codec() = default;

    /// What errors begin with and users write before the colon.
    [[nodiscard]] virtual std::string_view provider_name() const noexcept = 0;
    /// A setting that the service does not have is left out and named in `left_out`, so that a
    /// workflow runs with any service. Messages without content are not sent.
    /// Errors: llm_errc::invalid_request, which names the part that cannot be sent.
    [[nodiscard]] virtual result<encoded_request> encode(const ports::chat_request& request,
                                                         answer_mode mode) = 0;
    /// Reads a whole answer of any status. `wall_now` is for a Retry-After that is a date. Errors:
    /// llm_errc with origin server, retryable and retry_after where known; texts of the server are
    /// cut to a line of bounded length, and never show the key.
    [[nodiscard]] virtual result<ports::chat_response> decode(
        const ports::http_response& answer, std::chrono::system_clock::time_point wall_now) = 0;
    /// True if an answer with this head is a stream for open_stream, not a whole body.
    [[nodiscard]] virtual bool is_stream(const ports::http_response& head) const noexcept = 0;
    /// The codec outlives the reader. Several may be open at once.
    [[nodiscard]] virtual std::unique_ptr<chat_stream_reader> open_stream() = 0;

    [[nodiscard]] virtual rate_limit_headers read_limits(
        const ports::http_response& head, std::chrono::system_clock::time_point wall_now) const = 0;
    /// True if the service keeps prompt prefixes for later requests (cached tokens are cheaper).
    [[nodiscard]] virtual bool caches_prompts() const noexcept { return false; }

    /// A request without cost that shows whether service and key work (a list of models).
    [[nodiscard]] virtual encoded_request encode_ping() const = 0;
    /// The models named by the answer to encode_ping, sorted. Errors: as decode.
    [[nodiscard]] virtual result<std::vector<std::string>> decode_ping(
        const ports::http_response& answer, std::chrono::system_clock::time_point wall_now) = 0;
};

} // namespace heddle::providers
