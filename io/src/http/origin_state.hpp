// What is kept for one origin.
#pragma once

#include "connection.hpp"
#include "net/address_book.hpp"
#include "net/tls.hpp"
#include "request_text.hpp"

#include <heddle/http/origin_name.hpp>
#include <heddle/http/pool_fsm.hpp>
#include <heddle/http/proxy_rules.hpp>
#include <heddle/ports/http_port.hpp>

namespace heddle::http {

class client_core;
class exchange_operation;

/// Drives the origin's pool_fsm: owns its connections, lets idle ones age, serves the queue.
/// A pool belongs to one origin also where all of them go through the same proxy: what was sent to
/// one server can never be answered by another.
class origin_state final : public ports::http_origin, private coro::timer_node {
public:
    /// `proxy` may be null; `tls` is there when the origin or the proxy is https.
    origin_state(client_core& core, origin_name name, std::shared_ptr<const proxy_server> proxy,
                 std::shared_ptr<net::tls_context> tls);
    ~origin_state() override;

    [[nodiscard]] const std::string& name() const noexcept override { return text_; }
    [[nodiscard]] const origin_name& parts() const noexcept { return name_; }
    [[nodiscard]] const std::string& host_header() const noexcept { return host_header_; }
    [[nodiscard]] const proxy_server* proxy() const noexcept { return proxy_.get(); }
    /// The server that sockets are connected to.
    [[nodiscard]] const origin_name& next_hop() const noexcept {
        return proxy_ ? proxy_->server : name_;
    }
    /// A proxy that forwards requests one by one, and not a tunnel through it.
    [[nodiscard]] bool forwards() const noexcept { return proxy_ != nullptr && !name_.tls; }
    [[nodiscard]] bool tunnels() const noexcept { return proxy_ != nullptr && name_.tls; }
    /// Null once the client is gone.
    [[nodiscard]] client_core* core() const noexcept { return core_; }
    [[nodiscard]] net::address_book& addresses() noexcept { return *addresses_; }
    [[nodiscard]] const net::tls_context* tls() const noexcept { return tls_.get(); }
    [[nodiscard]] net::tls_session_slot& sessions() noexcept { return sessions_; }
    [[nodiscard]] net::tls_session_slot& proxy_sessions() noexcept { return proxy_sessions_; }
    [[nodiscard]] pool_fsm& pool() noexcept { return pool_; }
    /// Of the request that was begun or sent last.
    [[nodiscard]] header_text& headers() noexcept { return headers_; }

    /// A connection for a place that the pool reserved.
    [[nodiscard]] connection& make_connection();
    /// The exchange on it is over. Keeps it if it is usable and clean; else closes it at once.
    void give_back(connection& used, bool usable) noexcept;
    /// Something happened on an idle connection.
    void idle_event(connection& idle) noexcept;
    /// Refuses whoever waits and closes what is idle.
    void shut_down() noexcept;
    /// The client goes away; the origin may be held longer by others.
    void orphan() noexcept;

private:
    void on_timer() noexcept override;
    void destroy(connection& old) noexcept;
    void serve() noexcept;

    client_core* core_;
    origin_name name_;
    std::string text_;
    std::string host_header_;
    std::shared_ptr<const proxy_server> proxy_;
    std::shared_ptr<net::tls_context> tls_;
    net::tls_session_slot sessions_;
    net::tls_session_slot proxy_sessions_;
    std::unique_ptr<net::address_book> addresses_;
    pool_fsm pool_;
    header_text headers_;
    bool serving_ = false;
};

} // namespace heddle::http
