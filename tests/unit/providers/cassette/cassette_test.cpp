#include <heddle/providers/cassette/cassette.hpp>

#include "../provider_testing.hpp"

#include <gmock/gmock.h>
#include <hard_numbers.hpp>

namespace heddle::providers {
namespace {

using coro::call_context;
using coro::task;
using ports::chat_request;
using ports::chat_response;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns what was prepared, in order.
class listed_model final : public ports::llm_port {
public:
    std::string_view provider_name() const noexcept override { return "listed"; }
    task<result<chat_response>> complete(const chat_request&, call_context) override {
        co_return take();
    }
    task<result<chat_response>> stream(const chat_request&, ports::chat_delta_sink on_delta,
                                       call_context) override {
        for (const std::string& piece : pieces) (void)on_delta(piece);
        co_return take();
    }
    std::deque<result<chat_response>> responses;
    std::vector<std::string> pieces;

private:
    result<chat_response> take() {
        auto next = std::move(responses.front());
        responses.pop_front();
        return next;
    }
};

chat_response response_with(std::string text) {
    chat_response response;
    response.id = "id-1";
    response.model = "m-1";
    response.text = std::move(text);
    response.usage = ports::token_usage{.input = 12, .output = 3, .cached = 4};
    return response;
}

class cassette_test : public ::testing::Test {
protected:
    result<chat_response> ask(ports::llm_port& port, const chat_request& request) {
        return loop.run(port.complete(request, loop.context()));
    }
    result<chat_response> stream(ports::llm_port& port, const chat_request& request) {
        heard.clear();
        const ports::chat_delta_sink sink = [this](std::string_view piece) {
            heard.emplace_back(piece);
            return result<void>();
        };
        return loop.run(port.stream(request, sink, loop.context()));
    }
    std::unique_ptr<cassette_player> play(cassette_matching how = cassette_matching::strict) {
        auto opened = cassette_player::open("calls.jsonl", tape, how);
        EXPECT_TRUE(opened) << opened.error().message();
        return *std::move(opened);
    }

