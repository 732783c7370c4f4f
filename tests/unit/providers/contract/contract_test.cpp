// What every provider keeps, whatever the service behind it.
#include "adapters.hpp"

#include <gtest/gtest.h>
#include <boost/asio/steady_timer.hpp>
#include <hang_guard.hpp>

#include <chrono>

namespace heddle::testing {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using coro::clock;
using ports::chat_request;
using ports::chat_response;
using ports::chat_role;
using ports::finish_reason;
using ports::llm_errc;

class contract : public ::testing::TestWithParam<adapter> {
protected:
    void start(std::string_view rules, unsigned retries = 0) {
        run = GetParam().start(rules, retries);
    }
    void TearDown() override {
        if (run) run->finish();
    }

    static const adapter_traits& traits() { return GetParam().traits; }

    result<chat_response> complete(const chat_request& request,
                                   coro::cancel_source* cancel = nullptr,
                                   coro::deadline until = {}) {
        return run->on.run(run->port().complete(request, run->on.context(cancel, until)));
    }
    result<chat_response> stream(const chat_request& request, ports::chat_delta_sink sink,
                                 coro::cancel_source* cancel = nullptr) {
        return run->on.run(run->port().stream(request, std::move(sink), run->on.context(cancel)));
    }

    std::unique_ptr<adapter_run> run;
};

/// Asks for cancellation after a while.
class cancel_later {
public:
    cancel_later(test_loop& on, coro::cancel_source& source, std::chrono::milliseconds time)
        : timer_(on.io, time) {
        timer_.async_wait(
            [&source](boost::system::error_code) { source.request(cancel_reason::user); });
    }

private:
    boost::asio::steady_timer timer_;
};

TEST_P(contract, plain_question_gets_its_answer) {
    start(
        R"json({"rules":[{"match":"capital of (\\w+)","template":"Paris is in {{1}}. \"ż\" \u0001\n"}]})json");
    const auto response = complete(user_request("the capital of France?", "m-1"));
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->text, "Paris is in France. \"ż\" \x01\n");
    EXPECT_EQ(response->model, "m-1");
    EXPECT_EQ(response->finish, finish_reason::stop);
    EXPECT_EQ(response->attempts, 1U);
    ASSERT_TRUE(response->usage);
    EXPECT_EQ(response->usage->input, 6);
    EXPECT_EQ(response->id.empty(), !traits().gives_ids);
}

TEST_P(contract, system_text_and_earlier_turns_reach_the_model) {
    start(
        R"json({"rules":[{"match":{"system":"terse","prompt":"name is (\\w+)","user":"^who"},"template":"{{1}}"}]})json");
    chat_request request = user_request("My name is Ada.");
    request.messages.insert(request.messages.begin(), {chat_role::system, "Be terse.", {}, {}, {}});
    request.messages.push_back({chat_role::assistant, "Hello Ada.", {}, {}, {}});
    request.messages.push_back({chat_role::user, "who am I?", {}, {}, {}});
    const auto response = complete(request);
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->text, "Ada");
}

TEST_P(contract, responses_by_schema_are_json) {
    start(
        R"json({"rules":[{"match":"(\\w+), (\\d+)","json":{"name":"{{1}}","age":"{{2}}"}}]})json");
    chat_request request = user_request("Ada, 36");
    request.format = {
        ports::response_format::kind::json_schema, "person",
        R"json({"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},
                          "required":["name","age"],"additionalProperties":false})json",
        true};
    const auto response = complete(request);
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(json::parse(response->text), (json::value{{"name", "Ada"}, {"age", 36}}));
}

TEST_P(contract, tools_are_called_and_their_results_go_back) {
    start(R"json({"rules":[
        {"match":{"tool":"(\\d+) degrees"},"template":"It is {{1}}."},
        {"match":"in (\\w+) and (\\w+)","text":"Let me see.","tool_calls":[
            {"name":"weather","arguments":{"city":"{{1}}"}}, {"name":"weather","arguments":{"city":"{{2}}"}}]}]})json");
    chat_request request = user_request("weather in Oslo and Rome?");
    request.tools.push_back({"weather", "of a city", R"json({"type":"object"})json", true});
    const auto called = complete(request);
    ASSERT_TRUE(called) << called.error().message();
    EXPECT_EQ(called->finish, finish_reason::tool_calls);
    EXPECT_EQ(called->text, "Let me see.");
    ASSERT_EQ(called->tool_calls.size(), 2U);
    EXPECT_EQ(called->tool_calls[1].arguments_json, R"json({"city":"Rome"})json");
    EXPECT_NE(called->tool_calls[0].id, called->tool_calls[1].id);
    request.messages.push_back({chat_role::assistant, called->text, called->tool_calls, {}, {}});
    for (const auto& call : called->tool_calls) {
        request.messages.push_back({chat_role::tool, "18 degrees", {}, call.id, call.name});
    }
    const auto response = complete(request);
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->text, "It is 18.");
}

