#include "http/server_stream.hpp"

#include <sys/socket.h>

namespace heddle::http {

using net::io_outcome;
using net::io_status;

boost::system::error_code server_stream::watch() noexcept {
    const auto ec = sockets_.add(socket_.get(), node_, net::readiness_set::interest::stream);
    is_watched_ = !ec;
    return ec;
}

void server_stream::note(net::readiness what) noexcept {
    may_read_ = may_read_ || what.readable;
    hung_up_ = hung_up_ || what.hung_up;
}

bool server_stream::secure(const net::tls_context& with) {
    auto channel = net::tls_channel::accept(with, socket_.get());
    if (!channel) return false;
    tls_ = *std::move(channel);
    return true;
}

io_status server_stream::handshake() noexcept { return tls_->handshake(); }

io_outcome server_stream::read_some(std::span<char> into) noexcept {
    if (!tls_) return read_raw(into);
    const io_outcome got = tls_->read_some(into);
    // Records have borders: a read that does not fill its room may leave some of them.
    may_read_ = got.status == io_status::done || tls_->wants_write();
    return got;
}

io_outcome server_stream::read_raw(std::span<char> into) noexcept {
    const io_outcome got = net::read_some(socket_.get(), into);
    may_read_ = got.status == io_status::done && (got.count == into.size() || hung_up_);
    return got;
}

io_outcome server_stream::write_some(std::string_view from) noexcept {
    if (tls_) return tls_->write_some(from);
    return net::write_some(socket_.get(), from, net::more_follows::no);
}

void server_stream::close_notify() noexcept {
    if (tls_) tls_->close_notify();
}

void server_stream::end_sending() noexcept {
    if (socket_.open()) (void)::shutdown(socket_.get(), SHUT_WR);
}

void server_stream::close() noexcept {
    if (is_watched_ && socket_.open()) sockets_.close(socket_.release(), node_);
    socket_ = fs::descriptor();
}

} // namespace heddle::http
