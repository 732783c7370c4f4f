// Compressed responses: gzip and deflate, whole, in pieces, damaged, and bombs.
#include "client_fixture.hpp"
#include "packed_bytes.hpp"

#include <heddle/http/response_parser.hpp>

#include <random>

namespace heddle::http {
namespace {

using loopback::gzip_frame;
using loopback::no_frame;
using loopback::ok_response;
using loopback::packed;
using loopback::server;
using loopback::zlib_frame;

std::string coded_response(std::string_view body, std::string_view coding = "gzip") {
    return ok_response(body, "Content-Encoding: " + std::string(coding) + "\r\n");
}

std::string text_of(std::size_t size) {
    std::mt19937 random(7);
    std::string text;
    while (text.size() < size) text += "word" + std::to_string(random() % 1000) + " ";
    return text;
}

class compression : public ::testing::Test {
protected:
    /// Feeds the bytes in pieces of `piece`.
    result<bool> feed(std::string_view bytes, std::size_t piece, bool streamed = false) {
        response = {};
        streamed_body.clear();
        const ports::http_body_sink sink = [this](std::string_view part) -> result<void> {
            streamed_body += part;
            return {};
        };
        response_parser parser(cache);
        result<bool> whole = false;
        while (!bytes.empty() && whole && !*whole) {
            const auto now = bytes.substr(0, piece);
            bytes.remove_prefix(now.size());
            whole = parser.feed(now, rules, {&response, nullptr, streamed ? &sink : nullptr});
        }
        body_bytes = parser.body_bytes();
        return whole;
    }
    void expect_refused(std::string_view bytes, http_errc code, std::string_view says = {}) {
        for (const std::size_t piece : {std::size_t{1} << 30, std::size_t{777}}) {
            const auto whole = feed(bytes, piece);
            ASSERT_FALSE(whole);
            EXPECT_EQ(whole.error().code(), make_error_code(code)) << whole.error().message();
            EXPECT_NE(whole.error().message().find(says), std::string::npos)
                << whole.error().message();
        }
    }

