#include "common/base_url.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/url.hpp>
#include <heddle/ports/llm_port.hpp>

#include <algorithm>

namespace heddle::providers {

namespace {

error wrong(std::string what) {
    return error(ports::make_error_code(ports::llm_errc::configuration),
                 "base URL: " + std::move(what))
        .with_hint("a base URL looks like https://api.openai.com/v1 or http://127.0.0.1:8080/v1");
}

} // namespace

result<base_url> parse_base_url(std::string_view text) {
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= 0x20 || byte >= 0x7F || byte == '\\' || byte == '"') {
            return wrong("holds a character that has to be percent-encoded");
        }
    }
    const auto parts = split_url(text);
    base_url url;
    url.secure = parts && ascii::equals_ignoring_case(parts->scheme, "https");
    if (!parts || (!url.secure && !ascii::equals_ignoring_case(parts->scheme, "http")))
        return wrong("begins with neither http:// nor https://");
    if (parts->rest.find_first_of("?#") != std::string_view::npos)
        return wrong("holds a query or a fragment");

    const std::string_view authority = parts->authority;
    std::string_view prefix = parts->rest;
    if (authority.find('@') != std::string_view::npos)
        return wrong("holds a user name or password");

    std::string_view host = authority;
    if (host.starts_with('[')) {
        const std::size_t end = host.find(']');
        if (end == std::string_view::npos) return wrong("its host is not closed by ]");
        host = host.substr(1, end - 1);
    } else {
        host = host.substr(0, host.find(':'));
    }
    if (host.empty()) return wrong("names no host");
    while (prefix.ends_with('/')) prefix.remove_suffix(1);

    url.origin = (url.secure ? "https://" : "http://") + std::string(authority);
    url.host = ascii::to_lower(host);
    url.prefix = prefix;
    return url;
}

} // namespace heddle::providers
