#include <heddle/http/request_parser.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace heddle::http {
namespace {

using step = request_parser::step;

/// What a parser makes of bytes that come in pieces: one line for each request, or its error.
std::vector<std::string> read_all(std::string_view text,
                                  const std::function<std::size_t(std::size_t)>& next_cut,
                                  request_limits limits = {}) {
    request_parser parser(limits);
    std::vector<std::string> seen;
    std::size_t begin = 0;
    for (std::size_t end = 0; end < text.size();) {
        end = std::min(text.size(), next_cut(end));
        for (;;) {
            // Moved to memory of its own each time, as a buffer that grows moves.
            const std::vector<char> bytes(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                          text.begin() + static_cast<std::ptrdiff_t>(end));
            const step got = parser.advance({bytes.data(), bytes.size()});
            if (got == step::need_more) {
                if (end % 2 == 0) begin += parser.drop_taken(); // or not: both must do
                break;
            }
            if (got == step::wrong) {
                seen.push_back("error " + std::to_string(parser.status()));
                return seen;
            }
            const auto& request = parser.request();
            seen.push_back(std::string(request.method) + " " + std::string(request.target) + " [" +
                           std::string(request.field("authorization")) + "] " +
                           (request.keep_alive ? "keep " : "close ") + std::string(request.body));
            begin += parser.consumed();
            parser.reset();
        }
    }
    return seen;
}

void expect_read(std::string_view text, const std::vector<std::string>& wanted,
                 request_limits limits = {}) {
    EXPECT_EQ(read_all(
                  text, [&](std::size_t) { return text.size(); }, limits),
              wanted)
        << text;
    EXPECT_EQ(read_all(
                  text, [](std::size_t at) { return at + 1; }, limits),
              wanted)
        << text;
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
        EXPECT_EQ(read_all(
                      text, [&](std::size_t at) { return at < cut ? cut : text.size(); }, limits),
                  wanted)
            << cut;
    }
}

TEST(request_parser, requests_with_and_without_a_body) {
    expect_read("GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n", {"GET /v1/models [] keep "});
    expect_read(
        "POST /a?b=c HTTP/1.1\r\nhost:x\r\nAuthorization:  Bearer k \r\nContent-Length: "
        "5\r\n\r\nhello",
        {"POST /a?b=c [Bearer k] keep hello"});
    expect_read("GET / HTTP/1.1\r\nHost: x\r\nConnection: foo, Close\r\n\r\n", {"GET / [] close "});
    expect_read("GET / HTTP/1.0\r\n\r\n", {"GET / [] close "});
    expect_read("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", {"GET / [] keep "});
}

TEST(request_parser, requests_one_after_the_other) {
    expect_read(
        "POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab\r\nGET /2 HTTP/1.1\r\nHost: "
        "x\r\n\r\n"
        "POST /3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nc\r\n0\r\n\r\n"
        "GET /4 HTTP/1.1\r\nHost: x\r\n\r\nGET /5",
        {"POST /1 [] keep ab", "GET /2 [] keep ", "POST /3 [] keep c", "GET /4 [] keep "});
}

TEST(request_parser, chunked_bodies) {
    const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n";
    expect_read(head + "3;x=\"y\"\r\nabc\r\n0A\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n",
                {"POST / [] keep abc0123456789"});
    expect_read(head + "0\r\n\r\n", {"POST / [] keep "});
    expect_read(head + "3\r\nabcd\r\n0\r\n\r\n", {"error 400"});
    expect_read(head + "x\r\n\r\n", {"error 400"});
    expect_read(head + "-1\r\n\r\n", {"error 400"});
    expect_read(head + "0x3\r\nabc\r\n0\r\n\r\n", {"error 400"});
    expect_read(head + "\r\n\r\n\r\n", {"error 400"});
    expect_read(head + "ffffffffffffffffffff\r\n", {"error 400"}); // no number of Beast
    expect_read(head + "3 \n\r\n", {"error 400"});
    expect_read(head + std::string(300, '1'), {"error 400"});
}

