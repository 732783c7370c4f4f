#include "proxy_tunnel.hpp"

namespace heddle::http {

using ports::http_errc;

error proxy_wants_user(std::string_view place, bool has_user) {
    std::string message(place);
    message += has_user ? " does not accept the user and password it was given (status 407)"
                        : " requires a user and a password (status 407)";
    return error(http_errc::proxy_refused, std::move(message))
        .with_hint(has_user ? "check user and password in the proxy's URL; special characters "
                              "are written as %-codes; only the Basic scheme is supported"
                            : "write them in the proxy's URL: http://user:password@host:port")
        .with_retryable(false);
}

proxy_tunnel::proxy_tunnel(parser_cache& cache, const origin_name& to, const proxy_server& through)
    : place_(to.text() + ": the proxy " + through.server.text()), parser_(cache),
      has_user_(!through.authorization.empty()) {
    const std::string authority = to.authority();
    request_ = "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n";
    if (has_user_) {
        request_.append("Proxy-Authorization: ").append(through.authorization.reveal());
        request_ += "\r\n";
    }
    request_ += "\r\n";
}

error proxy_tunnel::placed(http_errc code, std::string_view what) const {
    return error(code, place_ + std::string(what)).with_retryable(false);
}

result<bool> proxy_tunnel::received(std::string_view bytes) {
    // As for HEAD: whatever the header declares, what follows a 2xx is the tunnel.
    const response_rules rules{true, max_header_bytes, 0};
    auto whole = parser_.feed(bytes, rules, {&response_, nullptr, nullptr});
    if (!whole) {
        const error why = std::move(whole).error();
        return placed(static_cast<http_errc>(why.code().value()), ": " + why.message());
    }
    if (!*whole) return false;
    if (response_.status >= 300) return refusal();
    if (parser_.extra_bytes()) {
        // A TLS server never speaks first: this comes from the proxy, and not from whom we asked
        // for.
        return placed(http_errc::protocol_error, " sent more than its response to CONNECT");
    }
    return true;
}

error proxy_tunnel::refusal() const {
    if (response_.status == 407) return proxy_wants_user(place_, has_user_);
    const bool later =
        response_.status == 408 || response_.status == 429 || response_.status >= 500;
    return placed(http_errc::proxy_refused,
                  " refused the tunnel (status " + std::to_string(response_.status) + ")")
        .with_hint(later ? "the proxy could not reach the server, or is overloaded"
                         : "the proxy does not allow this server or port; if it can be reached "
                           "directly, list it among those to reach without a proxy (no_proxy)")
        .with_retryable(later);
}

error proxy_tunnel::ended(boost::system::error_code ec) const {
    std::string what = ec ? " broke the connection" : " closed the connection";
    what += " before it responded to CONNECT";
    if (ec) what += " (" + ec.message() + ")";
    return placed(ec ? http_errc::connection_reset : http_errc::connection_closed, what)
        .with_retryable(true);
}

} // namespace heddle::http
