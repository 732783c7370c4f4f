#include "http/request_text.hpp"

#include <gtest/gtest.h>

namespace heddle::http {
namespace {

ports::http_request request_with(std::string name, std::string value) {
    ports::http_request request;
    request.headers.push_back({std::move(name), std::move(value), true});
    return request;
}

result<void> check_request(const ports::http_request& request) {
    if (auto fine = check_request_line(request); !fine) return fine;
    header_text headers;
    return headers.assign(request.headers);
}

std::string head_of(const ports::http_request& request, const request_route& route) {
    header_text headers;
    EXPECT_TRUE(headers.assign(request.headers));
    std::string out = "old";
    render_head(request, headers, route, out);
    return out;
}

TEST(request_text, a_post_has_its_length_even_when_empty) {
    ports::http_request request;
    request.target = "/v1/x?y=1";
    request.headers.push_back({"Accept", "*/*", false});
    EXPECT_EQ(
        head_of(request, {"h:8080", false, {}, false}),
        "POST /v1/x?y=1 HTTP/1.1\r\nHost: h:8080\r\nAccept: */*\r\nContent-Length: 0\r\n\r\n");
    request.method = "GET";
    EXPECT_EQ(head_of(request, {"h", false, {}, false}),
              "GET /v1/x?y=1 HTTP/1.1\r\nHost: h\r\nAccept: */*\r\n\r\n");
    request.body = "abc";
    EXPECT_NE(head_of(request, {"h", false, {}, false}).find("Content-Length: 3\r\n"),
              std::string::npos);
}

TEST(request_text, the_user_agent_is_that_of_the_client_unless_the_request_has_one) {
    ports::http_request request;
    request.method = "GET";
    EXPECT_EQ(head_of(request, {"h", false, {}, false, "heddle/1"}),
              "GET / HTTP/1.1\r\nHost: h\r\nUser-Agent: heddle/1\r\n\r\n");
    request.headers.push_back({"user-AGENT", "mine", false});
    EXPECT_EQ(head_of(request, {"h", false, {}, false, "heddle/1"}),
              "GET / HTTP/1.1\r\nHost: h\r\nuser-AGENT: mine\r\n\r\n");
}

TEST(request_text, what_would_become_protocol_is_refused) {
    EXPECT_TRUE(check_request(request_with("X-Key", "a\tb \xC3\xA9")));
    EXPECT_FALSE(check_request(request_with("X-Key", "sk-1\r\nHost: evil")));
    EXPECT_FALSE(check_request(request_with("X-Key", "sk-1\n")));
    EXPECT_FALSE(check_request(request_with("X-Key", std::string("a\0b", 3))));
    EXPECT_FALSE(check_request(request_with("X Key", "a")));
    EXPECT_FALSE(check_request(request_with("", "a")));
    EXPECT_FALSE(check_request(request_with("X:Y", "a")));
    for (const char* ours :
         {"Host", "content-length", "CONNECTION", "Transfer-Encoding", "Upgrade"}) {
        EXPECT_FALSE(check_request(request_with(ours, "1"))) << ours;
    }
    for (const char* target : {"", "x", "/a b", "/a\r\nb", "/\xC3\xA9"}) {
        ports::http_request request;
        request.target = target;
        EXPECT_FALSE(check_request(request)) << target;
    }
    ports::http_request request;
    request.method = "PO ST";
    EXPECT_FALSE(check_request(request));
}

TEST(request_text, headers_that_are_shared_are_written_once_and_changes_are_seen) {
    const ports::http_headers shared = {{"X-Key", "one", true}};
    header_text headers;
    ASSERT_TRUE(headers.assign(shared));
    ports::http_headers copy = shared;
    const char* const before = headers.text().data();
    ASSERT_TRUE(headers.assign(copy));
    EXPECT_EQ(headers.text().data(), before);
    EXPECT_TRUE(copy.is_same_as(shared));
    copy.push_back({"Accept-Encoding", "br", false});
    EXPECT_EQ(shared.size(), 1U);
    ASSERT_TRUE(headers.assign(copy));
    EXPECT_EQ(headers.text(), "X-Key: one\r\nAccept-Encoding: br\r\n");
    EXPECT_TRUE(headers.names_accept_encoding());
    // A list that is refused changes nothing.
    EXPECT_FALSE(headers.assign({{"X-Key", "a\n", true}}));
    EXPECT_EQ(headers.text(), "X-Key: one\r\nAccept-Encoding: br\r\n");
    ASSERT_TRUE(headers.assign({}));
    EXPECT_EQ(headers.text(), "");
    EXPECT_FALSE(headers.names_accept_encoding());
}

TEST(request_text, a_refusal_never_shows_the_value) {
    const auto verdict = check_request(request_with("Authorization", "Bearer sk-secret\n"));
    ASSERT_FALSE(verdict);
    EXPECT_NE(verdict.error().message().find("Authorization"), std::string::npos);
    EXPECT_EQ(verdict.error().message().find("secret"), std::string::npos);
}

} // namespace
} // namespace heddle::http