    testing::test_loop loop;
    listed_model model;
    std::string tape;
    cassette_recorder recorder{[this](std::string_view line) {
                                   tape += line;
                                   return result<void>();
                               },
                               "listed:m-1",
                               {secret("sk-very-secret"), secret("")}};
    std::unique_ptr<ports::llm_port> recording = recorder.record(model);
    std::vector<std::string> heard;
};

TEST_F(cassette_test, what_calls_have_cost_comes_back) {
    chat_response paid = response_with("a");
    paid.usage->output_reported = false;
    paid.attempts = 3;
    paid.lost = {{"elsewhere", "m", ports::token_usage{7, 0}, 5}, {}};
    model.responses.emplace_back(paid);
    chat_response part = ports::begun_response();
    part.text = "half";
    model.responses.emplace_back(
        ports::with_lost(error(ports::make_error_code(ports::llm_errc::server), "broken")
                             .with_attempts(2)
                             .with_payload(std::make_shared<ports::partial_response>(part)),
                         {{}}));
    model.responses.emplace_back(ports::between_attempts(
        error(ports::make_error_code(ports::llm_errc::server), "between"), {{}, {}}, 2));
    model.responses.emplace_back(ports::with_received(
        error(ports::make_error_code(ports::llm_errc::connection), "cut off"), 40));
    const chat_request request = testing::user_request("q");
    for (int i = 0; i < 4; ++i) (void)ask(*recording, request);
    const auto player = play();
    const auto playing = player->play("listed");
    ports::llm_port& port = *playing;
    const auto first = ask(port, request).value();
    EXPECT_EQ(first.attempts, 3U);
    EXPECT_TRUE(first.usage->input_reported);
    EXPECT_FALSE(first.usage->output_reported);
    ASSERT_EQ(first.lost.size(), 2U);
    EXPECT_EQ(first.lost[0].provider, "elsewhere");
    EXPECT_EQ(first.lost[0].usage.value().input, 7);
    EXPECT_EQ(first.lost[0].received, 5U);
    EXPECT_FALSE(first.lost[1].usage);
    const error second = ask(port, request).error();
    EXPECT_EQ(ports::attempts_of(second), 2U);
    EXPECT_EQ(ports::lost_with(second).size(), 1U);
    ASSERT_TRUE(ports::part_of(second));
    EXPECT_EQ(ports::part_of(second)->text, "half");
    const error third = ask(port, request).error();
    EXPECT_TRUE(ports::is_unpaid(third));
    EXPECT_EQ(ports::lost_with(third).size(), 2U);
    std::vector<ports::lost_request> fourth;
    ports::add_lost(fourth, ask(port, request).error());
    ASSERT_EQ(fourth.size(), 1U);
    EXPECT_EQ(fourth[0].received, 40U);
}

TEST_F(cassette_test, plays_back_responses_with_all_their_parts) {
    chat_response full = response_with("two\nlines \xc3\xa9");
    full.tool_calls.push_back({"c1", "look", R"({"a":1})", "sig"});
    full.reasoning.push_back({"because", "signed", ""});
    full.finish = ports::finish_reason::tool_calls;
    model.responses.push_back(full);
    (void)ask(*recording, testing::user_request("q"));

    const auto player = play();
    EXPECT_THAT(player->providers(), ElementsAre("listed"));
    EXPECT_EQ(player->default_model(), "listed:m-1");
    const auto port = player->play("listed");
    const auto played = ask(*port, testing::user_request("q")).value();
    EXPECT_EQ(played.id, "id-1");
    EXPECT_EQ(played.text, full.text);
    ASSERT_EQ(played.tool_calls.size(), 1U);
    EXPECT_EQ(played.tool_calls[0].arguments_json, R"({"a":1})");
    EXPECT_EQ(played.tool_calls[0].signature, "sig");
    ASSERT_EQ(played.reasoning.size(), 1U);
    EXPECT_EQ(played.reasoning[0].signature, "signed");
    EXPECT_EQ(played.finish, ports::finish_reason::tool_calls);
    EXPECT_EQ(played.usage->input, 12);
    EXPECT_EQ(played.usage->cached, 4);
    EXPECT_EQ(player->unplayed(), 0U);
}

TEST_F(cassette_test, plays_equal_calls_in_their_order_and_no_more_often) {
    model.responses.push_back(response_with("one"));
    model.responses.push_back(response_with("two"));
    (void)ask(*recording, testing::user_request("q"));
    (void)ask(*recording, testing::user_request("q"));
    const auto player = play();
    const auto port = player->play("listed");
    EXPECT_EQ(ask(*port, testing::user_request("q")).value().text, "one");
    EXPECT_EQ(player->unplayed(), 1U);
    EXPECT_EQ(ask(*port, testing::user_request("q")).value().text, "two");
    const auto third = ask(*port, testing::user_request("q"));
    ASSERT_FALSE(third);
    EXPECT_THAT(third.error().message(), HasSubstr("not recorded so many times"));
}

TEST_F(cassette_test, plays_a_stream_in_its_pieces) {
    model.pieces = {"he", "llo ", "you"};
    model.responses.push_back(response_with("hello you"));
    (void)stream(*recording, testing::user_request("q"));
    EXPECT_THAT(heard, ElementsAre("he", "llo ", "you"));
    const auto player = play();
    const auto port = player->play("listed");
    EXPECT_EQ(stream(*port, testing::user_request("q")).value().text, "hello you");
    EXPECT_THAT(heard, ElementsAre("he", "llo ", "you"));
}

TEST_F(cassette_test, plays_errors_with_their_advice_on_retries) {
    chat_response part = response_with("half");
    model.pieces = {"half"};
    model.responses.push_back(
        error(ports::make_error_code(ports::llm_errc::rate_limit), "listed: slow down")
            .with_retryable(true)
            .with_retry_after(std::chrono::milliseconds(1500))
            .with_payload(std::make_shared<ports::partial_response>(part)));
    (void)stream(*recording, testing::user_request("q"));
    const auto player = play();
    const auto port = player->play("listed");
    const auto played = stream(*port, testing::user_request("q"));
    ASSERT_FALSE(played);
    EXPECT_EQ(played.error().code(), ports::make_error_code(ports::llm_errc::rate_limit));
    EXPECT_EQ(played.error().message(), "listed: slow down");
    EXPECT_EQ(played.error().info().retryable, true);
    EXPECT_EQ(played.error().info().retry_after, std::chrono::milliseconds(1500));
    EXPECT_THAT(heard, ElementsAre("half"));
    const auto* partial =
        dynamic_cast<const ports::partial_response*>(played.error().info().payload.get());
    ASSERT_TRUE(partial);
    EXPECT_EQ(partial->so_far.text, "half");
}

TEST_F(cassette_test, never_writes_a_key) {
    model.responses.push_back(response_with("the key is sk-very-secret."));
    (void)ask(*recording, testing::user_request("my key: sk-very-secret"));
    EXPECT_THAT(tape, Not(HasSubstr("sk-very-secret")));
    EXPECT_THAT(tape, HasSubstr("[redacted]"));
}

TEST_F(cassette_test, keeps_the_numbers_of_a_call_whose_key_is_hidden) {
    chat_request request = testing::user_request("count");
    for (const double number : testing::hard_numbers()) {
        request.temperature = number;
        model.responses.push_back(response_with("the key is sk-very-secret."));
        (void)ask(*recording, request);
    }
    EXPECT_THAT(tape, HasSubstr("[redacted]"));
    const auto player = play();
    const auto played = player->play("listed");
    for (const double number : testing::hard_numbers()) {
        request.temperature = number;
        EXPECT_TRUE(ask(*played, request)) << number;
    }
}

TEST_F(cassette_test, never_writes_a_key_that_needs_escapes) {
    const std::string key = R"(sk-SEC"RET\abc/def012)";
    tape.clear();
    cassette_recorder own{[this](std::string_view line) {
                              tape += line;
                              return result<void>();
                          },
                          "listed:m",
                          {secret(key)}};
    const auto port = own.record(model);
    chat_response echo = response_with("the key is " + key + ".");
    // A document in a text of the document: twice escaped.
    echo.tool_calls.push_back({"id", "tool", R"({"key":"sk-SEC\"RET\\abc/def012"})"});
    model.responses.push_back(echo);
    (void)ask(*port, testing::user_request("my key: " + key));
    EXPECT_THAT(tape, Not(HasSubstr("SEC")));
    EXPECT_THAT(tape, Not(HasSubstr("def012")));
    EXPECT_THAT(tape, HasSubstr("the key is [redacted]."));
    EXPECT_THAT(tape, HasSubstr("my key: [redacted]"));
    const auto played = cassette_player::open("tape", tape, cassette_matching::lenient);
    EXPECT_TRUE(played) << played.error().message();
}

TEST_F(cassette_test, a_key_that_is_an_ordinary_word_ruins_no_recording) {
    tape.clear();
    // Short ones are words; long ones may still be the name of a member.
    cassette_recorder own{[this](std::string_view line) {
                              tape += line;
                              return result<void>();
                          },
                          "listed:m",
                          {secret("role"), secret("max_output_tokens")}};
    const auto port = own.record(model);
    model.responses.push_back(response_with("the role of max_output_tokens"));
    chat_request request = testing::user_request("which role?");
    request.max_output_tokens = 10;
    (void)ask(*port, request);
    EXPECT_THAT(tape, HasSubstr("the role of [redacted]"));
    EXPECT_THAT(tape, HasSubstr("\"max_output_tokens\":10"));
    const auto player = play();
    const auto played = player->play("listed");
    EXPECT_TRUE(ask(*played, request));
}

TEST_F(cassette_test, a_missing_call_reports_where_its_messages_differ) {
    model.responses.push_back(response_with("one"));
    (void)ask(*recording, testing::user_request("which colour has the sky?", "m"));
    const auto player = play();
    const auto port = player->play("listed");
    const auto hint = [&](const chat_request& request) {
        const auto played = ask(*port, request);
        return played ? std::string("played") : played.error().info().hint;
    };
    EXPECT_THAT(hint(testing::user_request("which colour has the grass?", "m")),
                HasSubstr("differs in messages (number 1 of 1: text, from character 22)"));
    EXPECT_THAT(hint(testing::user_request("which colour has the sky?", "chat:m")),
                HasSubstr("differs in model (\"m\" recorded, \"chat:m\" now)"));
    chat_request longer = testing::user_request("which colour has the sky?", "m");
    longer.messages.push_back(longer.messages[0]);
    EXPECT_THAT(hint(longer), HasSubstr("differs in messages (1 recorded, 2 now)"));
}

TEST_F(cassette_test, strict_matching_reports_what_differs) {
    model.responses.push_back(response_with("one"));
    (void)ask(*recording, testing::user_request("q"));
    const auto player = play();
    const auto port = player->play("listed");
    chat_request other = testing::user_request("q");
    other.temperature = 0.7;
    const auto played = ask(*port, other);
    ASSERT_FALSE(played);
    EXPECT_EQ(played.error().code(), ports::make_error_code(ports::llm_errc::configuration));
    EXPECT_THAT(played.error().info().hint, HasSubstr("differs in temperature"));
}

TEST_F(cassette_test, lenient_matching_compares_messages_only) {
    model.responses.push_back(response_with("one"));
    (void)ask(*recording, testing::user_request("what  is\nthis "));
    const auto player = play(cassette_matching::lenient);
    const auto port = player->play("another");
    chat_request other = testing::user_request("what is this", "another-model");
    other.temperature = 0.7;
    EXPECT_EQ(ask(*port, other).value().text, "one");
    EXPECT_EQ(ask(*port, other).value().text, "one");
    EXPECT_FALSE(ask(*port, testing::user_request("what is that")));
}

TEST_F(cassette_test, a_sink_that_fails_ends_the_recording_not_the_calls) {
    int written = 0;
    cassette_recorder broken{[&written](std::string_view) -> result<void> {
                                 if (++written == 1) return {};
                                 return error(errc::io_error, "disk full");
                             },
                             "",
                             {}};
    const auto port = broken.record(model);
    model.responses.push_back(response_with("one"));
    model.responses.push_back(response_with("two"));
    EXPECT_TRUE(ask(*port, testing::user_request("q")));
    EXPECT_TRUE(ask(*port, testing::user_request("q")));
    ASSERT_TRUE(broken.failure());
    EXPECT_EQ(broken.failure()->message(), "disk full");
    EXPECT_EQ(written, 2);
}

TEST_F(cassette_test, ignores_a_last_line_that_is_cut_short) {
    for (const char* text : {"one", "two"}) {
        model.responses.push_back(response_with(text));
        (void)ask(*recording, testing::user_request(text));
    }
    const std::string whole = tape;
    const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
    for (std::size_t end = last + 1; end < whole.size(); ++end) {
        tape = whole.substr(0, end);
        const auto player = play();
        const bool all_there = end == whole.size() - 1; // only the line end is missing
        EXPECT_EQ(player->size(), all_there ? 2U : 1U);
        EXPECT_EQ(player->warning(),
                  all_there ? "" : "calls.jsonl:3: the last line is cut short and is ignored");
        EXPECT_EQ(ask(*player->play("listed"), testing::user_request("one"))->text, "one");
    }
}

TEST_F(cassette_test, a_look_that_finds_nothing_kept_is_no_call) {
    chat_request request = testing::user_request("q");
    request.scheduling.cache = ports::cache_use::kept;
    model.responses.emplace_back(
        error(ports::make_error_code(ports::llm_errc::not_found), "nothing is kept"));
    EXPECT_FALSE(ask(*recording, request));
    request.scheduling.cache = ports::cache_use::shared;
    model.responses.push_back(response_with("paid"));
    EXPECT_TRUE(ask(*recording, request));
    EXPECT_EQ(recorder.recorded(), 1U);
    const auto player = play();
    EXPECT_EQ(ask(*player->play("listed"), request)->text, "paid");
}

TEST_F(cassette_test, names_the_line_that_cannot_be_read) {
    const auto opened = [](std::string text) {
        return cassette_player::open("calls.jsonl", std::move(text), cassette_matching::strict);
    };
    const std::string header = "{\"heddle_cassette\":1}\n";
    EXPECT_TRUE(opened(header));
    EXPECT_THAT(opened("").error().message(), HasSubstr("empty"));
    EXPECT_THAT(opened("{}\n").error().message(), HasSubstr("calls.jsonl:1:"));
    EXPECT_THAT(opened("{\"heddle_cassette\":2}\n").error().message(), HasSubstr("version"));
    EXPECT_THAT(opened(header + "{\"provider\":\"p\"\n").error().message(),
                HasSubstr("calls.jsonl:2: it is not JSON"));
    EXPECT_THAT(opened(header + "{\"provider\":\"p\",\"request\":{}}\n").error().message(),
                HasSubstr("neither a response nor an error"));
    EXPECT_FALSE(opened(header + std::string(100'000, '[') + "\n"));
    EXPECT_THAT(opened(header + R"({"provider":"p","request":{},"answer":{},"pieces":[-1]})")
                    .error()
                    .message(),
                HasSubstr("pieces"));
    for (const auto& [member, name] : {std::pair{R"("text":5)", "'text'"},
                                       {R"("finish":true)", "'finish'"},
                                       {R"("tool_calls":{})", "'tool_calls'"},
                                       {R"("tool_calls":[1])", "'tool_calls'"},
                                       {R"("tool_calls":[{"arguments":{}}])", "'arguments'"},
                                       {R"("warnings":[1])", "'warnings'"},
                                       {R"("usage":7)", "'usage'"},
                                       {R"("usage":{"input":"10"})", "'input'"},
                                       {R"("usage":{"output":-5})", "'output'"},
                                       {R"("usage":{"cached":[]})", "'cached'"},
                                       {R"("attempts":"3")", "'attempts'"},
                                       {R"("lost":[{"received":"x"}])", "'received'"}}) {
        const auto wrong =
            opened(header + R"({"provider":"p","request":{},"answer":{)" + member + "}}\n");
        ASSERT_FALSE(wrong) << member;
        EXPECT_EQ(wrong.error().message(),
                  std::string("calls.jsonl:2: ") + name + " of the response has the wrong type");
    }
    EXPECT_TRUE(opened(header + R"({"provider":"p","request":{},"answer":{"text":null}})"));
    EXPECT_TRUE(
        opened(header + R"({"provider":"p","request":{},"answer":{"usage":{"output":null}}})"));
    EXPECT_THAT(
        opened(header + R"({"provider":"p","request":{},"error":{"message":5}})").error().message(),
        HasSubstr("calls.jsonl:2: 'message' of the error has the wrong type"));
}

} // namespace
} // namespace heddle::providers
