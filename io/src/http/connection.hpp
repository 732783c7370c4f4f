// One connection to an origin, from the lookup to the closing.
#pragma once

#include "net/connector.hpp"
#include "net/tls.hpp"

#include <heddle/http/pool_fsm.hpp>

#include <memory>
#include <optional>
#include <span>

namespace heddle::http {

class origin_state;

/// The exchange that a connection works for.
class connection_user {
public:
    virtual void on_opened() noexcept = 0;
    virtual void on_open_failed(error why) noexcept = 0;
    virtual void on_io(net::readiness what) noexcept = 0;

protected:
    ~connection_user() = default;
};

/// Phases: closed -> looking up -> connecting -> [handshaking with the proxy] -> [asking it for a
/// tunnel] -> [handshaking with the server] -> open, as the origin is reached. While an exchange
/// uses it its events go to that; while it is idle any event but TLS housekeeping makes it useless,
/// and its origin is notified. Owned by its origin_state (see origin_state::destroy). Calls to its
/// user are the last thing it does in any function: the user may destroy it.
class connection final : public pool_item,
                         public net::ready_node,
                         private net::connect_listener,
                         private net::lookup_listener {
public:
    explicit connection(origin_state& origin) noexcept;
    ~connection();

    void attach(connection_user& user) noexcept { user_ = &user; }
    void detach() noexcept { user_ = nullptr; }

    /// Begins to open. Result: an error that showed at once; else the user is called.
    [[nodiscard]] std::optional<error> open();
    /// Closes at once, whatever is under way. May be opened again.
    void close() noexcept;
    /// The exchange on it is broken off: closing will not take leave of the server.
    void abandon() noexcept { abandoned_ = true; }

    [[nodiscard]] net::io_outcome read(std::span<char> into) noexcept;
    [[nodiscard]] net::io_outcome write(std::string_view from, net::more_follows more) noexcept;
    /// A short read means that there is no more: not so with TLS, whose records have borders.
    [[nodiscard]] bool short_read_is_last() const noexcept { return !tls_ && !hung_up_; }
    /// Open, and nothing is there that does not belong to the response just read.
    [[nodiscard]] bool clean() noexcept;

private:
    enum class phase : std::uint8_t {
        closed,
        looking_up,
        connecting,
        proxy_handshake,
        tunnelling,
        handshake,
        open
    };
    /// What a connection through a CONNECT proxy has besides.
    struct proxy_link;

    void on_ready(net::readiness what) noexcept override;
    void on_addresses(result<net::address_list> found) noexcept override;
    void on_connected(int descriptor) noexcept override;
    void on_connect_failed(boost::system::error_code last) noexcept override;

    [[nodiscard]] std::optional<error> connect(net::address_list addresses);
    [[nodiscard]] error connect_error(boost::system::error_code last) const;
    [[nodiscard]] error no_channel(const error& why) const;
    void greet_proxy() noexcept;
    void ask_for_tunnel() noexcept;
    void tunnel() noexcept;
    void secure() noexcept;
    void opened() noexcept;
    void handshake(net::tls_channel& channel) noexcept;
    void take_leave(net::tls_channel& channel) noexcept;
    void fail(error why) noexcept;

    origin_state& origin_;
    connection_user* user_ = nullptr;
    std::unique_ptr<net::connector> connector_;
    std::unique_ptr<proxy_link> link_;
    std::unique_ptr<net::tls_channel> tls_; ///< over the link's, where that has one
    int descriptor_ = -1;
    phase phase_ = phase::closed;
    bool abandoned_ = false;
    bool hung_up_ = false;
    bool filled_ = false; ///< the last read filled its buffer: there may be more
};

} // namespace heddle::http
