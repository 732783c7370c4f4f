#include "loopback_server.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "hang_guard.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <unordered_set>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace heddle::loopback {

namespace {

constexpr int max_wait_seconds = hang_guard::limit.count();

/// `port` becomes the one that was asked for or, if that was 0, a free one.
int listen_on(const std::string& address, int backlog, std::uint16_t& port) {
    const bool six = address.find(':') != std::string::npos;
    const int listener = ::socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in6 at{}; // big enough for both; the port is at the same place
    at.sin6_family = six ? AF_INET6 : AF_INET;
    at.sin6_port = htons(port);
    void* const bytes =
        six ? static_cast<void*>(&at.sin6_addr) : &reinterpret_cast<sockaddr_in&>(at).sin_addr;
    ::inet_pton(at.sin6_family, address.c_str(), bytes);
    socklen_t size = six ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    if (::bind(listener, reinterpret_cast<sockaddr*>(&at), size) != 0 ||
        ::listen(listener, backlog) != 0 ||
        ::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
        throw std::runtime_error(std::string("loopback server: ") + std::strerror(errno));
    }
    port = ntohs(at.sin6_port);
    return listener;
}

SSL_CTX* make_context(const server_options& options, const certificate& shown) {
    SSL_CTX* context = SSL_CTX_new(TLS_server_method());
    if (options.tls_version_max != 0) {
        SSL_CTX_set_max_proto_version(context, options.tls_version_max);
        if (options.tls_version_max <
            TLS1_2_VERSION) { // the library does not do it any more unasked
            SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
            SSL_CTX_set_security_level(context, 0);
        }
    }
    const auto load = [](const std::string& pem) {
        return BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
    };
    BIO* key_text = load(shown.key_pem);
    BIO* certificate_text = load(shown.certificate_pem);
    EVP_PKEY* key = PEM_read_bio_PrivateKey(key_text, nullptr, nullptr, nullptr);
    X509* own = PEM_read_bio_X509(certificate_text, nullptr, nullptr, nullptr);
    SSL_CTX_use_certificate(context, own);
    SSL_CTX_use_PrivateKey(context, key);
    EVP_PKEY_free(key);
    X509_free(own);
    BIO_free(key_text);
    BIO_free(certificate_text);
    SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>("heddle"), 6);
    SSL_CTX_set_alpn_select_cb(
        context,
        [](SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in,
           unsigned int in_size, void*) {
            static constexpr unsigned char wanted[] = "\x08http/1.1";
            return SSL_select_next_proto(const_cast<unsigned char**>(out), size, wanted,
                                         sizeof wanted - 1, in, in_size) == OPENSSL_NPN_NEGOTIATED
                       ? SSL_TLSEXT_ERR_OK
                       : SSL_TLSEXT_ERR_NOACK;
        },
        nullptr);
    return context;
}

} // namespace

connection::~connection() {
    if (tls_ != nullptr) SSL_free(tls_);
    if (descriptor_ >= 0) ::close(descriptor_);
}

long connection::read_some(char* into, std::size_t size) {
    if (tls_ != nullptr) {
        const int count = SSL_read(tls_, into, static_cast<int>(size));
        if (count <= 0) ERR_clear_error();
        return count;
    }
    return ::recv(descriptor_, into, size, 0);
}

std::string connection::read_request() {
    std::size_t need = std::string::npos;
    for (;;) {
        const std::size_t head = unread_.find("\r\n\r\n");
        if (head != std::string::npos && need == std::string::npos) {
            need = head + 4;
            const std::size_t at = unread_.find("Content-Length: ");
            if (at < head) need += static_cast<std::size_t>(std::atol(unread_.c_str() + at + 16));
        }
        if (need <= unread_.size()) break;
        char buffer[16384];
        const long count = read_some(buffer, sizeof buffer);
        if (count <= 0) return {};
        unread_.append(buffer, static_cast<std::size_t>(count));
    }
    std::string request = unread_.substr(0, need);
    unread_.erase(0, need);
    return request;
}

