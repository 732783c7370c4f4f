// Errors that a service puts into a response, as every codec reads them.
#include "../provider_testing.hpp"

#include <heddle/providers/anthropic/provider.hpp>
#include <heddle/providers/gemini/provider.hpp>
#include <heddle/providers/ollama/provider.hpp>
#include <heddle/providers/openai/provider.hpp>
#include <heddle/providers/responses/provider.hpp>

#include <gtest/gtest.h>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using ports::llm_errc;

struct codec_case {
    std::string name;
    std::unique_ptr<providers::chat_codec> codec;
    std::string piece; ///< of a stream, with the text "ab"
};

template <class Options>
Options named() {
    Options options;
    options.name = "svc";
    options.api_key = secret("k-0123456789");
    return options;
}

std::vector<codec_case> all_codecs() {
    std::vector<codec_case> cases;
    cases.push_back({"openai",
                     providers::make_openai_codec(named<providers::openai::options>()).value(),
                     "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ab\"}}]}\n\n"});
    cases.push_back(
        {"responses",
         providers::make_responses_codec(named<providers::responses::options>()).value(),
         "data: {\"type\":\"response.output_text.delta\",\"delta\":\"ab\"}\n\n"});
    cases.push_back(
        {"anthropic",
         providers::make_anthropic_codec(named<providers::anthropic::options>()).value(),
         "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\","
         "\"text\":\"\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
         "{\"type\":\"text_delta\",\"text\":\"ab\"}}\n\n"});
    cases.push_back({"gemini",
                     providers::make_gemini_codec(named<providers::gemini::options>()).value(),
                     "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"ab\"}]}}]}\n\n"});
    return cases;
}

const ports::chat_response& so_far(const error& failure) {
    const auto* partial =
        dynamic_cast<const ports::partial_response*>(failure.info().payload.get());
    if (!partial) throw std::logic_error("no partial response");
    return partial->so_far;
}

TEST(reported_failure, an_error_event_may_have_its_message_at_the_top) {
    for (const codec_case& each : all_codecs()) {
        SCOPED_TRACE(each.name);
        for (const char* event :
             {"event: error\ndata: {\"message\":\"the backend is gone\"}\n\n",
              "event: error\ndata: {\"type\":\"error\",\"message\":\"the backend is gone\"}\n\n"}) {
            const auto stream = each.codec->open_stream();
            ASSERT_TRUE(stream->feed(each.piece, {}));
            const auto fed = stream->feed(event, {});
            ASSERT_FALSE(fed) << event;
            EXPECT_EQ(fed.error().message(),
                      "svc: service error (in the stream): the backend is gone");
            EXPECT_EQ(so_far(fed.error()).text, "ab");
        }
    }
}

TEST(reported_failure, a_response_that_broke_off_has_no_reason_to_end) {
    for (const codec_case& each : all_codecs()) {
        SCOPED_TRACE(each.name);
        const auto stream = each.codec->open_stream();
        ASSERT_TRUE(stream->feed(each.piece, {}));
        EXPECT_EQ(stream->so_far().finish, ports::finish_reason::unfinished);
        const auto ended = stream->finish();
        ASSERT_FALSE(ended);
        EXPECT_EQ(so_far(ended.error()).finish, ports::finish_reason::unfinished);
        EXPECT_EQ(so_far(ended.error()).text, "ab");
    }
}

TEST(reported_failure, a_whole_response_is_no_stream) {
    ports::http_response failed;
    failed.status = 200;
    failed.headers = {{"content-type", "application/json"}};
    auto responses =
        providers::make_responses_codec(named<providers::responses::options>()).value();
    failed.body =
        R"({"id":"r","status":"failed","error":{"code":"server_error","message":"boom"}})";
    EXPECT_EQ(responses->decode(failed, {}).error().message(),
              "svc: service error (in the response, server_error): boom");
    failed.body = R"({"id":"r","status":"failed"})";
    EXPECT_EQ(responses->decode(failed, {}).error().message(),
              "svc: service error (in the response)");
    auto anthropic =
        providers::make_anthropic_codec(named<providers::anthropic::options>()).value();
    failed.body = R"({"type":"error","error":{"type":"overloaded_error","message":"busy"}})";
    EXPECT_EQ(anthropic->decode(failed, {}).error().message(),
              "svc: service overloaded (in the response, overloaded_error): busy");
}

