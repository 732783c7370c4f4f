// The addresses of one host name.
#pragma once

#include "name_lookup.hpp"

#include <heddle/base/error.hpp>
#include <heddle/coro/event_loop.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/intrusive/list.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace heddle::net {

using address_list = std::shared_ptr<const std::vector<boost::asio::ip::tcp::endpoint>>;

/// Families in turn, beginning with that of the first address (RFC 8305, 4): one dead family then
/// costs one stagger and not one for each of its addresses.
[[nodiscard]] std::vector<boost::asio::ip::tcp::endpoint> interleaved(
    const std::vector<boost::asio::ip::tcp::endpoint>& sorted);

/// Waits for a lookup. Leaves the queue when destroyed.
class lookup_listener : public boost::intrusive::list_base_hook<
                            boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    /// Called once on the loop, never from within addresses(). Must not throw.
    virtual void on_addresses(result<address_list> found) noexcept = 0;

protected:
    ~lookup_listener() = default;
};

/// Looks a name up beside the loop (name_lookup.hpp), for all who ask in the meantime at once, and
/// remembers the result for a while. Destroying it drops the waiting listeners.
/// Threads: the shard's only.
class address_book {
public:
    /// With `fixed` not empty these numeric addresses are used and nothing is looked up.
    address_book(coro::event_loop& loop, std::string host, std::uint16_t port,
                 std::chrono::milliseconds age, const std::vector<std::string>& fixed,
                 name_resolver ask = ask_system);
    ~address_book();
    address_book(const address_book&) = delete;
    address_book& operator=(const address_book&) = delete;

    /// The addresses, not empty; or null, and `listener` will be called.
    [[nodiscard]] address_list addresses(lookup_listener& listener);
    /// None of them worked: ask again next time.
    void distrust() noexcept;
    /// Drops whoever waits and lets go of a lookup that is under way.
    void stop() noexcept;

private:
    void begin();
    void found(found_addresses addresses);

    coro::event_loop& loop_;
    std::string host_;
    std::uint16_t port_;
    std::chrono::milliseconds age_;
    name_resolver ask_;
    address_list known_;
    coro::clock::time_point good_until_{};
    boost::intrusive::list<lookup_listener, boost::intrusive::constant_time_size<false>> waiting_;
    std::unique_ptr<name_lookup> lookup_; ///< under way, else null
};

} // namespace heddle::net
