#include "connection.hpp"

#include "client_core.hpp"
#include "proxy_tunnel.hpp"

#include <array>
#include <cerrno>

namespace heddle::http {

using ports::http_errc;

struct connection::proxy_link {
    proxy_link(parser_cache& cache, const origin_name& to, const proxy_server& through)
        : tunnel(cache, to, through) {}
    proxy_tunnel tunnel;
    std::unique_ptr<net::tls_channel> tls; ///< to the proxy itself, if that is https
};

connection::connection(origin_state& origin) noexcept : origin_(origin) {}
connection::~connection() { close(); }

std::optional<error> connection::open() {
    phase_ = phase::looking_up;
    abandoned_ = hung_up_ = filled_ = false;
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
    std::string hint = "check that a server listens at this address and that no firewall blocks it";
    if (last.value() == EMFILE || last.value() == ENFILE) {
        hint = "too many files are open: raise the limit (ulimit -n) or allow fewer connections";
    } else if (last.value() == EADDRNOTAVAIL) {
        hint = "no local port is free: allow fewer connections";
    } else {
        origin_.addresses().distrust();
    }
    return error(http_errc::connect_failed,
                 origin_.name() + ": cannot connect" +
                     (origin_.proxy() == nullptr ? std::string()
                                                 : " to the proxy " + origin_.next_hop().text()) +
                     " (" + last.message() + ")")
        .with_hint(std::move(hint))
        .with_retryable(true);
}

void connection::close() noexcept {
    unlink(); // from the lookup's queue
    connector_.reset();
    if (tls_ && phase_ == phase::open) take_leave(*tls_);
    tls_.reset();
    if (link_ && link_->tls) take_leave(*link_->tls);
    link_.reset();
    if (descriptor_ >= 0) {
        origin_.core()->sockets().close(descriptor_, *this);
        descriptor_ = -1;
    }
    phase_ = phase::closed;
}

void connection::take_leave(net::tls_channel& channel) noexcept {
    if (abandoned_) channel.abandon();
    else channel.close_notify();
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
    if (origin_.tunnels()) greet_proxy();
    else if (origin_.tls() != nullptr) secure();
    else opened();
}

void connection::greet_proxy() noexcept {
    const proxy_server& proxy = *origin_.proxy();
    link_ = std::make_unique<proxy_link>(origin_.core()->parsers, origin_.parts(), proxy);
    if (!proxy.server.tls) {
        ask_for_tunnel();
        return;
    }
    auto created = net::tls_channel::create(*origin_.tls(), descriptor_, proxy.server.host,
                                            proxy.server.numeric, origin_.proxy_sessions());
    if (!created) {
        fail(no_channel(created.error()));
        return;
    }
    link_->tls = *std::move(created);
    phase_ = phase::proxy_handshake;
    handshake(*link_->tls);
}

void connection::ask_for_tunnel() noexcept {
    phase_ = phase::tunnelling;
    tunnel();
}

void connection::tunnel() noexcept {
    proxy_tunnel& asked = link_->tunnel;
    net::tls_channel* const outer = link_->tls.get();
    while (!asked.unsent().empty()) {
        const net::io_outcome outcome =
            outer != nullptr ? outer->write_some(asked.unsent())
                             : net::write_some(descriptor_, asked.unsent(), net::more_follows::no);
        if (outcome.status == net::io_status::would_block) return;
        if (outcome.status != net::io_status::done) {
            fail(asked.ended(outcome.ec));
            return;
        }
        asked.sent(outcome.count);
    }
    const std::span<char> buffer = origin_.core()->scratch().first(proxy_tunnel::max_header_bytes);
    for (;;) {
        const net::io_outcome outcome =
            outer != nullptr ? outer->read_some(buffer) : net::read_some(descriptor_, buffer);
        if (outcome.status == net::io_status::would_block) return;
        if (outcome.status != net::io_status::done) {
            fail(asked.ended(outcome.ec));
            return;
        }
        auto stands = asked.received({buffer.data(), outcome.count});
        if (!stands) {
            fail(std::move(stands).error());
            return;
        }
        if (*stands) break;
    }
    secure();
}

void connection::secure() noexcept {
    // A proxy that forwards is the one that TLS is spoken with.
    const bool to_proxy = origin_.forwards();
    const origin_name& name = to_proxy ? origin_.next_hop() : origin_.parts();
    auto created =
        net::tls_channel::create(*origin_.tls(), descriptor_, name.host, name.numeric,
                                 to_proxy ? origin_.proxy_sessions() : origin_.sessions(),
                                 link_ ? link_->tls.get() : nullptr);
    if (!created) {
        fail(no_channel(created.error()));
        return;
    }
    tls_ = *std::move(created);
    phase_ = phase::handshake;
    handshake(*tls_);
}

void connection::opened() noexcept {
    phase_ = phase::open;
    user_->on_opened();
}

void connection::handshake(net::tls_channel& channel) noexcept {
    switch (channel.handshake()) {
    case net::io_status::would_block: return;
    case net::io_status::done:
        if (phase_ == phase::proxy_handshake) {
            ask_for_tunnel();
            return;
        }
        filled_ = true; // the last flight may have brought more than the handshake
        opened();
        return;
    default: break;
    }
    const bool with_proxy = phase_ == phase::proxy_handshake || origin_.forwards();
    fail(channel.failure(with_proxy ? origin_.name() + ": proxy " + origin_.next_hop().text()
                                    : origin_.name()));
}

error connection::no_channel(const error& why) const {
    return error(why.code(), origin_.name() + ": " + why.message())
        .with_retryable(why.info().retryable.value_or(false));
}

void connection::on_ready(net::readiness what) noexcept {
    hung_up_ = hung_up_ || what.hung_up;
    switch (phase_) {
    case phase::proxy_handshake: handshake(*link_->tls); return;
    case phase::tunnelling: tunnel(); return;
    case phase::handshake: handshake(*tls_); return;
    case phase::closed:
    case phase::looking_up:
    case phase::connecting: return;
    case phase::open: break;
    }
    if (tls_) what.readable = true; // TLS may have to read in order to write
    if (user_ != nullptr) {
        user_->on_io(what);
        return;
    }
    if (what.readable) {
        filled_ = true; // something came: clean() has to look
        origin_.idle_event(*this);
    }
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
