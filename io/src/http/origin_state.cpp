#include "origin_state.hpp"

#include "client_core.hpp"
#include "exchange_operation.hpp"

#include <heddle/base/url.hpp>

namespace heddle::http {

namespace {

std::vector<std::string> fixed_addresses(const http_client_options& options,
                                         const origin_name& name) {
    if (name.numeric) return {name.connect_host()};
    for (const fixed_host& host : options.fixed_hosts) {
        if (host.name == name.host) return host.addresses;
    }
    // Whatever the system's resolver would say: a call meant for this machine never leaves it.
    if (is_localhost(name.host)) return {"127.0.0.1", "::1"};
    return {};
}

} // namespace

origin_state::origin_state(client_core& core, origin_name name,
                           std::shared_ptr<const proxy_server> proxy,
                           std::shared_ptr<net::tls_context> tls)
    : core_(&core), name_(std::move(name)), text_(name_.text()), host_header_(name_.host_header()),
      proxy_(std::move(proxy)), tls_(std::move(tls)),
      addresses_(std::make_unique<net::address_book>(core.loop(), next_hop().host, next_hop().port,
                                                     core.options().address_age,
                                                     fixed_addresses(core.options(), next_hop()))),
      pool_({core.options().max_connections, core.options().max_idle, core.options().idle_age}) {}

origin_state::~origin_state() = default;

connection& origin_state::make_connection() { return *new connection(*this); }

void origin_state::destroy(connection& old) noexcept {
    pool_.gone(old);
    delete &old;
}

void origin_state::give_back(connection& used, bool usable) noexcept {
    used.detach();
    // Asked before it is offered: a connection with stray bytes would answer the wrong question.
    usable = usable && used.clean();
    const auto now = core_->sockets().now();
    if (!pool_.released(used, usable, now)) destroy(used);
    else if (!scheduled()) core_->loop().schedule(*this, pool_.next_expiry());
    serve();
}

void origin_state::serve() noexcept {
    // A granted exchange may fail at once and come back here: one loop serves them all.
    if (serving_) return;
    serving_ = true;
    for (auto grant = pool_.next_grant(); grant; grant = pool_.next_grant()) {
        static_cast<exchange_operation*>(grant->waiter)->granted(*grant);
    }
    serving_ = false;
}

void origin_state::idle_event(connection& idle) noexcept {
    if (idle.clean()) return; // a session ticket, or news that were already read
    core_->log(log_level::debug, text_, "an idle connection was closed by the server");
    destroy(idle);
    serve();
}

void origin_state::on_timer() noexcept {
    if (core_ == nullptr) return;
    const auto now = core_->loop().now();
    while (pool_item* old = pool_.expired(now)) destroy(static_cast<connection&>(*old));
    if (pool_.idle() != 0) core_->loop().schedule(*this, pool_.next_expiry());
    serve();
}

void origin_state::shut_down() noexcept {
    pool_.close();
    unschedule();
    if (addresses_) addresses_->stop();
    while (pool_item* idle = pool_.any_idle()) destroy(static_cast<connection&>(*idle));
}

void origin_state::orphan() noexcept {
    core_ = nullptr;
    addresses_.reset();
}

} // namespace heddle::http
