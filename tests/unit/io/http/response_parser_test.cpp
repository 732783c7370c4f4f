#include <heddle/http/response_parser.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace heddle::http {
namespace {

using ports::http_errc;

struct parsed {
    bool whole = false;
    bool reusable = false;
    std::optional<error> failure;
    ports::http_response response;
};

/// Parses `text` in pieces of `piece` bytes, then, when asked, the end of the stream.
parsed parse(const std::string& text, std::size_t piece, response_rules rules = {},
             bool then_end = false) {
    parser_cache cache;
    response_parser parser(cache);
    parsed out;
    const response_target target{&out.response, nullptr, nullptr};
    for (std::size_t at = 0; at < text.size(); at += piece) {
        auto fed = parser.feed(std::string_view(text).substr(at, piece), rules, target);
        if (!fed) {
            out.failure = fed.error();
            return out;
        }
        out.whole = *fed;
    }
    if (then_end && !out.whole) {
        auto end = parser.finish();
        out.whole = end && *end;
    }
    out.reusable = parser.reusable();
    return out;
}

/// The outcome must not depend on how the bytes are cut.
template <class Check>
void in_all_cuts(const std::string& text, Check check, response_rules rules = {},
                 bool then_end = false) {
    for (const std::size_t piece :
         {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, text.size()}) {
        SCOPED_TRACE(piece);
        check(parse(text, piece, rules, then_end));
    }
}

TEST(response_parser, content_length_frames_the_body_and_header_names_are_lower_case) {
    in_all_cuts(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Empty:\r\nContent-Length: 5\r\n\r\nhello",
        [](const parsed& out) {
            ASSERT_TRUE(out.whole);
            EXPECT_TRUE(out.reusable);
            EXPECT_EQ(out.response.status, 200);
            EXPECT_EQ(out.response.body, "hello");
            EXPECT_EQ(out.response.header("content-type"), "text/plain");
            EXPECT_EQ(out.response.header("x-empty"), "");
            EXPECT_EQ(out.response.header("x-none"), std::nullopt);
            EXPECT_EQ(out.response.headers.size(), 3U);
        });
}

TEST(response_parser, chunks_with_extensions_trailers_and_odd_sizes) {
    in_all_cuts(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        "5;name=value;x=\"a;b\"\r\nhello\r\n0001\r\n,\r\nA\r\n world, hi\r\n0\r\nX-Trailer: "
        "1\r\n\r\n",
        [](const parsed& out) {
            ASSERT_TRUE(out.whole);
            EXPECT_TRUE(out.reusable);
            EXPECT_EQ(out.response.body, "hello, world, hi");
            EXPECT_EQ(out.response.header("x-trailer"), std::nullopt);
        });
}

TEST(response_parser, chunked_without_the_last_chunk_is_not_whole) {
    in_all_cuts(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        [](const parsed& out) {
            EXPECT_FALSE(out.whole);
            EXPECT_FALSE(out.failure);
            EXPECT_EQ(out.response.body, "hello");
        },
        {}, true);
}

TEST(response_parser, broken_chunks_are_protocol_errors) {
    for (const char* chunk : {"x\r\n", "-1\r\nab", "5\r\nhelloXX0\r\n\r\n", "FFFFFFFFFFFFFFFFF\r\n",
                              " 5\r\nhello\r\n"}) {
        in_all_cuts(std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n") + chunk,
                    [&](const parsed& out) {
                        ASSERT_TRUE(out.failure) << chunk;
                        EXPECT_EQ(out.failure->info().retryable, false);
                    });
    }
}

TEST(response_parser, without_a_length_the_end_of_the_stream_frames_the_body) {
    in_all_cuts(
        "HTTP/1.1 200 OK\r\n\r\nall of it",
        [](const parsed& out) {
            EXPECT_TRUE(out.whole);
            EXPECT_FALSE(out.reusable);
            EXPECT_EQ(out.response.body, "all of it");
        },
        {}, true);
}

TEST(response_parser, statuses_without_body_end_with_their_head) {
    for (const char* status : {"204 No Content", "304 Not Modified"}) {
        in_all_cuts(std::string("HTTP/1.1 ") + status + "\r\nContent-Length: 10\r\n\r\n",
                    [&](const parsed& out) {
                        EXPECT_TRUE(out.whole) << status;
                        EXPECT_TRUE(out.reusable);
                        EXPECT_EQ(out.response.body, "");
                    });
    }
    response_rules head;
    head.head_request = true;
    in_all_cuts(
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
        [](const parsed& out) { EXPECT_TRUE(out.whole && out.reusable); }, head);
    in_all_cuts(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        [](const parsed& out) { EXPECT_TRUE(out.whole); }, head);
}

TEST(response_parser, interim_responses_are_skipped) {
    in_all_cuts(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        [](const parsed& out) {
            ASSERT_TRUE(out.whole);
            EXPECT_EQ(out.response.status, 200);
            EXPECT_EQ(out.response.header("link"), std::nullopt);
            EXPECT_EQ(out.response.body, "ok");
        });
}

TEST(response_parser, interim_responses_without_end_and_upgrades_are_refused) {
    std::string endless;
    for (int i = 0; i < 100; ++i) endless += "HTTP/1.1 100 Continue\r\n\r\n";
    in_all_cuts(endless, [](const parsed& out) {
        ASSERT_TRUE(out.failure);
        EXPECT_EQ(out.failure->code(), http_errc::protocol_error);
    });
    in_all_cuts("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
                [](const parsed& out) { EXPECT_TRUE(out.failure); });
}

TEST(response_parser, connection_close_and_http_1_0_are_not_reused) {
    for (const char* head :
         {"HTTP/1.1 200 OK\r\nConnection: close\r\n",
          "HTTP/1.1 200 OK\r\nConnection: Foo, Close\r\n", "HTTP/1.0 200 OK\r\n"}) {
        in_all_cuts(std::string(head) + "Content-Length: 0\r\n\r\n", [&](const parsed& out) {
            EXPECT_TRUE(out.whole) << head;
            EXPECT_FALSE(out.reusable) << head;
        });
    }
    in_all_cuts("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
                [](const parsed& out) { EXPECT_TRUE(out.reusable); });
}

TEST(response_parser, bytes_after_the_response_spoil_the_connection) {
    const auto out = parse("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK", 1000);
    EXPECT_TRUE(out.whole);
    EXPECT_FALSE(out.reusable);
    EXPECT_EQ(out.response.body, "ok");
}

TEST(response_parser, ambiguous_or_broken_heads_are_protocol_errors) {
    for (const char* head : {
             "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n",
             "HTTP/1.1 200 OK\r\nNo colon here\r\n\r\n",
             "HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n",
             "HTTP/2 200 OK\r\n\r\n",
             "HTTP/1.1 20 OK\r\n\r\n",
             "ICY 200 OK\r\n\r\n",
             "SSH-2.0-OpenSSH_9.2\r\n",
             "\x16\x03\x01\x02\x05\x01",
         }) {
        in_all_cuts(head, [&](const parsed& out) {
            ASSERT_TRUE(out.failure) << head;
            EXPECT_EQ(out.failure->code(), http_errc::protocol_error) << head;
        });
    }
}

TEST(response_parser, limits_hold_for_head_and_body_in_every_framing) {
    response_rules rules;
    rules.max_header_bytes = 200;
    rules.max_body_bytes = 10;
    const auto fails_with = [&](const std::string& text, http_errc code) {
        in_all_cuts(
            text,
            [&](const parsed& out) {
                ASSERT_TRUE(out.failure) << text.substr(0, 60);
                EXPECT_EQ(out.failure->code(), code) << text.substr(0, 60);
                EXPECT_LE(out.response.body.size(), 10U);
            },
            rules);
    };
    fails_with("HTTP/1.1 200 OK\r\nX: " + std::string(300, 'x') + "\r\n\r\n",
               http_errc::header_too_large);
    std::string many = "HTTP/1.1 200 OK\r\n";
    for (int i = 0; i < 50; ++i) many += "X-" + std::to_string(i) + ": yyyy\r\n";
    fails_with(many, http_errc::header_too_large);
    fails_with("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n12345678901",
               http_errc::body_too_large);
    fails_with("HTTP/1.1 200 OK\r\n\r\n12345678901", http_errc::body_too_large);
    fails_with(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
        "chunked\r\n\r\n6\r\n123456\r\n6\r\n123456\r\n0\r\n\r\n",
        http_errc::body_too_large);
    in_all_cuts(
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1234567890",
        [](const parsed& out) { EXPECT_TRUE(out.whole); }, rules);
}

TEST(response_parser, a_huge_announced_length_reserves_little) {
    response_rules rules;
    rules.max_body_bytes = std::size_t{1} << 50;
    const auto out =
        parse("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\nx", 1000, rules);
    EXPECT_FALSE(out.failure);
    EXPECT_LT(out.response.body.capacity(), std::size_t{1} << 20);
}

TEST(response_parser, sinks_get_the_head_first_and_may_stop_the_response) {
    parser_cache cache;
    ports::http_response response;
    std::string log;
    const ports::http_head_sink on_head = [&](const ports::http_response& head) -> result<void> {
        log += "head " + std::to_string(head.status) + ";";
        return {};
    };
    const ports::http_body_sink on_piece = [&](std::string_view piece) -> result<void> {
        log += piece;
        if (log.ends_with("stop")) return error(errc::invalid_argument, "enough");
        return {};
    };
    response_parser parser(cache);
    auto fed = parser.feed("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", {},
                           {&response, &on_head, &on_piece});
    ASSERT_TRUE(fed);
    EXPECT_EQ(log, "head 200;abc");
    fed = parser.feed("stop", {}, {&response, &on_head, &on_piece});
    ASSERT_FALSE(fed);
    EXPECT_EQ(fed.error().message(), "enough");
    EXPECT_EQ(response.body, "");
}

TEST(response_parser, storage_is_used_again) {
    parser_cache cache;
    for (int i = 0; i < 3; ++i) {
        response_parser parser(cache);
        ports::http_response response;
        const auto fed = parser.feed("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", {},
                                     {&response, nullptr, nullptr});
        ASSERT_TRUE(fed && *fed);
        EXPECT_TRUE(parser.reusable());
        EXPECT_EQ(parser.body_bytes(), 2U);
    }
}

TEST(response_parser, lines_between_chunks_are_bounded) {
    const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    response_rules rules;
    rules.max_header_bytes = 1000;
    for (const std::string& begin : {std::string(), std::string("5;x="), std::string("0\r\nX: ")}) {
        in_all_cuts(
            head + begin + std::string(3000, '0'),
            [](const parsed& out) {
                ASSERT_TRUE(out.failure);
                EXPECT_EQ(out.failure->code().category(), ports::http_category());
            },
            rules);
    }
}

TEST(response_parser, an_empty_chunked_body_in_all_cuts) {
    in_all_cuts("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                [](const parsed& out) {
                    EXPECT_TRUE(out.whole);
                    EXPECT_TRUE(out.reusable);
                });
}

