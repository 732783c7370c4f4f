#include "address_book.hpp"

#include <heddle/ports/http_port.hpp>

#include <boost/asio/ip/basic_resolver.hpp>

#include <algorithm>

namespace heddle::net {

namespace {

using tcp = boost::asio::ip::tcp;
using resolver = boost::asio::ip::basic_resolver<tcp, coro::executor>;
using listeners =
    boost::intrusive::list<lookup_listener, boost::intrusive::constant_time_size<false>>;

} // namespace

std::vector<tcp::endpoint> interleaved(const std::vector<tcp::endpoint>& sorted) {
    std::vector<tcp::endpoint> families[2];
    for (const tcp::endpoint& endpoint : sorted) {
        const bool preferred = endpoint.protocol() == sorted.front().protocol();
        families[preferred ? 0 : 1].push_back(endpoint);
    }
    std::vector<tcp::endpoint> out;
    for (std::size_t i = 0; i < std::max(families[0].size(), families[1].size()); ++i) {
        for (const auto& family : families) {
            if (i < family.size()) out.push_back(family[i]);
        }
    }
    return out;
}

struct address_book::state {
    state(coro::event_loop& owner, std::string name, std::uint16_t number,
          std::chrono::milliseconds limit)
        : loop(owner), host(std::move(name)), port(number), age(limit),
          lookup(owner.get_executor()) {}

    static void begin(const std::shared_ptr<state>& self);
    void found(const boost::system::error_code& ec, const tcp::resolver::results_type& entries);
    [[nodiscard]] error failure(const boost::system::error_code& ec) const;

    coro::event_loop& loop;
    std::string host;
    std::uint16_t port;
    std::chrono::milliseconds age;
    resolver lookup;
    address_list known;
    coro::clock::time_point good_until{};
    listeners waiting;
    bool under_way = false;
    bool abandoned = false;
};

address_book::address_book(coro::event_loop& loop, std::string host, std::uint16_t port,
                           std::chrono::milliseconds age, const std::vector<std::string>& fixed)
    : state_(std::make_shared<state>(loop, std::move(host), port, age)) {
    std::vector<tcp::endpoint> endpoints;
    for (const std::string& text : fixed) {
        boost::system::error_code ec;
        const auto address = boost::asio::ip::make_address(text, ec);
        if (!ec) endpoints.emplace_back(address, port);
    }
    if (endpoints.empty()) return;
    state_->known = std::make_shared<const std::vector<tcp::endpoint>>(std::move(endpoints));
    state_->good_until = coro::clock::time_point::max();
}

address_book::~address_book() {
    state_->abandoned = true;
    state_->waiting.clear();
    state_->lookup.cancel();
}

address_list address_book::addresses(lookup_listener& listener) {
    state& s = *state_;
    if (s.known && (s.good_until == coro::clock::time_point::max() || s.loop.now() < s.good_until))
        return s.known;
    s.waiting.push_back(listener);
    if (!s.under_way) state::begin(state_);
    return nullptr;
}

void address_book::distrust() noexcept {
    if (state_->good_until != coro::clock::time_point::max()) state_->good_until = {};
}

void address_book::state::begin(const std::shared_ptr<state>& self) {
    self->under_way = true;
    self->lookup.async_resolve(
        self->host, std::to_string(self->port), tcp::resolver::numeric_service,
        [self](const boost::system::error_code& ec, const tcp::resolver::results_type& entries) {
            self->under_way = false;
            if (!self->abandoned) self->found(ec, entries);
        });
}

void address_book::state::found(const boost::system::error_code& ec,
                                const tcp::resolver::results_type& entries) {
    std::vector<tcp::endpoint> endpoints;
    for (const auto& entry : entries) endpoints.push_back(entry.endpoint());
    if (!ec && !endpoints.empty()) {
        known = std::make_shared<const std::vector<tcp::endpoint>>(interleaved(endpoints));
        good_until = loop.now() + age;
    }
    listeners served;
    served.swap(waiting);
    while (!served.empty()) {
        lookup_listener& first = served.front();
        served.pop_front();
        if (!ec && !endpoints.empty()) first.on_addresses(known);
        else first.on_addresses(failure(ec));
    }
}

error address_book::state::failure(const boost::system::error_code& ec) const {
    return error(ports::http_errc::resolve_failed,
                 "no address for the host " + host + (ec ? " (" + ec.message() + ")" : ""))
        .with_hint("check the spelling of the host name and that this machine can look names up")
        .with_retryable(true);
}

} // namespace heddle::net