TEST_P(contract, ends_and_refusals_are_reported) {
    start(
        R"json({"rules":[{"match":"l","text":"cut","finish":"length"},{"match":"f","text":"","finish":"content_filter"},
        {"match":"r","refusal":"No."}]})json");
    EXPECT_EQ(complete(user_request("l"))->finish, finish_reason::length);
    const auto refused = complete(user_request("r"));
    ASSERT_TRUE(refused);
    if (!traits().reports_refusals) {
        EXPECT_EQ(refused->text, "No.");
        return;
    }
    EXPECT_EQ(refused->refusal, "No.");
    EXPECT_EQ(refused->text, "");
    EXPECT_EQ(refused->finish,
              traits().refusal_is_filter ? finish_reason::content_filter : finish_reason::refusal);
    EXPECT_EQ(complete(user_request("f"))->finish,
              traits().filter_is_refusal ? finish_reason::refusal : finish_reason::content_filter);
}

TEST_P(contract, errors_have_their_kind_and_whether_they_pass) {
    start(R"json({"rules":[
        {"match":"400","error":{"status":400,"message":"bad"}}, {"match":"401","error":{"status":401}},
        {"match":"403","error":{"status":403}}, {"match":"404","error":{"status":404}},
        {"match":"408","error":{"status":408}}, {"match":"409","error":{"status":409}},
        {"match":"quota","error":{"status":429,"code":"insufficient_quota"}},
        {"match":"429","error":{"status":429,"retry_after":1.5}}, {"match":"500","error":{"status":500}},
        {"match":"529","error":{"status":529}}]})json");
    struct expectation {
        const char* prompt;
        llm_errc kind;
        bool retryable;
    };
    for (const auto& [prompt, kind, retryable] :
         {expectation{"400", llm_errc::invalid_request, false},
          {"401", llm_errc::authentication, false},
          {"403", llm_errc::permission, false},
          {"404", llm_errc::not_found, false},
          {"408", llm_errc::request_timeout, true},
          {"409", llm_errc::conflict, true},
          {"quota", llm_errc::quota, false},
          {"429", llm_errc::rate_limit, true},
          {"500", llm_errc::server, true},
          {"529", llm_errc::overloaded, true}}) {
        SCOPED_TRACE(prompt);
        if (kind == llm_errc::quota && !traits().reports_quota) continue;
        const auto response = complete(user_request(prompt));
        ASSERT_FALSE(response);
        EXPECT_EQ(response.error().code(), make_error_code(kind)) << response.error().message();
        EXPECT_EQ(response.error().info().retryable, retryable);
        EXPECT_EQ(response.error().info().origin, error_origin::server);
        EXPECT_TRUE(response.error().message().starts_with("model: "))
            << response.error().message();
        if (kind == llm_errc::rate_limit) {
            EXPECT_EQ(response.error().info().retry_after, 1500ms);
        }
    }
    const auto unmatched = complete(user_request("something else"));
    ASSERT_FALSE(unmatched);
    EXPECT_NE(unmatched.error().message().find(
                  "no rule of rules.json matches the prompt that begins \"something"),
              std::string::npos)
        << unmatched.error().message();
}

TEST_P(contract, passing_errors_are_retried_and_lasting_ones_not) {
    start(R"json({"rules":[{"match":"twice","text":"ok","error":{"status":503,"times":2}},
        {"match":"never","text":"ok","error":{"status":400,"times":1}},
        {"match":"quota","text":"ok","error":{"status":429,"code":"insufficient_quota","times":1}}]})json",
          2);
    const auto response = complete(user_request("twice"));
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->attempts, 3U);
    EXPECT_FALSE(complete(user_request("never")));
    EXPECT_EQ(complete(user_request("never"))->attempts, 1U);
    if (traits().reports_quota) {
        EXPECT_FALSE(complete(user_request("quota")));
    }
}