TEST(response_parser, mutilated_responses_in_random_cuts_end_in_a_response_or_an_error) {
    const std::vector<std::string> seeds{
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3;x=\"y\"\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 302 x\r\nLocation: /v2\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n",
    };
    constexpr char odd_bytes[] = "\r\n\t 0:;=,-+xf\"\x00\x80\xff";
    const std::string spice(odd_bytes, sizeof odd_bytes - 1);
    std::mt19937 random(20261121);
    response_rules rules;
    rules.max_header_bytes = 200;
    rules.max_body_bytes = 100;
    int whole = 0;
    parser_cache cache;
    for (int round = 0; round < 30'000; ++round) {
        std::string text = seeds[random() % seeds.size()];
        for (auto changes = random() % 4; changes > 0 && !text.empty(); --changes) {
            const std::size_t at = random() % text.size();
            const char fresh = spice[random() % spice.size()];
            switch (random() % 4) {
            case 0: text[at] = fresh; break;
            case 1: text.insert(at, 1, fresh); break;
            case 2: text.erase(at, 1 + random() % 3); break;
            default: text.insert(at, text.substr(random() % text.size(), random() % 20)); break;
            }
        }
        response_parser parser(cache);
        ports::http_response response;
        std::size_t given = 0;
        result<bool> state = false;
        while (given < text.size() && state && !*state) {
            const std::size_t piece = std::min<std::size_t>(1 + random() % 9, text.size() - given);
            state = parser.feed(std::string_view(text).substr(given, piece), rules,
                                {&response, nullptr, nullptr});
            given += piece;
        }
        if (state && !*state) state = parser.finish();
        if (state && *state) ++whole;
        EXPECT_LE(response.body.size(), rules.max_body_bytes);
    }
    EXPECT_GT(whole, 5000);
}

} // namespace
} // namespace heddle::http
