// Parses the bytes of an HTTP/1.1 response.
#pragma once

#include <heddle/ports/http_port.hpp>

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace heddle::http {

struct response_rules {
    bool head_request = false; ///< HEAD: no body follows, whatever the headers
    std::size_t max_header_bytes = 64 * 1024;
    std::size_t max_body_bytes = 64 * 1024 * 1024; ///< before and after decompression
    bool decompress = true;      ///< decode gzip and deflate, and remove their headers
    bool hold_redirects = false; ///< a redirect is read, but not passed to sinks
    bool through_proxy = false;  ///< a 407 comes from the proxy and is an error
};

/// 301, 302, 303, 307 and 308 with a Location.
[[nodiscard]] bool is_redirect(const ports::http_response& response) noexcept;

/// Where a response is stored. All of it must outlive the parsing.
struct response_target {
    ports::http_response* response = nullptr;
    const ports::http_head_sink* on_head = nullptr;  ///< null: not called
    const ports::http_body_sink* on_piece = nullptr; ///< null: the body is collected in response
};

class response_parser;

/// Keeps parser storage between responses. Threads: one at a time.
class parser_cache {
public:
    parser_cache();
    ~parser_cache();
    parser_cache(const parser_cache&) = delete;
    parser_cache& operator=(const parser_cache&) = delete;

private:
    friend class response_parser;
    struct storage;
    struct decoders;
    std::vector<std::unique_ptr<storage>> free_;
    std::unique_ptr<decoders> decoders_;
};

/// Parses one response: skips 1xx, decodes chunked framing and compression, enforces the limits,
/// refuses messages with ambiguous framing (RFC 9112, 6.3). Storage is taken from the cache with
/// the first byte and returned at the end: a waiting parser takes three pointers.
class response_parser {
public:
    explicit response_parser(parser_cache& cache) noexcept;
    ~response_parser();
    response_parser(const response_parser&) = delete;
    response_parser& operator=(const response_parser&) = delete;

    /// Parses the next bytes; passes head and body to `target`. Result: true once the response is
    /// complete. Errors: http_errc (protocol_error, header_too_large, body_too_large), or what a
    /// sink returned. After an error only the destructor may follow.
    [[nodiscard]] result<bool> feed(std::string_view bytes, const response_rules& rules,
                                    const response_target& target);
    /// The connection ended cleanly. Result: true if this is a valid end of the response.
    [[nodiscard]] result<bool> finish();

    [[nodiscard]] bool begun() const noexcept { return phase_ != phase::nothing; }
    /// Whether a byte of a response has arrived that, as far as is known, is not interim.
    [[nodiscard]] bool response_begun() const noexcept { return begun() && !interim_; }
    [[nodiscard]] bool head_done() const noexcept { return phase_ >= phase::body; }
    /// Whether the connection may carry another exchange. Valid once the response is complete.
    [[nodiscard]] bool reusable() const noexcept { return reusable_; }
    /// Whether bytes arrived after the end of the response.
    [[nodiscard]] bool extra_bytes() const noexcept { return extra_; }
    /// Number of body bytes so far, for messages.
    [[nodiscard]] std::size_t body_bytes() const noexcept { return body_bytes_; }
    /// Resets everything, for a second attempt.
    void reset() noexcept;

private:
    enum class phase : std::uint8_t { nothing, head, body, done };

    [[nodiscard]] result<bool> parse(std::string_view& bytes, const response_rules& rules,
                                     const response_target& target);
    void complete() noexcept;

    parser_cache* cache_;
    std::unique_ptr<parser_cache::storage> storage_;
    std::size_t body_bytes_ = 0;
    phase phase_ = phase::nothing;
    bool reusable_ = false;
    bool extra_ = false;
    bool interim_ = false; ///< nothing has arrived after a complete interim response
};

} // namespace heddle::http
