// TCP connections to whichever address responds first.
#pragma once

#include "address_book.hpp"
#include "readiness_set.hpp"
#include "socket_io.hpp"

#include <heddle/net/connect_fsm.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace heddle::net {

/// Is notified of the end of a connect.
class connect_listener {
public:
    /// `descriptor` is connected, watched by the connector's attempt `from`, and now the
    /// listener's: readiness_set::change() hands it over. The connector may be destroyed from here.
    virtual void on_connected(int descriptor) noexcept = 0;
    /// No address worked; `why` is the first telling error. The connector may be destroyed.
    virtual void on_connect_failed(boost::system::error_code why) noexcept = 0;

protected:
    ~connect_listener() = default;
};

/// Drives connect_fsm with sockets and a timer. Destroying it closes the attempts under way.
class connector final : private coro::timer_node {
public:
    connector(readiness_set& set, coro::event_loop& loop, address_list addresses,
              std::chrono::milliseconds stagger, connect_listener& listener);
    ~connector();

    /// Begins. Result: an error when every address failed at once; then the listener is not called.
    [[nodiscard]] boost::system::error_code start();

private:
    struct attempt final : ready_node {
        attempt(connector& maker, int result) : owner(maker), descriptor(result) {}
        void on_ready(readiness) noexcept override { owner.attempt_ended(*this); }
        connector& owner;
        int descriptor;
    };

    void on_timer() noexcept override;
    void attempt_ended(attempt& ended) noexcept;
    /// Performs steps until there is only waiting left. True when all has failed.
    [[nodiscard]] bool perform(connect_step step);
    void note(const boost::system::error_code& ec) noexcept;
    void close_attempts() noexcept;

    readiness_set& set_;
    coro::event_loop& loop_;
    address_list addresses_;
    connect_listener& listener_;
    connect_fsm fsm_;
    std::vector<std::unique_ptr<attempt>> attempts_;
    boost::system::error_code failure_; ///< the most informative so far
};

} // namespace heddle::net
