#include <heddle/setup/display_text.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/display_width.hpp>
#include <heddle/base/number_text.hpp>
#include <heddle/base/url.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/http/origin_name.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace heddle::setup {

std::string cut_to_width(std::string_view text, std::size_t width) {
    if (display_width(text) <= width) return std::string(text);
    if (width == 0) return {};
    return std::string(text.substr(0, display_prefix(text, width - 1).bytes)) + "…";
}

double rounded_usd(double amount) noexcept {
    constexpr double places = 1e10;
    const double rounded = std::round(amount * places) / places;
    return std::isfinite(rounded) ? rounded : amount;
}

std::string duration_text(double seconds) {
    if (seconds < 10) {
        char text[32];
        std::snprintf(text, sizeof text, "%.1f s", seconds);
        return text;
    }
    const auto whole = static_cast<long long>(std::llround(seconds));
    if (whole < 120) return std::to_string(whole) + " s";
    const long long minutes = (whole + 30) / 60;
    if (minutes < 120) return std::to_string(minutes) + " min";
    return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
}

std::string dollars(double amount) {
    if (!(amount > 0)) return {};
    if (amount < 0.0001) amount = std::strtod(rounded_text(amount, 2).c_str(), nullptr);
    // The second digit of what is very small is still shown.
    const int small = amount < 0.0001 ? 1 - static_cast<int>(std::floor(std::log10(amount))) : 6;
    const int places = amount < 0.01 ? std::clamp(small, 6, 20) : amount < 1 ? 4 : 2;
    std::array<char, 400> text{};
    std::snprintf(text.data(), text.size(), "$%.*f", places, amount);
    std::string shown = text.data();
    if (places > 2) {
        while (shown.back() == '0') shown.pop_back();
        if (shown.back() == '.') shown.pop_back();
    }
    return shown;
}

std::string public_address(std::string_view address) {
    const auto has_at = [](std::string_view text) { return text.find('@') != text.npos; };
    const auto parts = split_url(address);
    // OLLAMA_HOST may hold a host alone.
    const bool named = parts.has_value();
    const std::string_view scheme =
        named ? address.substr(0, parts->scheme.size() + 3) : std::string_view();
    const std::string_view rest = address.substr(scheme.size());
    const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
    std::string_view host = rest.substr(0, end);
    const std::string_view tail = rest.substr(end);
    const std::string_view path = tail.substr(0, tail.find_first_of("?#"));
    // A password that holds one of "/?#" ends behind what looks like the host.
    const bool astray = has_at(tail) && (!named || has_at(host) || !has_at(path));
    host.remove_prefix(host.rfind('@') + 1);
    const std::string origin = std::string(named ? scheme : "http://") + std::string(host);
    if (astray || !http::parse_origin(origin)) {
        const bool is_scheme = ascii::equals_ignoring_case(scheme, "http://") ||
                               ascii::equals_ignoring_case(scheme, "https://");
        return std::string(is_scheme ? scheme : std::string_view()) + "[hidden]";
    }
    std::string out(scheme);
    out += host;
    if (has_at(path)) return out + "/[hidden]";
    out += path;
    if (path.size() != tail.size()) out += std::string(1, tail[path.size()]) + "[hidden]";
    return out;
}

std::string shown_address(std::string_view address) {
    constexpr std::size_t longest = 200;
    constexpr std::size_t some_of_path = 40; // a mark right behind a host would look like its end
    const std::string text = utf8::printable_line(public_address(address));
    const auto parts = split_url(text);
    const std::size_t path = parts ? text.size() - parts->rest.size() : text.find('/');
    const std::string_view origin = std::string_view(text).substr(0, path);
    return cut_to_width(text, std::max(longest, utf8::count(origin) + some_of_path));
}

} // namespace heddle::setup
