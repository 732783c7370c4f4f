// Which calls go through which proxy: the settings of users, parsed and evaluated. No socket.
#pragma once

#include <heddle/base/secret.hpp>
#include <heddle/http/origin_name.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::http {

/// A proxy, from a URL with an optional user.
struct proxy_server {
    origin_name server;
    secret authorization; ///< value of Proxy-Authorization; empty: no user
};

/// Reads "[http://|https://][user:password@]host[:port]"; user and password percent-encoded.
/// Default ports are 80 and 443.
/// Errors: ports::http_errc::invalid_url, never showing user or password.
[[nodiscard]] result<proxy_server> parse_proxy(std::string_view url);

/// The hosts to connect to directly. Entries are separated by commas or blanks:
///   *                 all hosts
///   example.com       the name and all below it; also written .example.com or *.example.com
///   10.1.2.3, ::1     that address
///   10.0.0.0/8        addresses that begin with these bits (CIDR), of either family
/// Each may end in ":port" (with IPv6 in brackets) and applies to that port only. Names are
/// compared, never looked up: an address does not cover a name that resolves to it.
class no_proxy_list {
public:
    /// Errors: ports::http_errc::invalid_url naming the entry: a bad CIDR or port.
    [[nodiscard]] static result<no_proxy_list> parse(std::string_view text);

    [[nodiscard]] bool covers(const origin_name& origin) const;

private:
    struct entry {
        std::string name;                ///< a suffix without the dot before it; else empty
        std::vector<unsigned char> bits; ///< an address, 4 or 16 bytes
        unsigned prefix = 0;             ///< number of its bits that are compared
        std::uint16_t port = 0;          ///< 0: any
    };

    [[nodiscard]] static result<entry> parse_entry(std::string_view text);

    std::vector<entry> entries_;
    bool everybody_ = false;
};

/// localhost, *.localhost, 127.0.0.0/8, ::1.
[[nodiscard]] bool is_loopback(const origin_name& origin);

/// The proxies and their exceptions. Immutable.
class proxy_rules {
public:
    struct settings {
        std::string_view http_proxy; ///< see parse_proxy; empty: none
        std::string_view https_proxy;
        std::string_view no_proxy;
        bool proxy_loopback = false;
    };

    /// Never fails: an invalid setting is reported by proxy_for() when it is needed.
    [[nodiscard]] static proxy_rules create(const settings& from);

    /// The proxy for this origin; null: connect directly.
    /// Errors: as parse_proxy and no_proxy_list::parse, naming the setting. Only for origins that
    /// would use a proxy, so that a variable that is meant for other programs does not affect other
    /// calls.
    [[nodiscard]] result<std::shared_ptr<const proxy_server>> proxy_for(
        const origin_name& origin) const;

private:
    using choice = result<std::shared_ptr<const proxy_server>>;
    choice http_ = std::shared_ptr<const proxy_server>();
    choice https_ = std::shared_ptr<const proxy_server>();
    result<no_proxy_list> direct_ = no_proxy_list();
    bool proxy_loopback_ = false;
};

} // namespace heddle::http
