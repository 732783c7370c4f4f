// Tokens, rates and other sites.
#include "serve/request_gate.hpp"
#include "serve/client_places.hpp"

#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

using namespace std::chrono_literals;

http::server_request request_of(std::vector<http::request_field> fields,
                                std::string_view client = "192.0.2.1") {
    http::server_request request;
    request.method = "GET";
    request.target = "/metrics";
    request.client = client;
    request.fields = std::move(fields);
    return request;
}

TEST(api_tokens, have_owners) {
    const auto read = api_tokens::parse(
        "# those who may\n\nada  s3cret-0123456789-a\r\n"
        "\ts3cret-0123456789-b\nc s3cret-0123456789-c");
    ASSERT_TRUE(read);
    const auto owner = [&](std::string_view field) {
        const std::string* found = read->owner_of(field);
        return found ? *found : std::string("nobody");
    };
    EXPECT_EQ(owner("Bearer s3cret-0123456789-a"), "ada");
    EXPECT_EQ(owner("bearer  s3cret-0123456789-b"), "client-2");
    EXPECT_EQ(owner("BEARER s3cret-0123456789-c"), "c");
    for (const char* wrong :
         {"", "Bearer", "Bearer ", "Bearer s3cret-0123456789",
          "Bearer s3cret-0123456789-as3cret-0123456789-a", "Basic s3cret-0123456789-a",
          "s3cret-0123456789-a", "Bearer ada", "Bearer s3cret-0123456789-A"})
        EXPECT_EQ(owner(wrong), "nobody") << wrong;
    EXPECT_TRUE(api_tokens::parse("# nobody\n")->empty());
}

TEST(api_tokens, without_a_name_get_one_that_nobody_has) {
    const auto read = api_tokens::parse(
        "client-2 0123456789abcdef-a\n0123456789abcdef-b\n0123456789abcdef-c\n"
        "client-3 0123456789abcdef-d\nclient-3 0123456789abcdef-e\n");
    ASSERT_TRUE(read);
    const auto owner = [&](const std::string& end) {
        return *read->owner_of("Bearer 0123456789abcdef-" + end);
    };
    EXPECT_EQ(owner("a"), "client-2");
    EXPECT_EQ(owner("b"), "client-4");
    EXPECT_EQ(owner("c"), "client-5");
    EXPECT_EQ(owner("d"), "client-3");
    EXPECT_EQ(owner("e"), "client-3"); // to replace one token by another
}

TEST(api_tokens, of_two_lines_differ) {
    const auto read = api_tokens::parse(
        "# all\nada s3cret-0123456789-a\nbob s3cret-0123456789-b\n\ns3cret-0123456789-a\n");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message(), "lines 2 and 5 of the tokens have the same token");
}

TEST(api_tokens, a_malformed_line_is_not_shown) {
    for (const char* text :
         {"fine-0123456789ab\ntwo words s3cret-0123456789\n",
          "fine-0123456789ab\ns3cret-0123456789\x01\n", "fine-0123456789ab\ns\xc3\xa4\n"}) {
        const auto read = api_tokens::parse(text);
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().message(), "line 2 of the tokens is malformed");
    }
}

TEST(request_rates, a_bucket_for_each_client) {
    request_rates rates(60); // one per second
    const coro::clock::time_point begin{1h};
    for (int i = 0; i < 60; ++i) EXPECT_FALSE(rates.count("a", begin)) << i;
    EXPECT_EQ(rates.count("a", begin), 1s);
    EXPECT_FALSE(rates.count("b", begin));
    EXPECT_EQ(rates.count("a", begin + 500ms), 1s);
    EXPECT_FALSE(rates.count("a", begin + 1100ms));
    EXPECT_TRUE(rates.count("a", begin + 1200ms));
    // What was not used is there again, but no more than a minute's.
    for (int i = 0; i < 60; ++i) EXPECT_FALSE(rates.count("a", begin + 10min)) << i;
    EXPECT_TRUE(rates.count("a", begin + 10min));
    EXPECT_FALSE(request_rates(0).count("a", begin));
}

TEST(api_tokens, are_long_enough_not_to_be_guessed) {
    for (const char* text : {"web ", "web", "ada short", "fifteen-letters"}) {
        const auto read = api_tokens::parse(text);
        ASSERT_FALSE(read) << text;
        EXPECT_NE(read.error().message().find("less than 16"), std::string::npos);
    }
    EXPECT_TRUE(api_tokens::parse("web 0123456789abcdef"));
}

