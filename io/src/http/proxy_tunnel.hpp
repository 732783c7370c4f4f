// Asking a proxy for a tunnel (RFC 9110, 9.3.6).
#pragma once

#include <heddle/http/proxy_rules.hpp>
#include <heddle/http/response_parser.hpp>

#include <string>
#include <string_view>

namespace heddle::http {

/// What is sent to the proxy and what its response means. No socket: the connection moves the
/// bytes.
class proxy_tunnel {
public:
    proxy_tunnel(parser_cache& cache, const origin_name& to, const proxy_server& through);

    /// What is still to be sent.
    [[nodiscard]] std::string_view unsent() const noexcept {
        return std::string_view(request_).substr(sent_);
    }
    void sent(std::size_t count) noexcept { sent_ += count; }

    /// Takes in what the proxy sends. Result: true when the tunnel is open.
    /// Errors: proxy_refused with the status; header_too_large, protocol_error.
    [[nodiscard]] result<bool> received(std::string_view bytes);
    /// The proxy hung up before it had responded.
    [[nodiscard]] error ended(boost::system::error_code ec) const;

    static constexpr std::size_t max_header_bytes = 16 * 1024;

private:
    [[nodiscard]] error placed(ports::http_errc code, std::string_view what) const;
    [[nodiscard]] error refusal() const;

    std::string request_;
    std::size_t sent_ = 0;
    std::string place_; ///< "https://host:443: the proxy http://proxy:3128"
    response_parser parser_;
    ports::http_response response_;
    bool has_user_;
};

/// What a 407 means, from a tunnel or from a proxy that forwards.
[[nodiscard]] error proxy_wants_user(std::string_view place, bool has_user);

} // namespace heddle::http
