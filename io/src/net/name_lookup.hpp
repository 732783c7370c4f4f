// Finding the addresses of a name without waiting for it.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/event_loop.hpp>

#include <boost/asio/ip/address.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace heddle::net {

using found_addresses = result<std::vector<boost::asio::ip::address>>;
/// Blocks for as long as it likes. Called on any thread, several at once.
using name_resolver = std::function<found_addresses(const std::string& host)>;

/// As the system looks names up: /etc/hosts, DNS and whatever nsswitch.conf names, in the order of
/// RFC 6724. Errors: resolve_failed.
[[nodiscard]] found_addresses ask_system(const std::string& host);

/// One lookup on a thread of its own. getaddrinfo() can be neither cancelled nor given a time
/// limit, so the thread belongs to nobody: who has lost interest leaves it to itself, and the
/// program may end while it still waits. A name that hangs holds up no other.
/// Threads: start() and abandon() on the loop's.
class name_lookup {
public:
    /// `done` is called on the loop, never from here, and not after abandon(). Keeps the loop
    /// running until then. Never fails: a thread that cannot be started is an error for `done`.
    [[nodiscard]] static std::unique_ptr<name_lookup> start(
        coro::event_loop& loop, std::string host, const name_resolver& ask,
        std::function<void(found_addresses)> done);
    ~name_lookup() { abandon(); }
    name_lookup(const name_lookup&) = delete;
    name_lookup& operator=(const name_lookup&) = delete;

    void abandon() noexcept;

private:
    struct shared;
    explicit name_lookup(std::shared_ptr<shared> state) : state_(std::move(state)) {}

    std::shared_ptr<shared> state_;
};

} // namespace heddle::net
