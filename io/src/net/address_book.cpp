#include "address_book.hpp"

#include <algorithm>

namespace heddle::net {

namespace {

using tcp = boost::asio::ip::tcp;
constexpr auto for_ever = coro::clock::time_point::max();

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

address_book::address_book(coro::event_loop& loop, std::string host, std::uint16_t port,
                           std::chrono::milliseconds age, const std::vector<std::string>& fixed,
                           name_resolver ask)
    : loop_(loop), host_(std::move(host)), port_(port), age_(age), ask_(std::move(ask)) {
    std::vector<tcp::endpoint> endpoints;
    for (const std::string& text : fixed) {
        boost::system::error_code ec;
        const auto address = boost::asio::ip::make_address(text, ec);
        if (!ec) endpoints.emplace_back(address, port);
    }
    if (endpoints.empty()) return;
    known_ = std::make_shared<const std::vector<tcp::endpoint>>(std::move(endpoints));
    good_until_ = for_ever;
}

address_book::~address_book() { stop(); }

void address_book::stop() noexcept {
    waiting_.clear();
    lookup_.reset();
}

address_list address_book::addresses(lookup_listener& listener) {
    if (known_ && (good_until_ == for_ever || loop_.now() < good_until_)) return known_;
    waiting_.push_back(listener);
    if (!lookup_) begin();
    return nullptr;
}

void address_book::distrust() noexcept {
    if (good_until_ != for_ever) good_until_ = {};
}

void address_book::begin() {
    lookup_ = name_lookup::start(
        loop_, host_, ask_, [this](found_addresses addresses) { found(std::move(addresses)); });
}

void address_book::found(found_addresses addresses) {
    lookup_.reset();
    if (addresses) {
        std::vector<tcp::endpoint> endpoints;
        for (const auto& each : *addresses) endpoints.emplace_back(each, port_);
        known_ = std::make_shared<const std::vector<tcp::endpoint>>(interleaved(endpoints));
        good_until_ = loop_.now() + age_;
    }
    // Whoever is notified of it may ask again, or take this book away.
    decltype(waiting_) served;
    served.swap(waiting_);
    const result<address_list> reported =
        addresses ? result<address_list>(known_) : result<address_list>(addresses.error());
    while (!served.empty()) {
        lookup_listener& first = served.front();
        served.pop_front();
        first.on_addresses(reported);
    }
}

} // namespace heddle::net
