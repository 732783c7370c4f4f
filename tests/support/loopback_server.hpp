// A server on 127.0.0.1 that is scripted by a test, connection by connection.
#pragma once

#include "loopback_certificates.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

struct ssl_ctx_st;
struct ssl_st;

namespace heddle::loopback {

/// One accepted connection, with blocking calls for a script. Every wait ends after five seconds or
/// when the server stops, so that a failing test does not hang.
class connection {
public:
    connection(int descriptor, ssl_st* tls) noexcept : descriptor_(descriptor), tls_(tls) {}
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    /// The next request, head and body (by Content-Length); empty at the end of the connection.
    [[nodiscard]] std::string read_request();
    /// Sends all of it. False when the peer is gone.
    bool send(std::string_view bytes);
    /// Sends it in pieces of `piece` bytes with a pause after each.
    bool trickle(std::string_view bytes, std::size_t piece, std::chrono::milliseconds pause);
    /// Ends our direction; TLS sends close_notify first.
    void half_close();
    /// The connection will end with a reset instead of an orderly end when the script returns.
    void reset();
    /// Ends the TCP connection without close_notify.
    void cut();
    /// Waits until the peer has closed, reading what it sends. True when it did.
    bool wait_closed();
    /// The same without reading anything.
    bool wait_hung_up();
    /// Carries bytes to 127.0.0.1:`port` and back until either side ends: the rest of a tunnel.
    void relay(std::uint16_t port);
    [[nodiscard]] bool session_reused() const;
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

private:
    friend class server;
    [[nodiscard]] long read_some(char* into, std::size_t size);

    int descriptor_;
    ssl_st* tls_;
    std::string unread_;
};

/// "HTTP/1.1 200 OK" with a body and its length.
[[nodiscard]] std::string ok_response(std::string_view body, std::string_view more_headers = {});

struct server_options {
    std::optional<certificate> tls;       ///< none: plain TCP
    int tls_version_max = 0;              ///< OpenSSL's number; 0: the newest
    bool first_without_tls = false;       ///< the first connection gets plain TCP
    std::optional<certificate> first_tls; ///< the first connection gets this one instead
    int backlog = 1024;
    std::string address = "127.0.0.1";
    std::uint16_t port = 0; ///< 0: any free one
};

/// Runs a script per connection, each on a thread of its own. `index` counts connections from 0.
/// Destruction cuts all connections and joins.
class server {
public:
    using script = std::function<void(connection&, int index)>;

    explicit server(script what, server_options options = {});
    ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// "http://127.0.0.1:port", or https and the given host.
    [[nodiscard]] std::string url(std::string_view host = "127.0.0.1") const;
    [[nodiscard]] int accepted() const noexcept { return accepted_.load(); }
    /// TLS handshakes that resumed a session.
    [[nodiscard]] int resumed() const noexcept { return resumed_.load(); }
    /// Connections whose script still runs.
    [[nodiscard]] int running() const noexcept { return running_.load(); }

private:
    void accept_loop();
    void serve(int descriptor, int index);

    script script_;
    server_options options_;
    ssl_ctx_st* context_ = nullptr;
    ssl_ctx_st* first_context_ = nullptr;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<bool> stopping_{false};
    std::atomic<int> accepted_{0};
    std::atomic<int> resumed_{0};
    std::atomic<int> running_{0};
    std::mutex mutex_; ///< guards the two lists
    std::vector<int> open_;
    std::vector<std::thread> threads_;
    std::thread acceptor_;
};

/// Accepts everything, reads everything, answers nothing, on one thread: for very many connections.
class silent_server {
public:
    silent_server();
    ~silent_server();
    silent_server(const silent_server&) = delete;
    silent_server& operator=(const silent_server&) = delete;

    [[nodiscard]] std::string url() const;
    [[nodiscard]] int accepted() const noexcept { return accepted_.load(); }
    [[nodiscard]] int open() const noexcept { return open_.load(); }
    /// Waits until `count` are open; false after five seconds.
    [[nodiscard]] bool wait_open(int count) const;

private:
    void run();

    int listener_ = -1;
    int wake_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<int> accepted_{0};
    std::atomic<int> open_{0};
    std::thread thread_;
};

} // namespace heddle::loopback
