// What the connections of a server share.
#pragma once

#include "net/readiness_set.hpp"

#include <heddle/coro/wait_point.hpp>
#include <heddle/http/server.hpp>

#include <cstddef>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace heddle::net {
class tls_context;
}

namespace heddle::http {

/// What the connections of one address use, see server_options::max_connections_per_client.
struct client_use {
    std::size_t open = 0;           ///< connections
    std::size_t received_bytes = 0; ///< of server_counters::received_bytes
};

/// Outlives the connections, until each has ended.
struct server_shared {
    server_shared(server_options wanted, request_handler handles, coro::event_loop& on,
                  log_port& lines)
        : options(std::move(wanted)), handler(std::move(handles)), loop(on), log(lines),
          sockets(on) {}

    server_options options;
    request_handler handler;
    coro::event_loop& loop;
    log_port& log;
    net::readiness_set sockets;            ///< of the connections
    std::shared_ptr<net::tls_context> tls; ///< null: plain HTTP
    server_counters counters;
    std::map<std::string, client_use, std::less<>> clients; ///< with open connections
    bool stopping = false;
    bool is_over = false;  ///< the time to drain is over
    coro::wait_point room; ///< a connection ended or became idle, or the server stops

    /// The time of day for Date (RFC 9110, 5.6.7), made once a second.
    [[nodiscard]] const std::string& date();
    /// The body of a response of the server itself.
    [[nodiscard]] std::string refusal_body(std::string_view path, int status,
                                           std::string_view message) const {
        return options.refusal_body ? options.refusal_body(path, status, message)
                                    : error_body(status, message);
    }

private:
    std::time_t date_second_ = -1;
    std::string date_;
};

} // namespace heddle::http
