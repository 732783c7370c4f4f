#include <heddle/base/url.hpp>

#include <gtest/gtest.h>

#include <string>

namespace heddle {
namespace {

std::string split(std::string_view text) {
    const auto parts = split_url(text);
    if (!parts) return "none";
    return std::string(parts->scheme) + " | " + std::string(parts->authority) + " | " +
           std::string(parts->rest);
}

TEST(url, has_a_scheme_an_authority_and_the_rest) {
    EXPECT_EQ(split("https://api.example.com/v1"), "https | api.example.com | /v1");
    EXPECT_EQ(split("http://127.0.0.1:8080"), "http | 127.0.0.1:8080 | ");
    EXPECT_EQ(split("http://[::1]:80/a?b#c"), "http | [::1]:80 | /a?b#c");
    EXPECT_EQ(split("HTTP://user:word@host/"), "HTTP | user:word@host | /");
}

TEST(url, authority_ends_where_a_query_or_fragment_begins) {
    EXPECT_EQ(split("http://127.0.0.1?@evil.example/v1"), "http | 127.0.0.1 | ?@evil.example/v1");
    EXPECT_EQ(split("http://127.0.0.1#@evil.example"), "http | 127.0.0.1 | #@evil.example");
}

TEST(url, parts_may_be_empty) {
    EXPECT_EQ(split("://"), " |  | ");
    EXPECT_EQ(split("http:///path"), "http |  | /path");
}

TEST(url, text_without_a_scheme_is_none) {
    EXPECT_EQ(split(""), "none");
    EXPECT_EQ(split("localhost:11434"), "none");
    EXPECT_EQ(split("mailto:someone"), "none");
}

TEST(url, localhost_and_names_below_it_are_this_machine) {
    for (const char* host : {"localhost", "localhost.", "a.localhost", "a.b.localhost."})
        EXPECT_TRUE(is_localhost(host)) << host;
    for (const char* host : {"", ".", "localhosts", "alocalhost", "localhost.example.com",
                             "localhost..", "127.0.0.1", "::1"})
        EXPECT_FALSE(is_localhost(host)) << host;
}

TEST(url, loopback_hosts_are_this_machine) {
    for (const char* host : {"localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "::1"})
        EXPECT_TRUE(is_loopback_host(host)) << host;
    for (const char* host : {"", "127.0.0.1.example.com", "127.example.com", "128.0.0.1", "::2"})
        EXPECT_FALSE(is_loopback_host(host)) << host;
}

} // namespace
} // namespace heddle
