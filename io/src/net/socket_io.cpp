#include "socket_io.hpp"

#include <cerrno>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace heddle::net {

namespace {

boost::system::error_code code_of(int number) { return {number, boost::system::system_category()}; }

/// What is written whole must not wait for more. Failure is harmless.
void send_at_once(int descriptor) noexcept {
    const int on = 1;
    (void)::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

} // namespace

int begin_connect(const boost::asio::ip::tcp::endpoint& to,
                  boost::system::error_code& ec) noexcept {
    ec = {};
    const int descriptor =
        ::socket(to.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    if (descriptor < 0) {
        ec = code_of(errno);
        return -1;
    }
    send_at_once(descriptor);
    if (::connect(descriptor, to.data(), static_cast<socklen_t>(to.size())) != 0 &&
        errno != EINPROGRESS) {
        ec = code_of(errno);
        ::close(descriptor);
        return -1;
    }
    return descriptor;
}

boost::system::error_code connect_outcome(int descriptor) noexcept {
    int number = 0;
    socklen_t size = sizeof number;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size) != 0) number = errno;
    return number == 0 ? boost::system::error_code() : code_of(number);
}

int accept_one(int listener, boost::asio::ip::tcp::endpoint& peer,
               boost::system::error_code& ec) noexcept {
    ec = {};
    for (;;) {
        auto size = static_cast<socklen_t>(peer.capacity());
        const int descriptor =
            ::accept4(listener, peer.data(), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (descriptor >= 0) {
            peer.resize(size);
            send_at_once(descriptor);
            return descriptor;
        }
        if (errno == EINTR) continue;
        ec = code_of(errno);
        return -1;
    }
}

io_outcome read_some(int descriptor, std::span<char> into) noexcept {
    for (;;) {
        const ssize_t count = ::recv(descriptor, into.data(), into.size(), 0);
        if (count > 0) return {io_status::done, static_cast<std::size_t>(count), {}};
        if (count == 0) return {io_status::end, 0, {}};
        if (errno == EAGAIN || errno == EWOULDBLOCK) return {io_status::would_block, 0, {}};
        if (errno != EINTR) return {io_status::failed, 0, code_of(errno)};
    }
}

io_outcome write_some(int descriptor, std::string_view from, more_follows more) noexcept {
    // A peer that is gone must show as an error, not as SIGPIPE in somebody's server.
    const int flags = MSG_NOSIGNAL | (more == more_follows::yes ? MSG_MORE : 0);
    for (;;) {
        const ssize_t count = ::send(descriptor, from.data(), from.size(), flags);
        if (count >= 0) return {io_status::done, static_cast<std::size_t>(count), {}};
        if (errno == EAGAIN || errno == EWOULDBLOCK) return {io_status::would_block, 0, {}};
        if (errno != EINTR) return {io_status::failed, 0, code_of(errno)};
    }
}

} // namespace heddle::net