bool connection::send(std::string_view bytes) {
    while (!bytes.empty()) {
        long count = 0;
        if (tls_ != nullptr) count = SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size()));
        else count = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) {
            ERR_clear_error();
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

bool connection::trickle(std::string_view bytes, std::size_t piece,
                         std::chrono::milliseconds pause) {
    while (!bytes.empty()) {
        const std::size_t now = std::min(piece, bytes.size());
        if (!send(bytes.substr(0, now))) return false;
        bytes.remove_prefix(now);
        std::this_thread::sleep_for(pause);
    }
    return true;
}

void connection::half_close() {
    if (tls_ != nullptr) SSL_shutdown(tls_);
    ERR_clear_error();
    ::shutdown(descriptor_, SHUT_WR);
}

void connection::reset() {
    const linger abrupt{1, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &abrupt, sizeof abrupt);
}

void connection::cut() {
    // Only marked here: the server closes it once nobody can shut the number down any more.
    ::shutdown(descriptor_, SHUT_RDWR);
}

bool connection::wait_closed() {
    char buffer[16384];
    for (;;) {
        const ssize_t count = ::recv(descriptor_, buffer, sizeof buffer, 0);
        if (count == 0) return true;
        if (count < 0) return errno == ECONNRESET;
    }
}

bool connection::wait_hung_up() {
    pollfd one{descriptor_, POLLRDHUP, 0};
    return ::poll(&one, 1, max_wait_seconds * 1000) == 1;
}

void connection::relay(std::uint16_t port) {
    const int far = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    const bool connected = ::connect(far, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    for (bool open = connected; open;) {
        pollfd both[2] = {{descriptor_, POLLIN, 0}, {far, POLLIN, 0}};
        const bool buffered = tls_ != nullptr && SSL_pending(tls_) > 0;
        if (!buffered && ::poll(both, 2, max_wait_seconds * 1000) <= 0) break;
        char buffer[16384];
        if (buffered || both[0].revents != 0) {
            const long count = read_some(buffer, sizeof buffer);
            open = count > 0 &&
                   ::send(far, buffer, static_cast<std::size_t>(count), MSG_NOSIGNAL) == count;
        }
        if (open && both[1].revents != 0) {
            const ssize_t count = ::recv(far, buffer, sizeof buffer, 0);
            open = count > 0 && send({buffer, static_cast<std::size_t>(count)});
        }
    }
    ::close(far);
}

bool connection::session_reused() const { return tls_ != nullptr && SSL_session_reused(tls_) == 1; }

std::string ok_response(std::string_view body, std::string_view more_headers) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
           std::string(more_headers) + "\r\n" + std::string(body);
}

server::server(script what, server_options options)
    : script_(std::move(what)), options_(std::move(options)) {
    if (options_.tls) context_ = make_context(options_, *options_.tls);
    if (options_.first_tls) first_context_ = make_context(options_, *options_.first_tls);
    port_ = options_.port;
    listener_ = listen_on(options_.address, options_.backlog, port_);
    acceptor_ = std::thread([this] { accept_loop(); });
}

server::~server() {
    stopping_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    {
        const std::lock_guard lock(mutex_);
        for (const int descriptor : open_) ::shutdown(descriptor, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    SSL_CTX_free(context_);
    SSL_CTX_free(first_context_);
}

std::string server::url(std::string_view host) const {
    return (options_.tls ? "https://" : "http://") + std::string(host) + ":" +
           std::to_string(port_);
}

void server::accept_loop() {
    while (!stopping_) {
        const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (descriptor < 0) continue;
        const timeval wait{max_wait_seconds, 0};
        const int on = 1;
        ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
        ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
        ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        const int index = accepted_++;
        ++running_;
        const std::lock_guard lock(mutex_);
        open_.push_back(descriptor);
        threads_.emplace_back([this, descriptor, index] { serve(descriptor, index); });
    }
}

void server::serve(int descriptor, int index) {
    // OpenSSL's sockets raise SIGPIPE. Blocked here only: what the client does must still show.
    sigset_t pipe_signal;
    ::sigemptyset(&pipe_signal);
    ::sigaddset(&pipe_signal, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
    SSL* tls = nullptr;
    bool fine = true;
    ssl_ctx_st* const context = index == 0 && first_context_ != nullptr ? first_context_ : context_;
    if (context != nullptr && !(index == 0 && options_.first_without_tls)) {
        tls = SSL_new(context);
        SSL_set_fd(tls, descriptor);
        fine = SSL_accept(tls) == 1;
        ERR_clear_error();
        if (fine && SSL_session_reused(tls) == 1) ++resumed_;
    }
    {
        connection result(descriptor, tls);
        if (fine) script_(result, index);
        // Off the list before it is closed: the number may be used again at once.
        const std::lock_guard lock(mutex_);
        open_.erase(std::find(open_.begin(), open_.end(), descriptor));
    }
    --running_;
}

silent_server::silent_server() {
    listener_ = listen_on("127.0.0.1", 4096, port_);
    wake_ = ::eventfd(0, EFD_CLOEXEC);
    thread_ = std::thread([this] { run(); });
}

silent_server::~silent_server() {
    const std::uint64_t one = 1;
    (void)!::write(wake_, &one, sizeof one);
    thread_.join();
    ::close(wake_);
    ::close(listener_);
}

std::string silent_server::url() const { return "http://127.0.0.1:" + std::to_string(port_); }

bool silent_server::wait_open(int count) const {
    return hang_guard::comes_true([&] { return open_ == count; });
}

void silent_server::run() {
    const int set = ::epoll_create1(EPOLL_CLOEXEC);
    const auto watch = [set](int descriptor) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = descriptor;
        ::epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event);
    };
    watch(listener_);
    watch(wake_);
    std::unordered_set<int> held;
    for (bool stop = false; !stop;) {
        epoll_event events[256];
        const int count = ::epoll_wait(set, events, 256, -1);
        for (int i = 0; i < count; ++i) {
            const int descriptor = events[i].data.fd;
            if (descriptor == wake_) {
                stop = true;
            } else if (descriptor == listener_) {
                const int fresh =
                    ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
                if (fresh < 0) continue;
                held.insert(fresh);
                watch(fresh);
                ++accepted_;
                ++open_;
            } else {
                char buffer[4096];
                const ssize_t size = ::recv(descriptor, buffer, sizeof buffer, 0);
                if (size > 0 || (size < 0 && errno == EAGAIN)) continue;
                ::close(descriptor);
                held.erase(descriptor);
                --open_;
            }
        }
    }
    for (const int descriptor : held) ::close(descriptor);
    ::close(set);
}

} // namespace heddle::loopback