    parser_cache cache;
    response_rules rules;
    http_response response;
    std::string streamed_body;
    std::size_t body_bytes = 0;
};

TEST_F(compression, every_frame_in_any_pieces) {
    const std::string text = text_of(100'000);
    struct row {
        const char* coding;
        int frame;
    };
    for (const row& r :
         {row{"gzip", gzip_frame}, row{"x-gzip", gzip_frame}, row{"GZIP", gzip_frame},
          row{"deflate", zlib_frame}, row{"deflate", no_frame}}) {
        const std::string bytes = coded_response(packed(text, r.frame), r.coding);
        for (const std::size_t piece : {std::size_t{1} << 30, std::size_t{1000}, std::size_t{1}}) {
            for (const bool streamed : {false, true}) {
                const auto whole = feed(bytes, piece, streamed);
                ASSERT_TRUE(whole && *whole) << r.coding << " " << piece;
                EXPECT_TRUE((streamed ? streamed_body : response.body) == text);
                EXPECT_EQ(body_bytes, text.size());
                EXPECT_FALSE(response.header("content-encoding"));
                EXPECT_FALSE(response.header("content-length"));
            }
        }
    }
}

TEST_F(compression, members_follow_each_other) {
    const auto whole =
        feed(coded_response(packed("one ") + packed("") + packed("two")), std::size_t{1} << 30);
    ASSERT_TRUE(whole && *whole);
    EXPECT_EQ(response.body, "one two");
}

TEST_F(compression, nothing_is_nothing) {
    for (const std::string& bytes :
         {coded_response(""), std::string("HTTP/1.1 204 x\r\nContent-Encoding: gzip\r\n\r\n"),
          coded_response("plain", "identity")}) {
        const auto whole = feed(bytes, 1);
        EXPECT_TRUE(whole && *whole) << bytes;
    }
    EXPECT_EQ(response.body, "plain");
    rules.head_request = true;
    const auto whole =
        feed("HTTP/1.1 200 x\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\n", 99);
    EXPECT_TRUE(whole && *whole);
    EXPECT_EQ(response.header("content-length"), "9");
}

TEST_F(compression, damage_is_reported) {
    const std::string good = packed(text_of(5000));
    expect_refused(coded_response(good.substr(0, good.size() / 2)), http_errc::protocol_error,
                   "too early");
    expect_refused(coded_response(good.substr(0, good.size() - 1)), http_errc::protocol_error,
                   "too early");
    expect_refused(coded_response("this is not gzip"), http_errc::protocol_error, "damaged");
    expect_refused(coded_response(good + "xyz"), http_errc::protocol_error, "damaged");
    expect_refused(coded_response(packed("x", zlib_frame) + "more", "deflate"),
                   http_errc::protocol_error, "damaged");
    std::string wrong_sum = good;
    wrong_sum[wrong_sum.size() - 6] ^= 1;
    expect_refused(coded_response(wrong_sum), http_errc::protocol_error, "damaged");
    expect_refused(coded_response(good, "br"), http_errc::protocol_error, "not requested");
    expect_refused(coded_response(good, "gzip, gzip"), http_errc::protocol_error, "not requested");
    expect_refused(ok_response(good, "Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n"),
                   http_errc::protocol_error, "not requested");
}

TEST_F(compression, what_it_inflates_to_is_bounded) {
    rules.max_body_bytes = 20'000;
    expect_refused(coded_response(packed(text_of(30'000))), http_errc::body_too_large, "20000");
    EXPECT_LE(response.body.size(), 20'000U);
    rules.max_body_bytes = std::size_t{1} << 32;
    expect_refused(coded_response(packed(std::string(100'000'000, 'x'))), http_errc::body_too_large,
                   "inflates");
    EXPECT_LT(response.body.size(), 3'000'000U);
    const auto small = feed(coded_response(packed(std::string(900'000, 'x'))), 1 << 20);
    EXPECT_TRUE(small && *small); // below a megabyte the ratio is nobody's business
}

TEST_F(compression, many_at_once_and_again) {
    // More than are kept, given back in any order.
    std::vector<std::unique_ptr<response_parser>> parsers;
    std::vector<http_response> responses(40);
    const std::string bytes = coded_response(packed(text_of(3000)));
    for (int round = 0; round < 2; ++round) {
        for (auto& one : responses) {
            one = {};
            parsers.push_back(std::make_unique<response_parser>(cache));
            const auto whole = parsers.back()->feed(std::string_view(bytes).substr(0, 600), rules,
                                                    {&one, nullptr, nullptr});
            ASSERT_TRUE(whole);
        }
        for (std::size_t i = 0; i < responses.size(); ++i) {
            const auto whole = parsers[i]->feed(std::string_view(bytes).substr(600), rules,
                                                {&responses[i], nullptr, nullptr});
            ASSERT_TRUE(whole && *whole);
            EXPECT_EQ(responses[i].body, text_of(3000));
        }
        parsers.clear();
    }
}

class client_compression : public client_test {
protected:
    /// What the request said it accepts; the response is compressed.
    std::string accepted(http_request request, bool streamed = false) {
        std::string seen;
        server far([&](loopback::connection& peer, int) {
            seen = peer.read_request();
            (void)peer.send(coded_response(packed("hello")));
        });
        request.origin = *client->origin(far.url());
        std::string body;
        const ports::http_body_sink sink = [&](std::string_view piece) -> result<void> {
            body += piece;
            return {};
        };
        auto outcome = streamed
                           ? test.run(client->stream(std::move(request), {}, sink, test.context()))
                           : call(std::move(request));
        EXPECT_TRUE(outcome);
        if (outcome) got = streamed ? body : outcome->body;
        const std::size_t at = seen.find("Accept-Encoding: ");
        return at == std::string::npos ? "" : seen.substr(at + 17, seen.find("\r\n", at) - at - 17);
    }
    std::string got;
};

TEST_F(client_compression, is_asked_for_as_configured) {
    make();
    http_request request;
    EXPECT_EQ(accepted(request), "");
    EXPECT_EQ(got, "hello"); // read although nobody asked
    request.compression = ports::http_compression::gzip;
    EXPECT_EQ(accepted(request), "gzip, deflate");
    EXPECT_EQ(accepted(request, true), "gzip, deflate");
    EXPECT_EQ(got, "hello");
    http_client_options options;
    options.ask_compressed = true;
    make(options);
    request.compression = ports::http_compression::client_default;
    EXPECT_EQ(accepted(request), "gzip, deflate");
    EXPECT_EQ(accepted(request, true), "");
    request.compression = ports::http_compression::none;
    EXPECT_EQ(accepted(request), "");
}

TEST_F(client_compression, a_header_of_ones_own_leaves_the_body_as_it_came) {
    make();
    http_request request;
    request.headers.push_back({"accept-encoding", "gzip;q=0.5", false});
    EXPECT_EQ(accepted(request), "");
    EXPECT_EQ(got, packed("hello"));
}

} // namespace
} // namespace heddle::http
