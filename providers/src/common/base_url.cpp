#include "common/base_url.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/ports/llm_port.hpp>

#include <algorithm>

namespace heddle::providers {

namespace {

error wrong(std::string what) {
    return error(ports::make_error_code(ports::llm_errc::configuration),
                 "base URL: " + std::move(what))
        .with_hint("a base URL looks like https://api.openai.com/v1 or http://127.0.0.1:8080/v1");
}

bool takes_scheme(std::string_view& text, std::string_view scheme) {
    if (!ascii::equals_ignoring_case(text.substr(0, scheme.size()), scheme)) return false;
    text.remove_prefix(scheme.size());
    return true;
}

} // namespace

result<base_url> parse_base_url(std::string_view text) {
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= 0x20 || byte >= 0x7F || byte == '\\' || byte == '"') {
            return wrong("holds a character that has to be percent-encoded");
        }
    }
    base_url url;
    if (takes_scheme(text, "https://")) url.secure = true;
    else if (!takes_scheme(text, "http://"))
        return wrong("begins with neither http:// nor https://");
    if (text.find_first_of("?#") != std::string_view::npos)
        return wrong("holds a query or a fragment");

    const std::size_t slash = text.find('/');
    const std::string_view authority = text.substr(0, slash);
    std::string_view prefix;
    if (slash != std::string_view::npos) prefix = text.substr(slash);
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

bool is_loopback_name(std::string_view host) noexcept {
    // A name that only begins like an address ("127.0.0.1.example.com") is anybody's.
    const bool numeric = host.find_first_not_of("0123456789.") == std::string_view::npos;
    return host == "localhost" || host == "::1" || (numeric && host.starts_with("127."));
}

} // namespace heddle::providers
