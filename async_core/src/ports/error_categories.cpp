#include <heddle/ports/error_categories.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/ports/llm_port.hpp>

namespace heddle::ports {

namespace {

class http_category_impl final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "heddle.http"; }
    std::string message(int value) const override {
        switch (static_cast<http_errc>(value)) {
        case http_errc::ok: return "no error";
        case http_errc::invalid_url: return "invalid URL";
        case http_errc::resolve_failed: return "host name could not be resolved";
        case http_errc::connect_failed: return "connection failed";
        case http_errc::tls_failed: return "TLS failed";
        case http_errc::connect_timeout: return "connecting took too long";
        case http_errc::first_byte_timeout: return "the server did not begin to respond in time";
        case http_errc::idle_timeout: return "the server stopped in the middle of its response";
        case http_errc::total_timeout: return "the exchange took too long";
        case http_errc::connection_closed: return "the server closed the connection early";
        case http_errc::connection_reset: return "the connection was reset";
        case http_errc::protocol_error: return "the response is not valid HTTP";
        case http_errc::header_too_large: return "the response header is too large";
        case http_errc::body_too_large: return "the response body is too large";
        case http_errc::shut_down: return "the HTTP client is shut down";
        case http_errc::proxy_refused: return "the proxy refused the call";
        case http_errc::redirect_refused: return "the redirect is not followed";
        }
        return "unknown HTTP error";
    }
};

class llm_category_impl final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "heddle.llm"; }
    std::string message(int value) const override {
        switch (static_cast<llm_errc>(value)) {
        case llm_errc::ok: return "no error";
        case llm_errc::invalid_request: return "invalid request";
        case llm_errc::authentication: return "authentication failed";
        case llm_errc::permission: return "not permitted";
        case llm_errc::not_found: return "not found";
        case llm_errc::rate_limit: return "rate limited";
        case llm_errc::quota: return "quota exhausted";
        case llm_errc::overloaded: return "service overloaded";
        case llm_errc::server: return "service error";
        case llm_errc::request_timeout: return "the service timed out";
        case llm_errc::conflict: return "conflict";
        case llm_errc::connection: return "service could not be reached";
        case llm_errc::protocol: return "unexpected response";
        case llm_errc::content_refused: return "refused by the service";
        case llm_errc::configuration: return "configuration error";
        }
        return "unknown model error";
    }
};

} // namespace

const boost::system::error_category& http_category() noexcept {
    static const http_category_impl category;
    return category;
}

const boost::system::error_category& llm_category() noexcept {
    static const llm_category_impl category;
    return category;
}

const boost::system::error_category* find_category(std::string_view name) noexcept {
    for (const auto* each : {&http_category(), &llm_category()}) {
        if (each->name() == name) return each;
    }
    return nullptr;
}

std::string_view to_string(finish_reason reason) noexcept {
    switch (reason) {
    case finish_reason::stop: return "stop";
    case finish_reason::length: return "length";
    case finish_reason::tool_calls: return "tool_calls";
    case finish_reason::content_filter: return "content_filter";
    case finish_reason::refusal: return "refusal";
    case finish_reason::other: return "other";
    case finish_reason::unfinished: return "unfinished";
    }
    return "other";
}

} // namespace heddle::ports