TEST_P(contract, a_crowded_service_is_asked_again_whole_and_streamed) {
    start(R"json({"rules":[
        {"match":"limit","text":"ok","error":{"status":429,"retry_after":0.002,"times":2}},
        {"match":"crowd","text":"ok then","error":{"status":529,"times":2}}]})json",
          2);
    const auto limited = complete(user_request("limit"));
    ASSERT_TRUE(limited) << limited.error().message();
    EXPECT_EQ(limited->attempts, 3U);
    std::string pieces;
    const auto crowded = stream(user_request("crowd"), [&](std::string_view text) -> result<void> {
        pieces += text;
        return {};
    });
    ASSERT_TRUE(crowded) << crowded.error().message();
    EXPECT_EQ(crowded->attempts, 3U);
    EXPECT_EQ(pieces, "ok then");
}

TEST_P(contract, retries_keep_to_the_deadline) {
    start(R"json({"default":{"error":{"status":429,"retry_after":1000}}})json", 3);
    const coro::deadline until(clock::now() + hang_guard::far_beyond);
    const auto response = complete(user_request("x"), nullptr, until);
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code(),
              make_error_code(llm_errc::rate_limit)); // reported at once, not after the wait
}

TEST_P(contract, cancellation_ends_a_call_in_its_delay) {
    start(R"json({"default":{"text":"late","delay_ms":600000}})json");
    coro::cancel_source cancel;
    const cancel_later later(run->on, cancel, 20ms);
    const auto response = complete(user_request("x"), &cancel);
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().cancelled_because(), cancel_reason::user);
}

TEST_P(contract, cancellation_ends_the_wait_for_a_retry) {
    start(R"json({"default":{"error":{"status":429,"retry_after":60}}})json", 3);
    coro::cancel_source cancel;
    const cancel_later later(run->on, cancel, 20ms);
    const auto response = complete(user_request("x"), &cancel);
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().cancelled_because(), cancel_reason::user);
}

TEST_P(contract, cancelled_before_it_begins) {
    start(R"json({"default":{"text":"x"}})json");
    coro::cancel_source cancel;
    cancel.request(cancel_reason::sibling);
    const auto response = complete(user_request("x"), &cancel);
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().cancelled_because(), cancel_reason::sibling);
    const auto late = complete(user_request("x"), nullptr, coro::deadline(clock::now() - 1ms));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().cancelled_because(), cancel_reason::deadline);
}

TEST_P(contract, deadline_ends_a_slow_call) {
    start(R"json({"default":{"text":"late","delay_ms":600000}})json");
    const auto response = complete(user_request("x"), nullptr, coro::deadline(clock::now() + 30ms));
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().cancelled_because(), cancel_reason::deadline);
}

TEST_P(contract, streamed_pieces_join_to_the_response) {
    start(
        R"json({"default":{"text":"The loom holds the warp threads under tension, and the weft — 日本語 — goes through.",
        "piece_ms":2}})json");
    std::string joined;
    int pieces = 0;
    const auto response = stream(user_request("x"), [&](std::string_view text) -> result<void> {
        joined += text;
        ++pieces;
        return {};
    });
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(joined, response->text);
    EXPECT_GT(pieces, 3);
    EXPECT_TRUE(response->usage);
}

TEST_P(contract, streams_carry_calls_refusals_and_errors_too) {
    start(
        R"json({"rules":[{"match":"call","tool_calls":[{"id":"a","name":"f","arguments":{"x":1}},{"id":"b","name":"g"}]},
        {"match":"no","refusal":"I will not do that for anybody."},
        {"match":"busy","text":"ok now","error":{"status":503,"times":1}}, {"match":"bad","error":{"status":400}}]})json",
        1);
    const auto called = stream(user_request("call"), nullptr);
    ASSERT_TRUE(called) << called.error().message();
    ASSERT_EQ(called->tool_calls.size(), 2U);
    EXPECT_EQ(called->tool_calls[0].arguments_json, R"json({"x":1})json");
    EXPECT_EQ(called->tool_calls[1].name, "g");
    EXPECT_EQ(called->finish, finish_reason::tool_calls);
    const auto refused = stream(user_request("no"), nullptr);
    ASSERT_TRUE(refused) << refused.error().message();
    EXPECT_EQ(traits().reports_refusals ? refused->refusal : refused->text,
              "I will not do that for anybody.");
    const auto retried = stream(user_request("busy"), nullptr);
    ASSERT_TRUE(retried) << retried.error().message();
    EXPECT_EQ(retried->attempts, 2U);
    const auto failed = stream(user_request("bad"), nullptr);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code(), make_error_code(llm_errc::invalid_request));
}

