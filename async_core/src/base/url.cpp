#include <heddle/base/url.hpp>

#include <heddle/base/ascii.hpp>

#include <algorithm>

namespace heddle {

std::optional<url_parts> split_url(std::string_view text) noexcept {
    const std::size_t colon = text.find("://");
    if (colon == std::string_view::npos) return std::nullopt;
    const std::string_view behind = text.substr(colon + 3);
    const std::size_t end = std::min(behind.find_first_of("/?#"), behind.size());
    return url_parts{text.substr(0, colon), behind.substr(0, end), behind.substr(end)};
}

bool is_localhost(std::string_view host) noexcept {
    if (host.ends_with('.')) host.remove_suffix(1);
    return host == "localhost" || host.ends_with(".localhost");
}

bool is_loopback_host(std::string_view host) noexcept {
    // A name that only begins like an address ("127.0.0.1.example.com") is anybody's.
    const bool numeric = std::all_of(host.begin(), host.end(),
                                     [](char c) { return ascii::is_digit(c) || c == '.'; });
    return is_localhost(host) || host == "::1" || (numeric && host.starts_with("127."));
}

} // namespace heddle
