// The interface of provider adapters: a pure codec between chat_request and the HTTP of one
// service.
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

enum class response_mode : std::uint8_t { whole, stream };

/// A setting of a request that the service does not have.
struct left_out_setting {
    std::string name;
    std::string reason;
};

/// A request to the service: path below the origin, headers, body.
struct encoded_request {
    std::string method = "POST";
    std::string target; ///< path and query, including the prefix of the base URL
    ports::http_headers headers;
    std::string body;
    std::vector<left_out_setting> left_out{}; ///< not sent; the caller is warned
};

/// Reads one streamed response in any pieces.
class chat_stream_reader {
public:
    virtual ~chat_stream_reader() = default;
    /// Reads a piece of the body and passes new text to `on_delta`, whose error is returned.
    /// Errors: as chat_codec::decode; an error that the stream contains, with the text so far as a
    /// ports::partial_response.
    [[nodiscard]] virtual result<void> feed(std::string_view piece,
                                            const ports::chat_delta_sink& on_delta) = 0;
    /// Call it when the body has ended. Errors: llm_errc::connection, retryable, if the response is
    /// incomplete, with the text so far as a ports::partial_response.
    [[nodiscard]] virtual result<ports::chat_response> finish() = 0;
    /// True once the response is complete, although more may follow, such as its usage: then it
    /// counts as complete also if the stream breaks off. Valid until finish().
    [[nodiscard]] virtual bool is_whole() const noexcept = 0;
    /// True once the end mark of the stream has arrived: nothing that follows matters.
    [[nodiscard]] virtual bool has_ended() const noexcept = 0;
    /// True once any text or tool call has arrived: a retry would repeat it.
    [[nodiscard]] virtual bool started() const noexcept = 0;
    /// The response so far, for an error that ends the stream from outside.
    [[nodiscard]] virtual const ports::chat_response& so_far() const noexcept = 0;
};

/// The limits of the account, from the headers of a response; absent: unknown.
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
    std::chrono::milliseconds reset_grain{1}; ///< granularity of the resets, if known
};

/// The format of one service. Pure: no I/O, no clock. Keeps scratch memory between calls: one codec
/// per shard. A new service is one folder with one codec (docs/contributing/adding-a-provider.md).
class chat_codec {
public:
    virtual ~chat_codec() = default;

    /// The prefix of errors, and the name that users write before the colon.
    [[nodiscard]] virtual std::string_view provider_name() const noexcept = 0;
    /// A setting that the service does not have is omitted and named in `left_out`, so that a
    /// workflow runs with any service. Messages without content are not sent.
    /// Errors: llm_errc::invalid_request, naming the part that cannot be sent.
    [[nodiscard]] virtual result<encoded_request> encode(const ports::chat_request& request,
                                                         response_mode mode) = 0;
    /// Reads a whole response of any status. `wall_now`: for a Retry-After that is a date. Errors:
    /// llm_errc with origin server, and retryable and retry_after if known; texts of the server are
    /// shortened to one line, and never show the key.
    [[nodiscard]] virtual result<ports::chat_response> decode(
        const ports::http_response& received, std::chrono::system_clock::time_point wall_now) = 0;
    /// True if a response with this head is a stream for open_stream, not a whole body.
    [[nodiscard]] virtual bool is_stream(const ports::http_response& head) const noexcept = 0;
    /// The codec outlives the reader. Several may be open at once.
    [[nodiscard]] virtual std::unique_ptr<chat_stream_reader> open_stream() = 0;

    [[nodiscard]] virtual rate_limit_headers read_limits(
        const ports::http_response& head, std::chrono::system_clock::time_point wall_now) const = 0;
    /// True if the service keeps prompt prefixes for later requests (cached tokens are cheaper).
    [[nodiscard]] virtual bool caches_prompts() const noexcept { return false; }

    /// A request free of charge that shows whether service and key work (a list of models).
    [[nodiscard]] virtual encoded_request encode_ping() const = 0;
    /// The models in the response to encode_ping, sorted. Errors: as decode.
    [[nodiscard]] virtual result<std::vector<std::string>> decode_ping(
        const ports::http_response& received, std::chrono::system_clock::time_point wall_now) = 0;
};

} // namespace heddle::providers