TEST(reported_failure, the_wait_is_read_from_the_text_and_named) {
    auto openai = providers::make_openai_codec(named<providers::openai::options>()).value();
    ports::http_response limited;
    limited.status = 429;
    limited.body = R"({"error":{"message":"Rate limit reached. Please try again in 1.2s.",)"
                   R"("code":"rate_limit_exceeded"}})";
    const auto reported = openai->decode(limited, {});
    EXPECT_EQ(reported.error().info().retry_after, 1'200ms);
    EXPECT_EQ(reported.error().message(),
              "svc: rate limited (HTTP 429, rate_limit_exceeded, retry after 1.2 s): "
              "Rate limit reached. Please try again in 1.2s.");
    limited.headers = {{"retry-after", "20"}}; // goes before the text
    EXPECT_EQ(openai->decode(limited, {}).error().info().retry_after, 20s);
    EXPECT_NE(openai->decode(limited, {}).error().message().find("retry after 20 s"),
              std::string::npos);
    limited.headers.clear();
    limited.status = 400; // not a matter of time
    EXPECT_FALSE(openai->decode(limited, {}).error().info().retry_after);
}

TEST(reported_failure, an_empty_error_beside_a_response_is_none) {
    for (const char* empty : {R"("")", "{}", "false", "null", "[]"}) {
        SCOPED_TRACE(empty);
        const std::string member = R"("error":)" + std::string(empty) + ",";
        const auto openai = providers::make_openai_codec({}).value();
        const auto read = [&](providers::chat_codec& codec, const std::string& rest) {
            ports::http_response received;
            received.status = 200;
            received.body = "{" + member + rest;
            const auto decoded = codec.decode(received, {});
            EXPECT_TRUE(decoded) << decoded.error().message();
            return decoded ? decoded->text : std::string();
        };
        EXPECT_EQ(read(*openai, R"("choices":[{"message":{"content":"ab"}}]})"), "ab");
        const auto responses =
            providers::make_responses_codec(named<providers::responses::options>()).value();
        EXPECT_EQ(read(*responses, R"("status":"completed","output":[{"type":"message","content":)"
                                   R"([{"type":"output_text","text":"ab"}]}]})"),
                  "ab");
        const auto ollama = providers::make_ollama_codec({}).value();
        EXPECT_EQ(read(*ollama, R"("message":{"content":"ab"},"done":true})"), "ab");
        const auto stream = openai->open_stream();
        ASSERT_TRUE(stream->feed("data: {" + member + R"("choices":[{"delta":{"content":"ab"}}]})" +
                                     "\n\ndata: [DONE]\n\n",
                                 {}));
        const auto streamed = stream->finish();
        ASSERT_TRUE(streamed);
        EXPECT_EQ(streamed->text, "ab");
    }
}

TEST(reported_failure, events_of_other_kinds_need_not_be_json) {
    for (codec_case& each : all_codecs()) {
        if (each.name != "anthropic" && each.name != "responses") continue;
        SCOPED_TRACE(each.name);
        for (const char* other : {"event: ping\ndata: hello\n\n", "event: weird\ndata: [1]\n\n"}) {
            const auto stream = each.codec->open_stream();
            ASSERT_TRUE(stream->feed(other + each.piece, {}));
            EXPECT_EQ(stream->so_far().text, "ab");
        }
        EXPECT_FALSE(each.codec->open_stream()->feed("data: hello\n\n", {})) << "it has no name";
        EXPECT_FALSE(each.codec->open_stream()->feed("event: error\ndata: hello\n\n", {}));
    }
}

TEST(streamed_responses, are_recognised_whatever_the_server_calls_them) {
    for (codec_case& each : all_codecs()) {
        ports::http_response head;
        head.status = 200;
        head.headers = {{"content-type", "Text/Event-Stream; charset=utf-8"}};
        EXPECT_TRUE(each.codec->is_stream(head)) << each.name;
    }
    const auto ollama = providers::make_ollama_codec({}).value();
    ports::http_response received;
    received.status = 200;
    received.headers = {{"content-type", "application/json"}};
    received.body =
        "{\"message\":{\"content\":\"a\"},\"done\":false}\n"
        "{\"message\":{\"content\":\"b\"},\"done\":true,\"eval_count\":2}\n";
    const auto read = ollama->decode(received, {});
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->text, "ab");
    EXPECT_EQ(read->usage.value().output, 2);
}

TEST(choices, of_which_there_are_several_are_taken_by_their_index) {
    const auto codec = providers::make_openai_codec({}).value();
    ports::http_response received;
    received.status = 200;
    received.body = R"({"choices":[{"index":1,"message":{"content":"second"}},)"
                    R"({"index":0,"message":{"content":"first"}}]})";
    const auto read = codec->decode(received, {});
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->text, "first");
}

} // namespace
} // namespace heddle::testing
