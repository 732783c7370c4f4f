// TLS over a non-blocking socket.
#pragma once

#include "socket_io.hpp"

#include <heddle/base/error.hpp>

#include <memory>
#include <string>

struct ssl_ctx_st;
struct ssl_st;
struct ssl_session_st;

namespace heddle::net {

struct tls_settings {
    std::string ca_file;
    std::string ca_directory;
    bool verify = true;
};

/// The last session of an origin, offered to its next connection. Outlives its channels.
class tls_session_slot {
public:
    tls_session_slot() = default;
    tls_session_slot(const tls_session_slot&) = delete;
    tls_session_slot& operator=(const tls_session_slot&) = delete;
    ~tls_session_slot() { replace(nullptr); }

    [[nodiscard]] ssl_session_st* get() const noexcept { return session_; }
    void replace(ssl_session_st* session) noexcept; ///< takes the reference over

private:
    ssl_session_st* session_ = nullptr;
};

/// What all connections of a client or of a server share: certificates, versions, ALPN.
class tls_context {
public:
    /// Errors: tls_failed naming the certificate file or directory that cannot be read.
    [[nodiscard]] static result<std::shared_ptr<tls_context>> create(const tls_settings& settings);
    /// For a server: certificate with its chain, and key, both PEM. TLS 1.2 or later.
    /// Errors: tls_failed naming the file that cannot be read or does not fit the other.
    [[nodiscard]] static result<std::shared_ptr<tls_context>> create_server(
        const std::string& certificate_file, const std::string& key_file);
    ~tls_context();
    tls_context(const tls_context&) = delete;
    tls_context& operator=(const tls_context&) = delete;

    [[nodiscard]] ssl_ctx_st* native() const noexcept { return context_; }

private:
    explicit tls_context(ssl_ctx_st* context) noexcept : context_(context) {}
    ssl_ctx_st* context_;
};

/// One TLS connection; does not own the socket. Owns two buffers only while bytes are in
/// them.
class tls_channel {
public:
    /// `host` is checked against the certificate (as a name, or as an address when `numeric`), and
    /// sent as SNI when it is a name. With `below` its bytes go through that channel (TLS to a
    /// proxy, and TLS to the server inside of it), which outlives this one.
    /// Errors: tls_failed when the name cannot be checked (no address, no name of a host) or memory
    /// ran out: there is never a channel that checks less than was asked for.
    [[nodiscard]] static result<std::unique_ptr<tls_channel>> create(
        const tls_context& context, int descriptor, const std::string& host, bool numeric,
        tls_session_slot& sessions, tls_channel* below = nullptr);
    /// The side of a server. Errors: tls_failed when memory ran out.
    [[nodiscard]] static result<std::unique_ptr<tls_channel>> accept(const tls_context& context,
                                                                     int descriptor);
    ~tls_channel();
    tls_channel(const tls_channel&) = delete;
    tls_channel& operator=(const tls_channel&) = delete;

    /// Goes on with the handshake: done, would_block, or failed; then see failure().
    [[nodiscard]] io_status handshake() noexcept;
    [[nodiscard]] io_outcome read_some(std::span<char> into) noexcept;
    [[nodiscard]] io_outcome write_some(std::string_view from) noexcept;
    /// After would_block: the socket must take bytes first, whatever was asked for.
    [[nodiscard]] bool wants_write() const noexcept;
    /// Bytes were received that no read has given out yet.
    [[nodiscard]] bool has_pending() const noexcept;
    /// Sends close_notify if that is possible without waiting.
    void close_notify() noexcept;
    /// Ends without close_notify, for an exchange that is broken off: its absence shows the peer
    /// so, and saves a record for each of ten thousand cancelled calls. The session stays good.
    void abandon() noexcept;

    /// Why the handshake failed: tls_failed with cause and cure, or connection_reset / _closed.
    [[nodiscard]] error failure(const std::string& origin) const;

private:
    tls_channel(ssl_st* ssl, int descriptor, tls_channel* below) noexcept
        : ssl_(ssl), below_(below), descriptor_(descriptor) {}
    io_outcome outcome_of(int returned) noexcept;
    [[nodiscard]] bool attach(); ///< puts the socket below OpenSSL

    friend struct tls_bio;
    ssl_st* ssl_;
    tls_channel* below_; ///< null: the socket
    int descriptor_;
    boost::system::error_code socket_error_;
    bool saw_end_ = false;
    std::string library_error_; ///< of the failed handshake
};

} // namespace heddle::net
