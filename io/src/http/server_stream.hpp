// The socket of a connection of the server.
#pragma once

#include "net/readiness_set.hpp"
#include "net/tls.hpp"

#include <heddle/fs/descriptor.hpp>

#include <boost/system/error_code.hpp>

#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace heddle::http {

/// A socket, plain or with TLS, and whether it may have something to read. It is watched once for
/// all that it does, so that a request costs one call of the system to receive and one to respond.
/// Threads: the loop's only.
class server_stream {
public:
    /// `sockets` and `node`, which is notified of readiness, outlive it.
    server_stream(net::readiness_set& sockets, net::ready_node& node,
                  fs::descriptor socket) noexcept
        : sockets_(sockets), node_(node), socket_(std::move(socket)) {}
    server_stream(const server_stream&) = delete;
    server_stream& operator=(const server_stream&) = delete;
    ~server_stream() { close(); }

    /// From now on the node is notified. Errors: those of net::readiness_set::add.
    [[nodiscard]] boost::system::error_code watch() noexcept;
    /// What the node was notified of.
    void note(net::readiness what) noexcept;
    /// Whether a read may find something: false from a read that found the end of what is there
    /// until the next notification.
    [[nodiscard]] bool may_read() const noexcept { return may_read_; }

    /// Begins TLS. False: there is no memory for it.
    [[nodiscard]] bool secure(const net::tls_context& with);
    [[nodiscard]] bool is_secure() const noexcept { return tls_ != nullptr; }
    /// As net::tls_channel.
    [[nodiscard]] net::io_status handshake() noexcept;
    [[nodiscard]] bool wants_write() const noexcept { return tls_->wants_write(); }
    void abandon_tls() noexcept { tls_->abandon(); }

    [[nodiscard]] net::io_outcome read_some(std::span<char> into) noexcept;
    /// Past TLS: for bytes that nobody looks at.
    [[nodiscard]] net::io_outcome read_raw(std::span<char> into) noexcept;
    [[nodiscard]] net::io_outcome write_some(std::string_view from) noexcept;

    /// Notifies the client, within TLS, that nothing more comes.
    void close_notify() noexcept;
    void end_sending() noexcept;
    /// The node is not notified any more. Later calls do nothing.
    void close() noexcept;

private:
    net::readiness_set& sockets_;
    net::ready_node& node_;
    std::unique_ptr<net::tls_channel> tls_; ///< null: plain
    fs::descriptor socket_;
    bool is_watched_ = false;
    bool may_read_ = true;
    bool hung_up_ = false; ///< behind what can be read is the end
};

} // namespace heddle::http
