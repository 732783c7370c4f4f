#include <heddle/http/origin_name.hpp>

#include <heddle/ports/http_port.hpp>

#include <gtest/gtest.h>

namespace heddle::http {
namespace {

TEST(origin_name, ports_and_schemes_are_normalised) {
    const auto plain = parse_origin("HTTP://Example.COM");
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->text(), "http://example.com:80");
    EXPECT_EQ(plain->host_header(), "example.com");
    const auto tls = parse_origin("https://api.openai.com/");
    ASSERT_TRUE(tls);
    EXPECT_EQ(tls->text(), "https://api.openai.com:443");
    EXPECT_TRUE(tls->tls);
    EXPECT_FALSE(tls->numeric);
    EXPECT_EQ(parse_origin("https://h:8443")->host_header(), "h:8443");
    EXPECT_EQ(parse_origin("https://h:80")->host_header(), "h:80");
}

TEST(origin_name, addresses_are_known_as_such) {
    EXPECT_TRUE(parse_origin("http://127.0.0.1:8080")->numeric);
    const auto six = parse_origin("http://[::1]:8080");
    ASSERT_TRUE(six);
    EXPECT_TRUE(six->numeric);
    EXPECT_EQ(six->host, "::1");
    EXPECT_EQ(six->text(), "http://[::1]:8080");
    EXPECT_EQ(six->host_header(), "[::1]:8080");
}

TEST(origin_name, a_zone_is_used_to_connect_and_for_nothing_else) {
    for (const char* url : {"https://[FE80::1%25Eth0.7]:8443", "https://[fe80::1%Eth0.7]:8443"}) {
        const auto zoned = parse_origin(url);
        ASSERT_TRUE(zoned) << url;
        EXPECT_TRUE(zoned->numeric);
        EXPECT_EQ(zoned->host, "fe80::1"); // what certificates are checked against
        EXPECT_EQ(zoned->zone, "Eth0.7");
        EXPECT_EQ(zoned->connect_host(), "fe80::1%Eth0.7");
        EXPECT_EQ(zoned->host_header(), "[fe80::1]:8443");
        EXPECT_EQ(zoned->authority(), "[fe80::1]:8443");
        EXPECT_EQ(zoned->text(), "https://[fe80::1%Eth0.7]:8443");
    }
    EXPECT_NE(parse_origin("http://[fe80::1%a]")->text(), parse_origin("http://[fe80::1]")->text());
}

TEST(origin_name, everything_else_is_refused_with_a_reason) {
    for (const char* url : {"",
                            "example.com",
                            "ftp://example.com",
                            "http://",
                            "http://:80",
                            "http://a b",
                            "http://host:",
                            "http://host:0",
                            "http://host:65536",
                            "http://host:8x",
                            "http://[::1",
                            "http://[::1]x",
                            "http://[hello]",
                            "http://host/v1",
                            "http://host?x=1",
                            "http://host#f",
                            "http://user:secret@host",
                            "http://ho\r\nst",
                            "https://ho%41st",
                            "http://[::1%]",
                            "http://[::1%25]x",
                            "http://[::1%a b]",
                            "http://[::1%a%b]",
                            "http://[::1%a/b]",
                            "http://[::1%abcdefghijklmnop]",
                            "http://127.0.0.1%lo"}) {
        const auto parsed = parse_origin(url);
        ASSERT_FALSE(parsed) << url;
        EXPECT_EQ(parsed.error().code(), ports::http_errc::invalid_url) << url;
        EXPECT_FALSE(parsed.error().info().hint.empty()) << url;
        EXPECT_EQ(parsed.error().message().find("secret"), std::string::npos);
    }
}

TEST(origin_name, nothing_of_a_password_is_in_a_message) {
    for (const char* url :
         {"http://user:secret", "http:/user:secret@127.0.0.1:9", "user:secret@host",
          "http://user:secret/x@host", "http://secret word@host", "secret",
          "http://user:pass?secret@host", "secret://user@host", "HTTPS://user:secret"}) {
        const auto parsed = parse_origin(url);
        ASSERT_FALSE(parsed) << url;
        EXPECT_EQ(parsed.error().message().find("secret"), std::string::npos)
            << parsed.error().message();
    }
    EXPECT_EQ(parse_origin("http://host:99999").error().message(),
              "invalid URL http://…: the port is not a number from 1 to 65535");
    EXPECT_EQ(parse_origin("host").error().message(), "invalid URL: there is no scheme");
}

} // namespace
} // namespace heddle::http
