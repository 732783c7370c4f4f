#include "net/address_book.hpp"

#include <gtest/gtest.h>

namespace heddle::net {
namespace {

std::string ordered(const std::vector<const char*>& addresses) {
    std::vector<boost::asio::ip::tcp::endpoint> endpoints;
    for (const char* text : addresses)
        endpoints.emplace_back(boost::asio::ip::make_address(text), std::uint16_t{80});
    std::string out;
    for (const auto& endpoint : interleaved(endpoints))
        out += (out.empty() ? "" : " ") + endpoint.address().to_string();
    return out;
}

TEST(address_order, families_alternate_from_the_preferred_one) {
    EXPECT_EQ(ordered({"fd00::1", "fd00::2", "fd00::3", "10.0.0.1", "10.0.0.2"}),
              "fd00::1 10.0.0.1 fd00::2 10.0.0.2 fd00::3");
    EXPECT_EQ(ordered({"10.0.0.1", "fd00::1", "fd00::2"}), "10.0.0.1 fd00::1 fd00::2");
    EXPECT_EQ(ordered({"10.0.0.1", "10.0.0.2"}), "10.0.0.1 10.0.0.2");
    EXPECT_EQ(ordered({}), "");
}

} // namespace
} // namespace heddle::net