TEST_P(contract, the_receiver_of_a_stream_can_end_it) {
    start(
        R"json({"default":{"text":"one two three four five six seven eight nine ten","piece_ms":1}})json",
        3);
    int pieces = 0;
    const auto response = stream(user_request("x"), [&](std::string_view) -> result<void> {
        ++pieces;
        return error(errc::limit_exceeded, "enough");
    });
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code(), make_error_code(errc::limit_exceeded));
    EXPECT_EQ(response.error().message(), "enough");
    EXPECT_EQ(pieces, 1); // and no second try
}

TEST_P(contract, cancellation_ends_a_stream_between_its_pieces) {
    start(
        R"json({"default":{"text":"one two three four five six seven eight nine ten","piece_ms":30000}})json");
    coro::cancel_source cancel;
    const auto response = stream(
        user_request("x"),
        [&](std::string_view) -> result<void> {
            cancel.request(cancel_reason::user);
            return {};
        },
        &cancel);
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().cancelled_because(), cancel_reason::user);
}

INSTANTIATE_TEST_SUITE_P(providers, contract, ::testing::ValuesIn(all_adapters()),
                         [](const auto& one) { return one.param.name; });

/// The ways to the same rules differ in nothing that a caller sees, where the format can say all.
TEST(contract_of_the_front_ends, responses_are_identical) {
    constexpr std::string_view rules = R"json({"seed":9,"rules":[
        {"match":"(?s)^sum (?P<text>.*)$","json":{"n":"{{words}}","all":"{{all:\\w+}}","h":"{{hash}}"}},
        {"match":"chance","text":"lucky","error":{"status":500,"message":"unlucky","probability":0.5}},
        {"match":"call","text":"ok","tool_calls":[{"name":"f","arguments":{"p":"{{user}}"}}]},
        {"match":"wait","text":"w","error":{"status":429,"code":"c","type":"t","retry_after":2}}]})json";
    const auto describe = [](const result<chat_response>& response) {
        if (!response) {
            const auto& info = response.error().info();
            return response.error().message() + "|" + info.code.message() + "|" +
                   std::to_string(info.retry_after.value_or(0ms).count()) +
                   (info.retryable.value_or(false) ? "r" : "");
        }
        std::string text = response->id + "|" + response->model + "|" + response->text + "|" +
                           response->refusal + "|";
        for (const auto& call : response->tool_calls)
            text += call.id + call.name + call.arguments_json;
        text += std::string(to_string(response->finish)) + std::to_string(response->usage->input) +
                "," + std::to_string(response->usage->output);
        return text;
    };
    std::vector<std::vector<std::string>> seen;
    for (const adapter& one : all_adapters()) {
        if (!one.traits.keeps_everything) continue;
        auto run = one.start(rules, 0);
        auto& responses = seen.emplace_back();
        for (int round = 0; round < 20; ++round) {
            for (const char* prompt :
                 {"sum a b \"c\"\nd\te", "chance", "call żółw", "wait", "none of them"}) {
                const chat_request request = user_request(prompt);
                responses.push_back(
                    describe(run->on.run(run->port().complete(request, run->on.context()))));
                std::string pieces;
                const ports::chat_delta_sink sink = [&](std::string_view text) -> result<void> {
                    pieces += text; // where it is cut may differ: what could begin a key waits
                    return {};
                };
                responses.push_back(
                    describe(run->on.run(run->port().stream(request, sink, run->on.context()))));
                responses.push_back(pieces);
            }
        }
        run->finish();
    }
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen[0], seen[1]);
    EXPECT_EQ(seen[0], seen[2]);
    EXPECT_EQ(seen[0].size(), 300U);
}

} // namespace
} // namespace heddle::testing
