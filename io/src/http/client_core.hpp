// What all exchanges of one client share.
#pragma once

#include "net/readiness_set.hpp"
#include "net/tls.hpp"
#include "origin_state.hpp"

#include <heddle/http/client.hpp>
#include <heddle/http/response_parser.hpp>

#include <boost/intrusive/list.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace heddle::http {

/// An exchange under way, as the client sees it.
class running_exchange : public boost::intrusive::list_base_hook<
                             boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    /// Ends with `reason`; its connection is closed when this returns.
    virtual void stop(cancel_reason reason) noexcept = 0;

protected:
    ~running_exchange() = default;
};

/// Held by the client object and by every exchange under way.
/// `scratch` and `rendered` are used within one call and never across two turns of the loop: that
/// is why a call that waits owns no buffer.
class client_core {
public:
    client_core(coro::event_loop& loop, http_client_options options);
    ~client_core();

    [[nodiscard]] result<std::shared_ptr<origin_state>> origin(std::string_view url);
    /// Synchronous part of closing: every socket is closed when it returns.
    void shut_down() noexcept;
    [[nodiscard]] bool closed() const noexcept { return closed_; }
    [[nodiscard]] ports::http_counters counters() const noexcept;

    [[nodiscard]] coro::event_loop& loop() noexcept { return loop_; }
    [[nodiscard]] net::readiness_set& sockets() noexcept { return sockets_; }
    [[nodiscard]] const http_client_options& options() const noexcept { return options_; }
    [[nodiscard]] std::span<char> scratch() noexcept { return {scratch_.get(), scratch_size}; }
    void log(log_level level, std::string_view origin, std::string_view what) const;

    static constexpr std::size_t scratch_size = 64 * 1024;

    // Open to exchange_operation and origin_state, which are the rest of the same machine.
    parser_cache parsers;
    std::string rendered; ///< the request that is being written
    ports::http_counters counted;
    boost::intrusive::list<running_exchange, boost::intrusive::constant_time_size<false>> running;

private:
    coro::event_loop& loop_;
    http_client_options options_;
    net::readiness_set sockets_;
    std::unique_ptr<char[]> scratch_;
    std::shared_ptr<net::tls_context> tls_;
    std::optional<proxy_rules> proxies_;
    std::unordered_map<std::string, std::shared_ptr<origin_state>> origins_;
    bool closed_ = false;
};

} // namespace heddle::http