TEST(request_parser, what_two_readers_could_take_differently_is_refused) {
    const auto with = [](const std::string& fields) {
        return "POST / HTTP/1.1\r\n" + fields + "\r\n";
    };
    expect_read(with(""), {"error 400"}); // no Host
    expect_read(with("Host: x\r\nHost: x\r\n"), {"error 400"});
    expect_read(with("Host: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
                {"error 400"});
    expect_read(with("Host: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n"), {"error 400"});
    expect_read(with("Host: x\r\nContent-Length: +1\r\n"), {"error 400"});
    expect_read(with("Host: x\r\nContent-Length: 1, 1\r\n"), {"error 400"});
    expect_read(with("Host: x\r\nContent-Length:\r\n"), {"error 400"});
    expect_read(with("Host: x\r\nTransfer-Encoding: gzip, chunked\r\n"), {"error 501"});
    expect_read(with("Host: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
                {"error 400"});
    expect_read(with("Host: x\r\nAuthorization: a\r\nauthorization: b\r\n"), {"error 400"});
    expect_read(with("Host: x\r\n folded: y\r\n"), {"error 400"});
    expect_read(with("Host : x\r\n"), {"error 400"});
    expect_read(with("Host: x\r\nA: b\nC: d\r\n"), {"error 400"});
    expect_read(with("Host: x\r\nA: b\rC: d\r\n"), {"error 400"});
    expect_read(with(std::string("Host: x\r\nA: \0\r\n", 15)), {"error 400"});
    expect_read(with("Host: x\r\nno colon\r\n"), {"error 400"});
    expect_read(with("Host: x\r\nExpect: a miracle\r\n"), {"error 417"});
    for (const char* line :
         {"GET /", "GET  / HTTP/1.1", "GET / x HTTP/1.1", "G@T / HTTP/1.1", "GET / HTTP/1.1 ",
          " GET / HTTP/1.1", "GET /\x01 HTTP/1.1", "GET / http/1.1"}) {
        expect_read(std::string(line) + "\r\nHost: x\r\n\r\n", {"error 400"});
    }
    expect_read("GET / HTTP/2.0\r\nHost: x\r\n\r\n", {"error 505"});
}

TEST(request_parser, sizes_are_bounded) {
    const request_limits small{100, 10, 3};
    expect_read("GET /" + std::string(200, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n", {"error 431"},
                small);
    expect_read(std::string(200, 'x'), {"error 431"}, small);
    expect_read("GET / HTTP/1.1\r\nHost: x\r\na:b\r\nc:d\r\ne:f\r\n\r\n", {"error 431"}, small);
    expect_read("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789",
                {"POST / [] keep 0123456789"}, small);
    expect_read("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n", {"error 413"}, small);
    expect_read("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
                {"error 413"}, small);
    for (const char* length : {"-1", "1e3", ""}) {
        expect_read(std::string("POST / HTTP/1.1\r\nX: 99999999999999999999\r\nContent-Length: ") +
                        length + "\r\nHost: x\r\n\r\n",
                    {"error 400"}, {200, 10, 4});
    }
    const std::string chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    expect_read(chunked + "5\r\nabcde\r\n6\r\n", {"error 413"}, small);
    std::string padded = chunked;
    for (int i = 0; i < 5; ++i) padded += "1;" + std::string(60, 'x') + "\r\na\r\n";
    EXPECT_EQ(read_all(
                  padded, [](std::size_t at) { return at + 1; }, small),
              std::vector<std::string>{"error 413"});
}

TEST(request_parser, the_length_of_a_target_is_bounded) {
    const request_limits small{1000, 10, 3, 50};
    expect_read("GET /" + std::string(49, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n",
                {"GET /" + std::string(49, 'x') + " [] keep "}, small);
    expect_read("GET /" + std::string(200, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n", {"error 414"},
                small);
    expect_read("GET /" + std::string(200, 'x'), {"error 414"}, small);
}

TEST(request_parser, a_target_may_be_a_whole_url) {
    const auto read = [](const std::string& line, const std::string& fields) {
        request_parser parser;
        if (parser.advance(line + " HTTP/1.1\r\n" + fields + "\r\n") != step::whole)
            return "error " + std::to_string(parser.status());
        const server_request& request = parser.request();
        return std::string(request.target) + " at " + std::string(request.field("host")) + ", " +
               std::to_string(request.fields.size()) + " fields";
    };
    EXPECT_EQ(read("GET http://h:80/a?b=c", "Host: x\r\nA: b\r\n"), "/a?b=c at h:80, 2 fields");
    EXPECT_EQ(read("GET HTTPS://h?b", "A: b\r\nHost: x\r\n"), "/?b at h, 2 fields");
    EXPECT_EQ(read("GET http://h", "Host: h\r\n"), "/ at h, 1 fields");
    EXPECT_EQ(read("GET /a?u=http://h/b", "Host: x\r\n"), "/a?u=http://h/b at x, 1 fields");
    EXPECT_EQ(read("GET http://h/a", ""), "error 400"); // no Host
    EXPECT_EQ(read("GET http://h/a", "Host: h\r\nHost: h\r\n"), "error 400");
    EXPECT_EQ(read("GET http:///a", "Host: h\r\n"), "error 400");
    EXPECT_EQ(read("GET http://user@h/a", "Host: h\r\n"), "error 400");
}

TEST(request_parser, keeps_the_fields_in_their_order) {
    request_parser parser;
    const std::string text = "GET /a?b HTTP/1.1\r\nHost: x\r\nX-A: 1\r\nEmpty:\r\nx-a: 2\r\n\r\n";
    ASSERT_EQ(parser.advance(text), step::whole);
    const server_request& request = parser.request();
    ASSERT_EQ(request.fields.size(), 4U);
    EXPECT_EQ(request.fields[3].value, "2");
    EXPECT_EQ(request.field("x-A"), "1");
    EXPECT_EQ(request.field("empty"), "");
    EXPECT_EQ(request.path(), "/a");
}

TEST(request_parser, reports_when_a_client_waits) {
    request_parser parser;
    const std::string head =
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n";
    ASSERT_EQ(parser.advance(head), step::need_more);
    EXPECT_TRUE(parser.wants_continue());
    EXPECT_EQ(parser.missing(head.size()), 2U);
    parser.continue_sent();
    EXPECT_FALSE(parser.wants_continue());
    EXPECT_EQ(parser.advance(head + "ab"), step::whole);
}

TEST(request_parser, what_it_has_copied_can_be_dropped) {
    request_parser parser;
    const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n";
    ASSERT_EQ(parser.advance(head.substr(0, 20)), step::need_more);
    EXPECT_EQ(parser.drop_taken(), 0U); // a header is read in one piece
    ASSERT_EQ(parser.advance(head + "ab"), step::need_more);
    EXPECT_EQ(parser.drop_taken(), head.size() + 2);
    EXPECT_EQ(parser.missing(0), 4U);
    EXPECT_GE(parser.body_room(), 2U);
    ASSERT_EQ(parser.advance("cd"), step::need_more);
    EXPECT_EQ(parser.missing(2), 2U);
    EXPECT_EQ(parser.drop_taken(), 2U);
    ASSERT_EQ(parser.advance("efGET"), step::whole);
    EXPECT_EQ(parser.consumed(), 2U);
    EXPECT_EQ(parser.request().body, "abcdef");
    parser.discard_body();
    EXPECT_EQ(parser.body_room(), 0U);
    EXPECT_EQ(parser.request().target, "/");
}

TEST(request_parser, random_changes_never_break_it) {
    const std::string good =
        "POST /1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        "POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
    std::mt19937 random(17);
    for (int round = 0; round < 20000; ++round) {
        std::string text = good;
        for (int change = 0; change < 3; ++change) {
            const std::size_t at = random() % text.size();
            switch (random() % 3) {
            case 0: text.erase(at, 1 + random() % 4); break;
            case 1: text[at] = static_cast<char>(random() % 256); break;
            default: text.insert(at, text.substr(random() % text.size(), random() % 8)); break;
            }
        }
        // What is wrong may be seen with the end of the next line only.
        for (int line = 0; line < 40; ++line) text += "xxxxx\r\n";
        const auto whole = read_all(text, [&](std::size_t) { return text.size(); });
        EXPECT_EQ(read_all(text, [&](std::size_t at) { return at + 1 + random() % 20; }), whole)
            << testing::PrintToString(text);
    }
}

} // namespace
} // namespace heddle::http