TEST(request_gate, takes_no_host_that_only_begins_as_this_machine) {
    request_rules rules;
    rules.local_hosts_only = true;
    request_gate gate(rules);
    const auto status = [&](std::string_view host) {
        std::string client;
        const auto refused = gate.check(request_of({{"Host", host}}, "127.0.0.1"),
                                        coro::clock::time_point{1h}, client);
        return refused ? refused->status : 200;
    };
    for (const char* mine : {"localhost", "localhost:80", "127.0.0.1:9", "[::1]", "[::1]:80"})
        EXPECT_EQ(status(mine), 200) << mine;
    for (const char* other : {"[::1].evil.com", "localhost:x@evil.com", "127.0.0.1.evil.com"})
        EXPECT_EQ(status(other), 403) << other;
}

TEST(request_gate, refuses_before_the_body_who_has_no_token_and_counts_no_one_else) {
    request_rules rules;
    rules.tokens = *api_tokens::parse("ada s3cret-0123456789");
    rules.rate = 1;
    request_gate gate(rules);
    const coro::clock::time_point now{1h};
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(gate.check_begun(
            request_of({{"Authorization", "Bearer s3cret-0123456789"}}, "192.0.2.1"), now));
    }
    EXPECT_EQ(gate.check_begun(request_of({}, "192.0.2.9"), now)->status, 401);
    EXPECT_EQ(gate.check_begun(request_of({}, "192.0.2.9"), now)->status, 429);
}

TEST(client_places, bound_the_calls_of_each_client) {
    client_places places(2);
    client_places::place one;
    client_places::place two;
    client_places::place other;
    EXPECT_TRUE(places.take("a", one));
    EXPECT_TRUE(places.take("a", two));
    EXPECT_FALSE(places.take("a", other));
    EXPECT_TRUE(places.take("b", other));
    one = {};
    EXPECT_TRUE(places.take("a", one));
    const client_places::place moved = std::move(one);
    EXPECT_FALSE(places.take("a", one));
    client_places unbounded(0);
    EXPECT_TRUE(unbounded.take("a", one));
}

TEST(request_gate, guessing_tokens_is_bounded_by_the_rate_of_the_client) {
    request_rules rules;
    rules.tokens = *api_tokens::parse("ada s3cret-0123456789");
    rules.rate = 2;
    request_gate gate(rules);
    const coro::clock::time_point now{1h};
    std::string client;
    const auto status = [&](std::string_view token, std::string_view address) {
        const auto refused =
            gate.check(request_of({{"Authorization", token}}, address), now, client);
        return refused ? refused->status : 200;
    };
    EXPECT_EQ(status("Bearer a", "192.0.2.1"), 401);
    EXPECT_EQ(status("Bearer b", "192.0.2.1"), 401);
    EXPECT_EQ(status("Bearer c", "192.0.2.1"), 429);
    EXPECT_EQ(status("Bearer c", "192.0.2.2"), 401);
    EXPECT_EQ(status("Bearer s3cret-0123456789", "192.0.2.1"), 200); // counted by its owner
    EXPECT_EQ(client, "ada");
    EXPECT_EQ(status("Bearer s3cret-0123456789", "192.0.2.2"), 200);
    EXPECT_EQ(status("Bearer s3cret-0123456789", "192.0.2.3"), 429);
}

TEST(request_gate, without_tokens_only_this_machine_is_served) {
    request_rules rules;
    rules.local_hosts_only = true;
    request_gate gate(rules);
    std::string client;
    const auto is_served = [&](std::vector<http::request_field> fields) {
        return !gate.check(request_of(std::move(fields)), {}, client);
    };
    for (const char* host :
         {"localhost", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]:80", "a.localhost"})
        EXPECT_TRUE(is_served({{"Host", host}})) << host;
    for (const char* host : {"example.com", "127.0.0.1.example.com", "127.example.com:8080",
                             "localhost.example.com", "[::2]", "[::1", "0.0.0.0"})
        EXPECT_FALSE(is_served({{"Host", host}})) << host;
    EXPECT_TRUE(is_served({{"Host", "localhost:1"}, {"Origin", "http://localhost:1"}}));
    for (const char* origin : {"http://localhost:2", "https://example.com", "null"})
        EXPECT_FALSE(is_served({{"Host", "localhost:1"}, {"Origin", origin}})) << origin;
}

} // namespace
} // namespace heddle::cli
