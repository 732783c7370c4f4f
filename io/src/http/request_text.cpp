#include "request_text.hpp"

#include <heddle/base/ascii.hpp>

#include <algorithm>
#include <charconv>

namespace heddle::http {

namespace {

/// RFC 9110, 5.6.2: what names of methods and headers are made of.
constexpr bool is_token_byte(char c) noexcept {
    if (ascii::is_letter(c) || ascii::is_digit(c)) return true;
    constexpr std::string_view others = "!#$%&'*+-.^_`|~";
    return others.find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_token_byte);
}

bool is_target(std::string_view text) noexcept {
    return !text.empty() && text.front() == '/' &&
           std::all_of(text.begin(), text.end(), [](char c) {
               const auto byte = static_cast<unsigned char>(c);
               return byte > 0x20 && byte < 0x7F;
           });
}

bool is_ours(std::string_view name) noexcept {
    switch (name.size()) {
    case 4: return ascii::equals_ignoring_case(name, "host");
    case 7: return ascii::equals_ignoring_case(name, "upgrade");
    case 10: return ascii::equals_ignoring_case(name, "connection");
    case 14: return ascii::equals_ignoring_case(name, "content-length");
    case 17: return ascii::equals_ignoring_case(name, "transfer-encoding");
    case 19: return ascii::equals_ignoring_case(name, "proxy-authorization");
    default: return false;
    }
}

error refused(std::string what) {
    return error(errc::invalid_argument, "HTTP request: " + std::move(what)).with_retryable(false);
}

} // namespace

bool is_header_value(std::string_view text) noexcept {
    return std::none_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\t') || byte == 0x7F;
    });
}

result<void> check_request_line(const ports::http_request& request) {
    if (!is_token(request.method)) return refused("the method is not a token");
    if (!is_target(request.target)) {
        return refused("the target must begin with / and hold no blanks")
            .with_hint("percent-encode path and query");
    }
    return {};
}

result<void> header_text::assign(const ports::http_headers& headers) {
    if (headers.is_same_as(of_)) return {};
    header_text outcome;
    for (const ports::http_header& header : headers) {
        if (!is_token(header.name)) return refused("a header's name is not a token");
        if (is_ours(header.name))
            return refused("the header " + header.name + " is set by the client itself");
        if (!is_header_value(header.value)) {
            return refused("the value of the header " + header.name + " holds a control character")
                .with_hint("look for a line end at the end of a key that was read from a file");
        }
        if (ascii::equals_ignoring_case(header.name, "accept-encoding"))
            outcome.names_accept_encoding_ = true;
        if (ascii::equals_ignoring_case(header.name, "user-agent"))
            outcome.names_user_agent_ = true;
        outcome.text_.append(header.name).append(": ").append(header.value).append("\r\n");
    }
    outcome.of_ = headers;
    *this = std::move(outcome);
    return {};
}

void render_head(const ports::http_request& request, const header_text& headers,
                 const request_route& route, std::string& out) {
    out.clear();
    out.append(request.method).append(" ");
    if (route.absolute) out.append("http://").append(route.host);
    out.append(request.target).append(" HTTP/1.1\r\nHost: ").append(route.host).append("\r\n");
    if (!route.proxy_authorization.empty())
        out.append("Proxy-Authorization: ").append(route.proxy_authorization).append("\r\n");
    if (route.ask_compressed) out.append("Accept-Encoding: gzip, deflate\r\n");
    if (!route.user_agent.empty() && !headers.names_user_agent())
        out.append("User-Agent: ").append(route.user_agent).append("\r\n");
    out.append(headers.text());
    const std::string& method = request.method;
    const bool usually_has_body = method == "POST" || method == "PUT" || method == "PATCH";
    if (!request.body.empty() || usually_has_body) {
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, request.body.size()).ptr;
        out.append("Content-Length: ").append(digits, end).append("\r\n");
    }
    out.append("\r\n");
}

} // namespace heddle::http
