// Parses the bytes of HTTP/1.1 requests.
#pragma once

#include <heddle/http/server_request.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace heddle::http {

struct request_limits {
    std::size_t max_header = 64 * 1024; ///< request line and fields
    std::size_t max_body = 32 * 1024 * 1024;
    std::size_t max_fields = 100;
    std::size_t max_target = 16 * 1024; ///< path and query
};

/// Reads one request after the other out of bytes that the caller keeps together (RFC 9112). It
/// adds to Beast's parser what keeps two readers from understanding a request differently: no
/// folded fields, exactly one Host, not both Content-Length and Transfer-Encoding, chunked as the
/// only coding, and at most one Authorization.
/// Threads: as any value.
class request_parser {
public:
    enum class step : std::uint8_t { need_more, whole, wrong };

    explicit request_parser(request_limits limits = {});
    ~request_parser();
    request_parser(request_parser&&) noexcept;
    request_parser& operator=(request_parser&&) noexcept;

    /// `bytes` are all that came since the end of the request before, without what drop_taken()
    /// released; they may lie elsewhere than at the last call, but must begin with what was given
    /// then.
    [[nodiscard]] step advance(std::string_view bytes);

    /// After `whole`: the request, whose views are valid until the parser is reset.
    [[nodiscard]] const server_request& request() const noexcept;
    /// After `whole`: how many bytes it took.
    [[nodiscard]] std::size_t consumed() const noexcept { return at_; }
    /// After `need_more`: how many bytes at the front are not needed any more, because they are
    /// copied into the body. The caller drops them: the next call begins after them.
    [[nodiscard]] std::size_t drop_taken() noexcept;
    /// What has come of the body, in bytes.
    [[nodiscard]] std::size_t body_size() const noexcept;
    /// Memory of the body, in bytes.
    [[nodiscard]] std::size_t body_room() const noexcept;
    /// Frees the body of a request that is refused. Only its header may be used until reset().
    void discard_body() noexcept;
    /// Whether the response must have no body, also after `wrong`: known from the request line on.
    [[nodiscard]] bool is_head() const noexcept { return is_head_; }
    /// After `wrong`: the status to respond with, and why.
    [[nodiscard]] int status() const noexcept;
    [[nodiscard]] std::string_view reason() const noexcept;

    /// True once the fields are read and the client waits for a 100 before it sends the body.
    [[nodiscard]] bool wants_continue() const noexcept;
    void continue_sent() noexcept { waiting_over_ = true; }
    /// Whether the header of this request is complete, so that its body is awaited.
    [[nodiscard]] bool has_header() const noexcept;
    /// The request without its body, with views as those of request(): whole once has_header(), and
    /// before as far as it was read.
    [[nodiscard]] const server_request& begun_request();
    /// Bytes of this request that are still to come, as far as is known.
    [[nodiscard]] std::size_t missing(std::size_t have) const noexcept;

    /// Makes ready for the next request.
    void reset();

private:
    class reader;

    step fail(int status, std::string_view reason) noexcept;
    [[nodiscard]] bool is_target_too_long(std::string_view bytes) const noexcept;
    [[nodiscard]] step read_header(std::string_view bytes);
    [[nodiscard]] step read_body(std::string_view bytes);

    request_limits limits_;
    std::unique_ptr<reader> reader_;
    std::size_t at_ = 0;      ///< what Beast's parser has taken
    std::size_t dropped_ = 0; ///< taken before `at_`, by drop_taken()
    std::size_t scanned_ = 0; ///< where the search for the end of the header goes on
    bool is_head_ = false;
    bool waiting_over_ = false;
};

} // namespace heddle::http
