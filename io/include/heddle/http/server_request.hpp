// A request as a server sees it.
#pragma once

#include <heddle/base/ascii.hpp>

#include <string_view>
#include <vector>

namespace heddle::http {

/// A header field of a request. Its name is as it was written.
struct request_field {
    std::string_view name;
    std::string_view value;
};

/// A whole request. The views belong to whoever made it: to the parser until it is reset, to the
/// server until the handler has ended.
struct server_request {
    std::string_view method; ///< "GET", in the case in which it was written
    /// Path and query, still percent-encoded. Of a request with a whole URL (RFC 9112, 3.2.2) these
    /// are those of the URL, and its authority is the value of the field Host.
    std::string_view target;
    std::string_view body;
    std::vector<request_field> fields;
    std::string_view peer; ///< the IP address of the client; empty if unknown
    /// What is counted as one client: the address of IPv4, or the network of 64 bits of IPv6, all
    /// addresses of which a client may use.
    std::string_view client;
    bool is_secure = false; ///< came over TLS
    bool keep_alive = true;
    bool is_http_1_0 = false;

    /// The target without its query.
    [[nodiscard]] std::string_view path() const noexcept {
        return target.substr(0, target.find('?'));
    }
    /// The value of the first field of this name, whatever its case; empty if there is none.
    [[nodiscard]] std::string_view field(std::string_view name) const noexcept {
        for (const request_field& each : fields) {
            if (ascii::equals_ignoring_case(each.name, name)) return each.value;
        }
        return {};
    }
};

} // namespace heddle::http
