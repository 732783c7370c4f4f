// The sockets of one client, or of one server, and what they are ready for.
#pragma once

#include <heddle/coro/event_loop.hpp>

#include <boost/system/error_code.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace heddle::net {

/// Readiness as epoll reports it, in our words.
struct readiness {
    bool readable = false; ///< data, end of stream or an error: a read will show
    bool writable = false; ///< also: a connect has come to its end
    bool hung_up = false;  ///< the peer will send nothing more after what is buffered
};

/// Somebody who waits on a descriptor.
class ready_node {
public:
    ready_node() = default;
    ready_node(const ready_node&) = delete;
    ready_node& operator=(const ready_node&) = delete;

protected:
    ~ready_node() = default;
    /// Called on the loop. May remove and destroy any node of the set, itself included.
    /// Must not throw and must not resume a coroutine inline: post it.
    virtual void on_ready(readiness what) noexcept = 0;

private:
    friend class readiness_set;
};

/// An epoll instance that the loop sees as one single descriptor.
///
/// Why not a socket object of Asio per connection: an operation of its own for every read costs an
/// allocation, a second system call (the read that finds nothing, or the re-arming), and a wait
/// that has to be cancelled and collected before a socket may be closed. Here a descriptor is
/// registered once, edge-triggered; a turn of the loop fetches all events in one call; closing a
/// socket is just that. Costs: one more epoll_wait and one more epoll_ctl per turn, shared by all
/// events of it.
///
/// Edge-triggered: a node is notified once of each change and must read until there is no more.
/// While descriptors are registered, io_context::run() of the loop does not return.
/// Threads: the shard's only.
class readiness_set {
public:
    enum class interest : std::uint8_t { connect, stream };

    explicit readiness_set(coro::event_loop& loop);
    ~readiness_set();
    readiness_set(const readiness_set&) = delete;
    readiness_set& operator=(const readiness_set&) = delete;

    /// Why there is no epoll instance, as without descriptors; every add() fails with it.
    [[nodiscard]] boost::system::error_code failure() const noexcept;

    /// Watches `descriptor` for `node`. Errors: those of epoll_ctl (ENOSPC, EMFILE at creation).
    [[nodiscard]] boost::system::error_code add(int descriptor, ready_node& node, interest what);
    /// Hands a watched descriptor to another node, which is notified of what is ready now.
    [[nodiscard]] boost::system::error_code change(int descriptor, ready_node& node, interest what);
    /// Closes the descriptor; the node is not notified any more.
    void close(int descriptor, ready_node& node) noexcept;
    /// Calls node.on_ready once more in the next turn, for a node that stopped before the end.
    void again(ready_node& node, readiness what);

    /// Descriptors that are open now.
    [[nodiscard]] std::size_t size() const noexcept;
    /// The time at which the current turn began; the clock's time outside of one.
    [[nodiscard]] coro::clock::time_point now() const noexcept;

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace heddle::net
