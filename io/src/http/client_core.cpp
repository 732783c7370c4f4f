#include "client_core.hpp"

#include "request_text.hpp"

namespace heddle::http {

client_core::client_core(coro::event_loop& loop, http_client_options options)
    : loop_(loop), options_(std::move(options)), sockets_(loop),
      scratch_(std::make_unique_for_overwrite<char[]>(scratch_size)) {}

client_core::~client_core() {
    shut_down();
    for (auto& [name, origin] : origins_) origin->orphan();
}

result<std::shared_ptr<origin_state>> client_core::origin(std::string_view url) {
    HEDDLE_TRY(origin_name name, parse_origin(url));
    std::string key = name.text();
    if (const auto known = origins_.find(key); known != origins_.end()) return known->second;
    if (!is_header_value(options_.user_agent)) {
        return error(errc::invalid_argument, "the user agent holds a control character")
            .with_retryable(false);
    }
    if (!proxies_) {
        proxies_ = proxy_rules::create({options_.http_proxy.reveal(), options_.https_proxy.reveal(),
                                        options_.no_proxy, options_.proxy_loopback});
    }
    HEDDLE_TRY(std::shared_ptr<const proxy_server> proxy, proxies_->proxy_for(name));
    const bool uses_tls = name.tls || (proxy && proxy->server.tls);
    if (uses_tls && !tls_) {
        // Made when first needed: reading the system's certificates takes tens of milliseconds.
        const net::tls_settings settings{options_.ca_file, options_.ca_directory,
                                         options_.check == peer_check::verify};
        HEDDLE_TRY(tls_, net::tls_context::create(settings));
    }
    std::shared_ptr<net::tls_context> tls = uses_tls ? tls_ : nullptr;
    auto object =
        std::make_shared<origin_state>(*this, std::move(name), std::move(proxy), std::move(tls));
    if (closed_) object->shut_down();
    origins_.emplace(std::move(key), object);
    return object;
}

void client_core::shut_down() noexcept {
    closed_ = true;
    for (auto& [name, origin] : origins_) origin->shut_down();
    while (!running.empty()) running.front().stop(cancel_reason::shutdown);
}

ports::http_counters client_core::counters() const noexcept {
    ports::http_counters out = counted;
    out.open_connections = sockets_.size();
    for (const auto& [name, origin] : origins_) out.idle_connections += origin->pool().idle();
    return out;
}

void client_core::log(log_level level, std::string_view origin, std::string_view what) const {
    if (options_.log == nullptr || !options_.log->enabled(level)) return;
    std::string line(origin);
    line += ": ";
    line += what;
    options_.log->write(level, "http", line);
}

} // namespace heddle::http
