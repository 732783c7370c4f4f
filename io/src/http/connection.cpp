#include "connection.hpp"

#include "client_core.hpp"

#include <array>
#include <cerrno>

namespace heddle::http {

using ports::http_errc;

std::optional<error> connection::open() {
    phase_ = phase::looking_up;
    hung_up_ = filled_ = false;
    net::address_list known = origin_.addresses().addresses(*this);
    if (!known) return std::nullopt;
    return connect(std::move(known));
}

std::optional<error> connection::connect(net::address_list addresses) {
    client_core& core = *origin_.core();
    phase_ = phase::connecting;
    connector_ = std::make_unique<net::connector>(core.sockets(), core.loop(), std::move(addresses),
                                                  core.options().connect_stagger,
                                                  static_cast<net::connect_listener&>(*this));
    if (const auto ec = connector_->start()) return connect_error(ec);
    return std::nullopt;
}

error connection::connect_error(boost::system::error_code last) const {
    std::string hint =
        "check that a server listens at this address and that no firewall is between";
    if (last.value() == EMFILE || last.value() == ENFILE) {
        hint = "too many files are open: raise the limit (ulimit -n) or allow fewer connections";
    } else if (last.value() == EADDRNOTAVAIL) {
        hint = "no local port is free: allow fewer connections";
    } else {
        origin_.addresses().distrust();
    }
    return error(http_errc::connect_failed,
                 origin_.name() + ": cannot connect (" + last.message() + ")")
        .with_hint(std::move(hint))
        .with_retryable(true);
}

void connection::close() noexcept {
    unlink(); // from the lookup's queue
    connector_.reset();
    if (tls_) {
        if (phase_ == phase::open) tls_->close_notify();
        tls_.reset();
    }
    if (descriptor_ >= 0) {
        origin_.core()->sockets().close(descriptor_, *this);
        descriptor_ = -1;
    }
    phase_ = phase::closed;
}

void connection::fail(error why) noexcept {
    connection_user* user = user_;
    close();
    if (user != nullptr) user->on_open_failed(std::move(why));
}

void connection::on_addresses(result<net::address_list> found) noexcept {
    if (!found) {
        error why = std::move(found).error();
        const std::string message = origin_.name() + ": " + why.message();
        fail(error(why.code(), message).with_hint(why.info().hint).with_retryable(true));
        return;
    }
    if (auto failed = connect(*std::move(found))) fail(*std::move(failed));
}

void connection::on_connect_failed(boost::system::error_code last) noexcept {
    fail(connect_error(last));
}

void connection::on_connected(int descriptor) noexcept {
    descriptor_ = descriptor;
    connector_.reset();
    client_core& core = *origin_.core();
    if (const auto ec =
            core.sockets().change(descriptor_, *this, net::readiness_set::interest::stream)) {
        fail(connect_error(ec));
        return;
    }
    ++core.counted.connections_made;
    if (origin_.tls() == nullptr) {
        phase_ = phase::open;
        user_->on_opened();
        return;
    }
    const origin_name& name = origin_.parts();
    tls_ = net::tls_channel::create(*origin_.tls(), descriptor_, name.host, name.numeric,
                                    origin_.sessions());
    if (!tls_) {
        fail(error(http_errc::tls_failed, origin_.name() + ": there is no memory for TLS")
                 .with_retryable(true));
        return;
    }
    phase_ = phase::handshaking;
    handshake();
}

void connection::handshake() noexcept {
    switch (tls_->handshake()) {
    case net::io_status::would_block: return;
    case net::io_status::done:
        phase_ = phase::open;
        filled_ = true; // the last flight may have brought more than the handshake
        user_->on_opened();
        return;
    default: fail(tls_->failure(origin_.name())); return;
    }
}

void connection::on_ready(net::readiness what) noexcept {
    hung_up_ = hung_up_ || what.hung_up;
    if (phase_ == phase::handshaking) {
        handshake();
        return;
    }
    if (phase_ != phase::open) return;
    if (tls_) what.readable = true; // TLS may have to read in order to write
    if (user_ != nullptr) user_->on_io(what);
    else if (what.readable) origin_.idle_event(*this);
}

net::io_outcome connection::read(std::span<char> into) noexcept {
    const net::io_outcome outcome =
        tls_ ? tls_->read_some(into) : net::read_some(descriptor_, into);
    filled_ = outcome.status == net::io_status::done && outcome.count == into.size();
    return outcome;
}

net::io_outcome connection::write(std::string_view from, net::more_follows more) noexcept {
    return tls_ ? tls_->write_some(from) : net::write_some(descriptor_, from, more);
}

bool connection::clean() noexcept {
    if (phase_ != phase::open) return false;
    if (!hung_up_ && !filled_ && !(tls_ && tls_->has_pending())) return true;
    std::array<char, 16> probe;
    return read(probe).status == net::io_status::would_block && !hung_up_;
}

} // namespace heddle::http
