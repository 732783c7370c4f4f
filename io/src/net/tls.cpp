#include "tls.hpp"

#include <heddle/ports/http_port.hpp>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <climits>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace heddle::net {

using ports::http_errc;

namespace {

std::string take_library_error() {
    // The first entry is the cause, later ones are places it passed through.
    const unsigned long code = ERR_get_error();
    ERR_clear_error();
    if (code == 0) return {};
    if (ERR_SYSTEM_ERROR(code)) return std::generic_category().message(ERR_GET_REASON(code));
    const char* reason = ERR_reason_error_string(code);
    return reason != nullptr ? reason : "error " + std::to_string(code);
}

/// What the certificate must be for, and SNI. False: OpenSSL does not take it, and would check
/// nothing.
bool set_expected_peer(SSL* ssl, const std::string& host, bool numeric) {
    X509_VERIFY_PARAM* checks = SSL_get0_param(ssl);
    if (numeric) return X509_VERIFY_PARAM_set1_ip_asc(checks, host.c_str()) == 1;
    // An empty name is taken and means: any.
    if (host.empty() || SSL_set_tlsext_host_name(ssl, host.c_str()) != 1) return false;
    X509_VERIFY_PARAM_set_hostflags(checks, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_host(checks, host.c_str(), host.size()) == 1;
}

int keep_session(SSL* ssl, SSL_SESSION* session) {
    auto* slot = static_cast<tls_session_slot*>(SSL_get_app_data(ssl));
    if (slot == nullptr) return 0;
    slot->replace(session);
    return 1; // the reference is ours
}

/// OpenSSL takes any text and finds nothing there later. Several are parted by colons.
bool are_directories(std::string_view list) {
    while (!list.empty()) {
        const std::string_view one = list.substr(0, list.find(':'));
        std::error_code ec;
        if (!std::filesystem::is_directory(std::filesystem::path(one), ec)) return false;
        list.remove_prefix(std::min(one.size() + 1, list.size()));
    }
    return true;
}

error no_memory() {
    return error(http_errc::tls_failed, "there is no memory for TLS").with_retryable(true);
}

error unusable(const std::string& what, const std::string& path) {
    const std::string why = take_library_error();
    return error(http_errc::tls_failed,
                 "cannot use the " + what + " " + path + (why.empty() ? "" : ": " + why))
        .with_retryable(false);
}

/// HTTP/1.1 is all that there is; a client that offers other protocols only gets it, too.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
    static constexpr unsigned char known[] = "\x08http/1.1";
    unsigned char* found = nullptr;
    if (SSL_select_next_proto(&found, size, known, sizeof known - 1, offered, offered_size) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

/// OpenSSL would ask the terminal for the password of a key.
int no_password(char*, int, int, void*) { return 0; }

error unreadable(const std::string& what, const std::string& path) {
    const std::string why = take_library_error();
    return error(http_errc::tls_failed,
                 "cannot read the " + what + " " + path + (why.empty() ? "" : ": " + why))
        .with_hint("name a file of PEM certificates that this user may read")
        .with_retryable(false);
}

} // namespace

/// OpenSSL's own socket BIO would raise SIGPIPE; this one writes as we do everywhere.
struct tls_bio {
    static tls_channel* channel(BIO* bio) { return static_cast<tls_channel*>(BIO_get_data(bio)); }

    static int write(BIO* bio, const char* data, int size) {
        BIO_clear_retry_flags(bio);
        tls_channel* const self = channel(bio);
        const std::string_view bytes(data, static_cast<std::size_t>(size));
        const io_outcome outcome =
            self->below_ != nullptr ? self->below_->write_some(bytes)
                                    : net::write_some(self->descriptor_, bytes, more_follows::no);
        if (outcome.status == io_status::done) return static_cast<int>(outcome.count);
        if (outcome.status == io_status::would_block) BIO_set_retry_write(bio);
        else self->socket_error_ = outcome.ec;
        return -1;
    }
    static int read(BIO* bio, char* data, int size) {
        BIO_clear_retry_flags(bio);
        tls_channel* const self = channel(bio);
        const std::span<char> room(data, static_cast<std::size_t>(size));
        const io_outcome outcome = self->below_ != nullptr
                                       ? self->below_->read_some(room)
                                       : net::read_some(self->descriptor_, room);
        if (outcome.status == io_status::done) return static_cast<int>(outcome.count);
        if (outcome.status == io_status::end || outcome.status == io_status::truncated) {
            self->saw_end_ = true;
            return 0;
        }
        if (outcome.status == io_status::would_block) BIO_set_retry_read(bio);
        else self->socket_error_ = outcome.ec;
        return -1;
    }
    static long control(BIO*, int command, long, void*) {
        return command == BIO_CTRL_FLUSH ? 1 : 0;
    }
    static int create(BIO* bio) {
        BIO_set_init(bio, 1);
        return 1;
    }
    static BIO_METHOD* method() {
        static BIO_METHOD* const method = [] {
            BIO_METHOD* fresh =
                BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "heddle socket");
            BIO_meth_set_write(fresh, &tls_bio::write);
            BIO_meth_set_read(fresh, &tls_bio::read);
            BIO_meth_set_ctrl(fresh, &tls_bio::control);
            BIO_meth_set_create(fresh, &tls_bio::create);
            return fresh;
        }();
        return method;
    }
};

void tls_session_slot::replace(ssl_session_st* session) noexcept {
    if (session_ != nullptr) SSL_SESSION_free(session_);
    session_ = session;
}

result<std::shared_ptr<tls_context>> tls_context::create(const tls_settings& settings) {
    ERR_clear_error();
    SSL_CTX* native = SSL_CTX_new(TLS_client_method());
    if (native == nullptr) {
        return error(http_errc::tls_failed, "TLS cannot be set up: " + take_library_error())
            .with_retryable(false);
    }
    std::shared_ptr<tls_context> context(new tls_context(native));
    constexpr unsigned char protocols[] = "\x08http/1.1";
    if (SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_alpn_protos(native, protocols, sizeof protocols - 1) != 0) {
        return error(http_errc::tls_failed, "TLS cannot be set up: " + take_library_error())
            .with_retryable(false);
    }
    SSL_CTX_set_options(native, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_mode(native, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                 SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(native, 1); // header and body of a record in one system call
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(native, &keep_session);
    SSL_CTX_set_verify(native, settings.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    if (settings.verify) {
        if (!settings.ca_file.empty() &&
            SSL_CTX_load_verify_file(native, settings.ca_file.c_str()) != 1) {
            return unreadable("certificate file", settings.ca_file);
        }
        if (!settings.ca_directory.empty() &&
            (!are_directories(settings.ca_directory) ||
             SSL_CTX_load_verify_dir(native, settings.ca_directory.c_str()) != 1)) {
            return unreadable("certificate directory", settings.ca_directory);
        }
        if (settings.ca_file.empty() && SSL_CTX_set_default_verify_paths(native) != 1) {
            return unreadable("certificates of the system", "");
        }
    }
    ERR_clear_error();
    return context;
}

result<std::shared_ptr<tls_context>> tls_context::create_server(const std::string& certificate_file,
                                                                const std::string& key_file) {
    ERR_clear_error();
    SSL_CTX* native = SSL_CTX_new(TLS_server_method());
    if (native == nullptr) return no_memory();
    std::shared_ptr<tls_context> context(new tls_context(native));
    if (SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION) != 1) return no_memory();
    SSL_CTX_set_options(
        native, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(native, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                 SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(native, 1);
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF); // clients keep tickets
    SSL_CTX_set_alpn_select_cb(native, &choose_protocol, nullptr);
    SSL_CTX_set_default_passwd_cb(native, &no_password);
    if (SSL_CTX_use_certificate_chain_file(native, certificate_file.c_str()) != 1)
        return unusable("certificate file", certificate_file);
    if (SSL_CTX_use_PrivateKey_file(native, key_file.c_str(), SSL_FILETYPE_PEM) != 1)
        return unusable("key file", key_file).with_hint("name a PEM file without a password");
    if (SSL_CTX_check_private_key(native) != 1) return unusable("key file", key_file);
    ERR_clear_error();
    return context;
}

tls_context::~tls_context() { SSL_CTX_free(context_); }

result<std::unique_ptr<tls_channel>> tls_channel::create(const tls_context& context, int descriptor,
                                                         const std::string& host, bool numeric,
                                                         tls_session_slot& sessions,
                                                         tls_channel* below) {
    ERR_clear_error();
    SSL* ssl = SSL_new(context.native());
    if (ssl == nullptr) return no_memory();
    std::unique_ptr<tls_channel> channel(new tls_channel(ssl, descriptor, below));
    if (!channel->attach()) return no_memory();
    SSL_set_app_data(ssl, &sessions);
    // A session that is not taken costs a whole handshake, and no check.
    if (sessions.get() != nullptr) (void)SSL_set_session(ssl, sessions.get());
    if (!set_expected_peer(ssl, host, numeric)) {
        return error(http_errc::tls_failed, "no certificate can be checked against the " +
                                                std::string(numeric ? "address " : "name ") + host)
            .with_retryable(false);
    }
    SSL_set_connect_state(ssl);
    return channel;
}

result<std::unique_ptr<tls_channel>> tls_channel::accept(const tls_context& context,
                                                         int descriptor) {
    ERR_clear_error();
    SSL* ssl = SSL_new(context.native());
    if (ssl == nullptr) return no_memory();
    std::unique_ptr<tls_channel> channel(new tls_channel(ssl, descriptor, nullptr));
    if (!channel->attach()) return no_memory();
    SSL_set_accept_state(ssl);
    return channel;
}

tls_channel::~tls_channel() { SSL_free(ssl_); }

bool tls_channel::attach() {
    BIO* bio = BIO_new(tls_bio::method());
    if (bio == nullptr) return false;
    BIO_set_data(bio, this);
    SSL_set_bio(ssl_, bio, bio);
    return true;
}

bool tls_channel::wants_write() const noexcept { return SSL_want_write(ssl_); }

io_outcome tls_channel::outcome_of(int returned) noexcept {
    switch (SSL_get_error(ssl_, returned)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: return {io_status::would_block, 0, {}};
    case SSL_ERROR_ZERO_RETURN: return {io_status::end, 0, {}};
    default: break;
    }
    ERR_clear_error();
    if (socket_error_) return {io_status::failed, 0, socket_error_};
    if (saw_end_) return {io_status::truncated, 0, {}};
    return {io_status::failed, 0, make_error_code(http_errc::tls_failed)};
}

io_status tls_channel::handshake() noexcept {
    ERR_clear_error();
    const int returned = SSL_do_handshake(ssl_);
    if (returned == 1) return io_status::done;
    const int why = SSL_get_error(ssl_, returned);
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return io_status::would_block;
    library_error_ = take_library_error();
    return io_status::failed;
}

io_outcome tls_channel::read_some(std::span<char> into) noexcept {
    ERR_clear_error();
    const int count =
        SSL_read(ssl_, into.data(), static_cast<int>(std::min<std::size_t>(into.size(), INT_MAX)));
    if (count > 0) return {io_status::done, static_cast<std::size_t>(count), {}};
    return outcome_of(count);
}

io_outcome tls_channel::write_some(std::string_view from) noexcept {
    ERR_clear_error();
    const int count =
        SSL_write(ssl_, from.data(), static_cast<int>(std::min<std::size_t>(from.size(), INT_MAX)));
    if (count > 0) return {io_status::done, static_cast<std::size_t>(count), {}};
    return outcome_of(count);
}

bool tls_channel::has_pending() const noexcept { return SSL_has_pending(ssl_) == 1; }

void tls_channel::close_notify() noexcept {
    if (SSL_is_init_finished(ssl_) != 1 || socket_error_ || saw_end_) return;
    ERR_clear_error();
    (void)SSL_shutdown(ssl_);
    ERR_clear_error();
}

void tls_channel::abandon() noexcept {
    // OpenSSL takes a session for bad whose connection ended without goodbye.
    if (SSL_is_init_finished(ssl_) == 1)
        SSL_set_shutdown(ssl_, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

error tls_channel::failure(const std::string& origin) const {
    if (socket_error_) {
        return error(http_errc::connection_reset,
                     origin + ": the connection broke during the TLS handshake (" +
                         socket_error_.message() + ")")
            .with_retryable(true);
    }
    const long verdict = SSL_get_verify_result(ssl_);
    if (verdict != X509_V_OK) {
        std::string hint;
        switch (verdict) {
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH:
            hint = "use the name that the server's certificate was made for";
            break;
        case X509_V_ERR_CERT_HAS_EXPIRED:
        case X509_V_ERR_CERT_NOT_YET_VALID:
            hint = "the server needs a new certificate, or this machine's clock is wrong";
            break;
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            hint = "if this authority is to be trusted, give its certificate as the CA file";
            break;
        default: break;
        }
        return error(http_errc::tls_failed, origin +
                                                ": the server's certificate is not accepted: " +
                                                X509_verify_cert_error_string(verdict))
            .with_hint(std::move(hint))
            .with_retryable(false);
    }
    if (saw_end_) {
        return error(http_errc::connection_closed,
                     origin + ": the server hung up during the TLS handshake")
            .with_retryable(true);
    }
    return error(http_errc::tls_failed, origin + ": the TLS handshake failed" +
                                            (library_error_.empty() ? "" : ": " + library_error_))
        .with_hint("check that this port speaks TLS 1.2 or later; for plain HTTP write http://")
        .with_retryable(false);
}

} // namespace heddle::net
