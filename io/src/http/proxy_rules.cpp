#include <heddle/http/proxy_rules.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/hex.hpp>
#include <heddle/base/parse_number.hpp>
#include <heddle/base/url.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/ports/http_port.hpp>

#include <openssl/evp.h>
#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <optional>

namespace heddle::http {

namespace {

error invalid(std::string what, std::string hint) {
    return error(ports::http_errc::invalid_url, std::move(what))
        .with_hint(std::move(hint))
        .with_retryable(false);
}

constexpr const char* proxy_hint = "write [http://|https://][user:password@]host[:port]";

std::string base64(std::string_view bytes) {
    std::string out((bytes.size() + 2) / 3 * 4, '\0');
    ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()),
                      static_cast<int>(bytes.size()));
    return out;
}

/// Bytes of a numeric address; an IPv4 address in IPv6 clothes counts as IPv4.
std::vector<unsigned char> address_bytes(const std::string& text) {
    boost::system::error_code ec;
    auto address = boost::asio::ip::make_address(text, ec);
    if (ec) return {};
    if (address.is_v6() && address.to_v6().is_v4_mapped()) {
        address = boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6());
    }
    if (address.is_v4()) {
        const auto bytes = address.to_v4().to_bytes();
        return {bytes.begin(), bytes.end()};
    }
    const auto bytes = address.to_v6().to_bytes();
    return {bytes.begin(), bytes.end()};
}

bool same_prefix(const std::vector<unsigned char>& a, const std::vector<unsigned char>& b,
                 unsigned bits) {
    if (a.size() != b.size()) return false;
    const std::size_t whole = bits / 8;
    if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(whole), b.begin()))
        return false;
    const unsigned rest = bits % 8;
    return rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0;
}

} // namespace

result<proxy_server> parse_proxy(std::string_view url) {
    std::string_view scheme = "http";
    if (const auto parts = split_url(url)) {
        scheme = parts->scheme;
        url.remove_prefix(scheme.size() + 3); // a password may hold any of "/?#"
    }
    const std::string wanted = ascii::to_lower(scheme);
    if (wanted != "http" && wanted != "https") {
        // Where a scheme is expected may stand a password.
        const bool plain =
            wanted.size() < 12 && std::all_of(wanted.begin(), wanted.end(), [](char c) {
                return (c >= 'a' && c <= 'z') || ascii::is_digit(c);
            });
        return invalid(plain ? "a proxy of the kind " + wanted + ":// is not supported"
                             : "the proxy's scheme is not http or https",
                       proxy_hint);
    }
    proxy_server proxy;
    // The last one: a password that somebody forgot to encode may hold an '@' itself.
    if (const std::size_t at = url.rfind('@'); at != std::string_view::npos) {
        const auto user = percent_decoded(url.substr(0, at), broken_escape::refused);
        if (!user) return invalid("the proxy's user or password has a broken %-code", proxy_hint);
        if (user->find(':') == std::string::npos)
            proxy.authorization = secret("Basic " + base64(*user + ":"));
        else proxy.authorization = secret("Basic " + base64(*user));
        url.remove_prefix(at + 1);
    }
    auto server = parse_origin(wanted + "://" + std::string(url));
    if (!server) {
        const std::string& why = server.error().message();
        return invalid("invalid proxy" + why.substr(std::min(why.find(' '), why.size())),
                       proxy_hint);
    }
    proxy.server = *std::move(server);
    return proxy;
}

