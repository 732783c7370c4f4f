#include <heddle/http/origin_name.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/parse_number.hpp>
#include <heddle/base/url.hpp>
#include <heddle/ports/http_port.hpp>

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <optional>

namespace heddle::http {

namespace {

error invalid(std::string_view url, std::string why) {
    // Of what is not a URL any part may belong to a password.
    const auto parts = split_url(url);
    const std::string_view scheme = parts ? parts->scheme : std::string_view();
    const bool known =
        ascii::equals_ignoring_case(scheme, "http") || ascii::equals_ignoring_case(scheme, "https");
    const std::string shown = known ? "URL " + std::string(scheme) + "://…" : "URL";
    return error(ports::http_errc::invalid_url, "invalid " + shown + ": " + std::move(why))
        .with_hint("write http://host[:port] or https://host[:port]")
        .with_retryable(false);
}

bool is_host_byte(char c) {
    return (c >= 'a' && c <= 'z') || ascii::is_digit(c) || c == '-' || c == '.' || c == '_';
}

bool is_address(const std::string& host) {
    boost::system::error_code ec;
    (void)boost::asio::ip::make_address(host, ec);
    return !ec;
}

/// Takes "%25eth0" or "%eth0" off the end of an address (RFC 6874, 2). Result: the zone, empty when
/// there is none; nothing when it is not a name of an interface.
std::optional<std::string> take_zone(std::string& host) {
    constexpr std::size_t max_zone_length = 15; // IFNAMSIZ without the zero
    const std::size_t percent = host.find('%');
    if (percent == std::string::npos) return std::string();
    std::string zone = host.substr(percent + 1);
    host.resize(percent);
    if (zone.size() > 2 && zone.starts_with("25")) zone.erase(0, 2);
    const bool fine = std::all_of(zone.begin(), zone.end(), [](char c) {
        return ascii::is_letter(c) || is_host_byte(c) || c == '~';
    });
    if (zone.empty() || zone.size() > max_zone_length || !fine) return std::nullopt;
    return zone;
}

} // namespace

std::string origin_name::authority() const {
    const bool six = host.find(':') != std::string::npos;
    return (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string origin_name::text() const {
    const std::string where =
        zone.empty() ? authority() : "[" + connect_host() + "]:" + std::to_string(port);
    return (tls ? "https://" : "http://") + where;
}

std::string origin_name::connect_host() const { return zone.empty() ? host : host + "%" + zone; }

std::string origin_name::host_header() const {
    const bool six = host.find(':') != std::string::npos;
    std::string out = six ? "[" + host + "]" : host;
    if (port != (tls ? 443 : 80)) out += ":" + std::to_string(port);
    return out;
}

result<origin_name> parse_origin(std::string_view url) {
    const std::string_view whole = url;
    origin_name name;
    const auto parts = split_url(url);
    if (!parts) return invalid(whole, "there is no scheme");
    const std::string scheme = ascii::to_lower(parts->scheme);
    if (scheme != "http" && scheme != "https")
        return invalid(whole, "the scheme is not http or https");
    name.tls = scheme == "https";
    if (url.find('@') != std::string_view::npos)
        return invalid(whole, "a user name does not belong here");
    if (!parts->rest.empty() && parts->rest != "/")
        return invalid(whole, "a path does not belong here");
    url = parts->authority;

    std::string_view port;
    bool has_port = false;
    if (url.starts_with('[')) {
        const std::size_t end = url.find(']');
        if (end == std::string_view::npos) return invalid(whole, "a closing ] is missing");
        name.host = url.substr(1, end - 1);
        url.remove_prefix(end + 1);
        has_port = url.starts_with(':');
        if (!url.empty() && !has_port) return invalid(whole, "there is text after the ]");
        if (has_port) port = url.substr(1);
        auto zone = take_zone(name.host);
        if (!zone) return invalid(whole, "the zone after the % is not the name of an interface");
        name.zone = *std::move(zone);
        if (name.host.find(':') == std::string::npos || !is_address(name.host)) {
            return invalid(whole, "the brackets hold no IPv6 address");
        }
        name.host = ascii::to_lower(name.host);
        name.numeric = true;
    } else {
        const std::size_t end = url.find(':');
        has_port = end != std::string_view::npos;
        if (has_port) port = url.substr(end + 1);
        name.host = url.substr(0, end);
        name.host = ascii::to_lower(name.host);
        if (name.host.empty()) return invalid(whole, "the host is empty");
        if (name.host.size() > 253 ||
            !std::all_of(name.host.begin(), name.host.end(), is_host_byte)) {
            return invalid(whole, "the host is not a name or an address");
        }
        name.numeric = is_address(name.host);
    }
    name.port = name.tls ? 443 : 80;
    if (has_port) {
        const auto number = parse_number<std::uint16_t>(port);
        if (!number || *number == 0)
            return invalid(whole, "the port is not a number from 1 to 65535");
        name.port = *number;
    }
    return name;
}

} // namespace heddle::http
