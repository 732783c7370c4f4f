// What is kept for one origin.
#pragma once

#include "connection.hpp"
#include "net/address_book.hpp"
#include "net/tls.hpp"

#include <heddle/http/origin_name.hpp>
#include <heddle/http/pool_fsm.hpp>
#include <heddle/ports/http_port.hpp>

namespace heddle::http {

class client_core;
class exchange_operation;

/// Drives the origin's pool_fsm: owns its connections, lets idle ones age, serves the queue.
class origin_state final : public ports::http_origin, private coro::timer_node {
public:
    origin_state(client_core& core, origin_name name, std::shared_ptr<net::tls_context> tls);
    ~origin_state() override;

    [[nodiscard]] const std::string& name() const noexcept override { return text_; }
    [[nodiscard]] const origin_name& parts() const noexcept { return name_; }
    [[nodiscard]] const std::string& host_header() const noexcept { return host_header_; }
    /// Null once the client is gone.
    [[nodiscard]] client_core* core() const noexcept { return core_; }
    [[nodiscard]] net::address_book& addresses() noexcept { return *addresses_; }
    [[nodiscard]] const net::tls_context* tls() const noexcept { return tls_.get(); }
    [[nodiscard]] net::tls_session_slot& sessions() noexcept { return sessions_; }
    [[nodiscard]] pool_fsm& pool() noexcept { return pool_; }

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
    std::shared_ptr<net::tls_context> tls_;
    net::tls_session_slot sessions_;
    std::unique_ptr<net::address_book> addresses_;
    pool_fsm pool_;
    bool serving_ = false;
};

} // namespace heddle::http