result<no_proxy_list::entry> no_proxy_list::parse_entry(std::string_view text) {
    const auto bad = [text](const char* why) {
        return invalid(
            "no_proxy: \"" + utf8::shortened(text, 80) + "\": " + why,
            "write a name, an address, a range as 10.0.0.0/8, or *, with :port if needed");
    };
    entry created;
    std::string_view host = text;
    std::string_view port;
    bool has_port = false;
    if (host.starts_with('[')) {
        const std::size_t end = host.find(']');
        if (end == std::string_view::npos) return bad("a closing ] is missing");
        has_port = host.substr(end + 1).starts_with(':');
        if (!has_port && end + 1 != host.size()) return bad("there is text after the ]");
        if (has_port) port = host.substr(end + 2);
        host = host.substr(1, end - 1);
    } else if (std::count(host.begin(), host.end(), ':') == 1) {
        has_port = true;
        port = host.substr(host.find(':') + 1);
        host = host.substr(0, host.find(':'));
    }
    if (has_port) {
        created.port = parse_number<std::uint16_t>(port).value_or(0);
        if (created.port == 0) return bad("the port is not a number from 1 to 65535");
    }
    if (const std::size_t slash = host.find('/'); slash != std::string_view::npos) {
        created.bits = address_bytes(std::string(host.substr(0, slash)));
        if (created.bits.empty()) return bad("there is no address before the /");
        const auto prefix = parse_number<unsigned>(host.substr(slash + 1));
        if (!prefix || *prefix > created.bits.size() * 8)
            return bad("the number after the / is not a count of bits");
        created.prefix = *prefix;
        return created;
    }
    created.bits = address_bytes(std::string(host));
    created.prefix = static_cast<unsigned>(created.bits.size() * 8);
    if (!created.bits.empty()) return created;
    if (host.starts_with("*.")) host.remove_prefix(1);
    while (host.starts_with('.')) host.remove_prefix(1);
    while (host.ends_with('.')) host.remove_suffix(1);
    created.name = ascii::to_lower(host);
    return created;
}

result<no_proxy_list> no_proxy_list::parse(std::string_view text) {
    no_proxy_list list;
    constexpr std::string_view separators = ", \t\r\n";
    while (!text.empty()) {
        const std::size_t begin = text.find_first_not_of(separators);
        if (begin == std::string_view::npos) break;
        text.remove_prefix(begin);
        const std::string_view one = text.substr(0, text.find_first_of(separators));
        text.remove_prefix(one.size());
        if (one == "*") {
            list.everybody_ = true;
            continue;
        }
        HEDDLE_TRY(entry result, parse_entry(one));
        if (!result.name.empty() || !result.bits.empty())
            list.entries_.push_back(std::move(result));
    }
    return list;
}

bool no_proxy_list::covers(const origin_name& origin) const {
    if (everybody_) return true;
    if (entries_.empty()) return false;
    const auto bits = origin.numeric ? address_bytes(origin.host) : std::vector<unsigned char>();
    std::string_view host = origin.host;
    while (host.ends_with('.')) host.remove_suffix(1);
    return std::any_of(entries_.begin(), entries_.end(), [&](const entry& one) {
        if (one.port != 0 && one.port != origin.port) return false;
        if (!one.bits.empty()) return !bits.empty() && same_prefix(bits, one.bits, one.prefix);
        if (origin.numeric || !host.ends_with(one.name)) return false;
        const std::size_t before = host.size() - one.name.size();
        return before == 0 || host[before - 1] == '.';
    });
}

bool is_loopback(const origin_name& origin) {
    if (origin.numeric) {
        const auto bits = address_bytes(origin.host);
        if (bits.size() == 4) return bits[0] == 127;
        return bits.size() == 16 && bits[15] == 1 &&
               std::all_of(bits.begin(), bits.end() - 1, [](unsigned char b) { return b == 0; });
    }
    return is_localhost(origin.host);
}

proxy_rules proxy_rules::create(const settings& from) {
    proxy_rules rules;
    const auto read = [](std::string_view url,
                         const char* which) -> result<std::shared_ptr<const proxy_server>> {
        if (url.empty()) return std::shared_ptr<const proxy_server>();
        auto parsed = parse_proxy(url);
        if (!parsed) {
            return invalid(std::string(which) + ": " + parsed.error().message(), proxy_hint);
        }
        return std::make_shared<const proxy_server>(*std::move(parsed));
    };
    // Whoever fills the settings may take either for both (environment.hpp).
    rules.http_ = read(from.http_proxy, "http_proxy (or ALL_PROXY)");
    rules.https_ = read(from.https_proxy, "https_proxy (or ALL_PROXY)");
    rules.direct_ = no_proxy_list::parse(from.no_proxy);
    rules.proxy_loopback_ = from.proxy_loopback;
    return rules;
}

result<std::shared_ptr<const proxy_server>> proxy_rules::proxy_for(
    const origin_name& origin) const {
    const choice& chosen = origin.tls ? https_ : http_;
    const std::shared_ptr<const proxy_server> direct;
    if ((chosen && !*chosen) || (!proxy_loopback_ && is_loopback(origin))) return direct;
    if (!direct_) return direct_.error();
    return direct_->covers(origin) ? choice(direct) : chosen;
}

} // namespace heddle::http
