#include "name_lookup.hpp"

#include <heddle/coro/thread_without_signals.hpp>
#include <heddle/ports/http_port.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <boost/asio/post.hpp>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace heddle::net {

namespace {

namespace ip = boost::asio::ip;

error no_address(const std::string& host, const std::string& why) {
    return error(ports::http_errc::resolve_failed,
                 "no address for the host " + host + (why.empty() ? "" : " (" + why + ")"))
        .with_hint("check the spelling of the host name and that this machine can look names up")
        .with_retryable(true);
}

std::optional<ip::address> address_in(const sockaddr& from) {
    if (from.sa_family == AF_INET) {
        sockaddr_in four{};
        std::memcpy(&four, &from, sizeof four);
        return ip::address_v4(ntohl(four.sin_addr.s_addr));
    }
    if (from.sa_family == AF_INET6) {
        sockaddr_in6 six{};
        std::memcpy(&six, &from, sizeof six);
        ip::address_v6::bytes_type bytes{};
        std::memcpy(bytes.data(), &six.sin6_addr, bytes.size());
        return ip::address_v6(bytes, six.sin6_scope_id);
    }
    return std::nullopt;
}

} // namespace

found_addresses ask_system(const std::string& host) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    const int failed = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
    if (failed != 0) {
        return no_address(host, failed == EAI_SYSTEM ? std::generic_category().message(errno)
                                                     : ::gai_strerror(failed));
    }
    std::vector<ip::address> addresss;
    for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
        if (each->ai_addr == nullptr) continue;
        if (const auto address = address_in(*each->ai_addr)) addresss.push_back(*address);
    }
    ::freeaddrinfo(list);
    if (addresss.empty()) return no_address(host, "");
    return addresss;
}

/// Shared with the thread, which may outlive everything else: what belongs to the loop is touched
/// under the mutex, and only until abandon().
struct name_lookup::shared {
    explicit shared(coro::event_loop& loop) : executor(loop.get_executor()), work(executor) {}

    std::mutex mutex;
    bool wanted = true;
    coro::executor executor;
    std::optional<boost::asio::executor_work_guard<coro::executor>> work;
    std::function<void(found_addresses)> done;

    static void deliver(const std::shared_ptr<shared>& self, found_addresses found) {
        const std::scoped_lock lock(self->mutex);
        if (!self->wanted) return;
        boost::asio::post(self->executor, [self, found = std::move(found)]() mutable {
            if (!self->wanted) return; // on the loop's thread, like abandon()
            const auto done = std::exchange(self->done, nullptr);
            self->wanted = false;
            self->work.reset();
            done(std::move(found));
        });
    }
};

std::unique_ptr<name_lookup> name_lookup::start(coro::event_loop& loop, std::string host,
                                                const name_resolver& ask,
                                                std::function<void(found_addresses)> done) {
    auto state = std::make_shared<shared>(loop);
    state->done = std::move(done);
    try {
        coro::thread_without_signals([state, host, ask] {
            shared::deliver(state, ask(host));
        }).detach();
    } catch (const std::system_error& failure) {
        shared::deliver(state, no_address(host, failure.code().message()));
    }
    return std::unique_ptr<name_lookup>(new name_lookup(std::move(state)));
}

void name_lookup::abandon() noexcept {
    const std::scoped_lock lock(state_->mutex);
    state_->wanted = false;
    state_->done = nullptr;
    state_->work.reset();
}

} // namespace heddle::net
