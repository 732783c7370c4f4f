// HTTP/1.1 requests, as a pure machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::providers::scripted {

struct http_request_limits {
    std::size_t max_header = 64 * 1024; ///< request line and fields
    std::size_t max_body = 32 * 1024 * 1024;
    std::size_t max_fields = 100;
};

/// The views point into the bytes given to the parser, or into the parser.
struct parsed_request {
    std::string_view method;
    std::string_view target;
    std::string_view authorization;
    std::string_view x_api_key;
    std::string_view x_goog_api_key;
    std::string_view anthropic_version;
    std::string_view body;
    bool keep_alive = true;
    bool is_http_1_0 = false;
};

/// Reads one request after the other out of bytes that the caller keeps together (RFC 9112). It is
/// strict: lines end in CRLF; no folded fields, no blanks before a colon, exactly one Host, not
/// both Content-Length and Transfer-Encoding; only chunked as coding. Nothing that two readers
/// could understand differently is taken.
/// Threads: as any value.
class http_request_parser {
public:
    enum class step : std::uint8_t { need_more, whole, wrong };

    explicit http_request_parser(http_request_limits limits = {}) noexcept : limits_(limits) {}

    /// `bytes` are all that came since the end of the request before; they may lie elsewhere than
    /// at the last call, but must begin with what was given then.
    [[nodiscard]] step advance(std::string_view bytes);

    /// After `whole`: the request, valid as long as the bytes are.
    [[nodiscard]] const parsed_request& request() const noexcept { return request_; }
    /// After `whole`: how many bytes it took.
    [[nodiscard]] std::size_t consumed() const noexcept { return at_; }
    /// After `wrong`: the status to answer with, and why.
    [[nodiscard]] int status() const noexcept { return status_; }
    [[nodiscard]] std::string_view reason() const noexcept { return reason_; }

    /// True once the fields are read and the client waits for a 100 before it sends the body.
    [[nodiscard]] bool wants_continue() const noexcept {
        return expects_continue_ && !waiting_over_;
    }
    void continue_sent() noexcept { waiting_over_ = true; }
    /// Bytes of this request that are still to come, as far as is known.
    [[nodiscard]] std::size_t missing(std::size_t have) const noexcept;

    /// Makes ready for the next request.
    void reset() noexcept;

private:
    enum class part : std::uint8_t {
        header,
        sized_body,
        chunk_size,
        chunk_data,
        chunk_end,
        trailer
    };

    step fail(int status, std::string_view reason) noexcept;
    [[nodiscard]] step read_header(std::string_view bytes);
    [[nodiscard]] bool read_request_line(std::string_view line);
    [[nodiscard]] bool read_field(std::string_view name, std::string_view value);
    [[nodiscard]] bool read_length(std::string_view value);
    [[nodiscard]] bool end_of_header();
    [[nodiscard]] step read_chunks(std::string_view bytes);
    [[nodiscard]] bool read_chunk_size(std::string_view line);
    void place_views(std::string_view bytes);

    struct range {
        std::size_t begin = 0;
        std::size_t size = 0;
    };
    void keep(range& into, std::string_view value) const noexcept {
        into = {static_cast<std::size_t>(value.data() - base_), value.size()};
    }

    http_request_limits limits_;
    part part_ = part::header;
    std::size_t at_ = 0;         // what is read for good
    std::size_t scanned_ = 0;    // where the search for the end of a line or header goes on
    const char* base_ = nullptr; // of the bytes, while they are read
    range method_;
    range target_;
    range authorization_;
    range x_api_key_;
    range x_goog_api_key_;
    range anthropic_version_;
    range body_;
    std::string chunks_;     // a chunked body put together
    std::size_t length_ = 0; // of the body, or of what is left of a chunk
    std::size_t trailer_bytes_ = 0;
    std::size_t fields_ = 0;
    bool has_length_ = false;
    bool is_chunked_ = false;
    bool has_host_ = false;
    bool expects_continue_ = false;
    bool waiting_over_ = false;
    parsed_request request_;
    int status_ = 0;
    std::string_view reason_;
};

} // namespace heddle::providers::scripted
