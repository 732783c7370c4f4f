// Every sample answer is read as its index says: whole, byte by byte, and cut at random.
#include "../provider_testing.hpp"

#include <heddle/providers/openai/chat_wire.hpp>

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace heddle::testing {
namespace {

namespace json = boost::json;
namespace openai = providers::openai;
using namespace std::chrono_literals;
using ports::chat_response;
using ports::llm_errc;

/// Wed, 21 Oct 2026 07:28:10 GMT: ten seconds after the date in err-429-retry-date.
const std::chrono::system_clock::time_point wall_now =
    std::chrono::sys_days(std::chrono::year(2026) / 10 / 21) + 7h + 28min + 10s;

struct sample {
    std::string name;
    ports::http_response answer;
    bool is_stream = false;
    json::object expect;
};

std::vector<sample> documented_samples() {
    const json::value index = json::parse(read_file(wire_data("response-doc/index.json")));
    std::vector<sample> samples;
    for (const json::value& entry : index.as_array()) {
        sample made;
        made.name = entry.at("file").as_string();
        made.answer.status = static_cast<int>(entry.at("status").as_int64());
        for (const auto& [name, value] : entry.at("headers").as_object()) {
            made.answer.headers.emplace_back(name, value.as_string());
        }
        made.answer.body = read_file(wire_data("response-doc/" + made.name));
        made.is_stream = made.name.ends_with(".sse");
        made.expect = entry.at("expect").as_object();
        samples.push_back(std::move(made));
    }
    return samples;
}

/// Feeds a stream in pieces that end where `next_cut` says, each a copy of its own size.
result<chat_response> read_stream(std::string_view body,
                                  const std::function<std::size_t(std::size_t at)>& next_cut) {
    openai::chat_decoder decoder{{}};
    openai::chat_stream stream(decoder);
    std::string deltas;
    const ports::chat_delta_sink sink = [&](std::string_view text) -> result<void> {
        deltas += text;
        return {};
    };
    for (std::size_t at = 0; at < body.size();) {
        const std::size_t end = std::min(body.size(), next_cut(at));
        const std::vector<char> piece(body.begin() + static_cast<std::ptrdiff_t>(at),
                                      body.begin() + static_cast<std::ptrdiff_t>(end));
        HEDDLE_CHECK(stream.feed({piece.data(), piece.size()}, sink));
        at = end;
    }
    result<chat_response> answer = stream.finish();
    if (answer) {
        EXPECT_EQ(deltas, answer->text);
    }
    return answer;
}

std::string stop_name(const chat_response& answer) { return std::string(to_string(answer.finish)); }

void expect_calls(const json::array& wanted, const chat_response& answer) {
    ASSERT_EQ(answer.tool_calls.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_EQ(answer.tool_calls[i].name, wanted[i].at("name").as_string());
        EXPECT_EQ(answer.tool_calls[i].id, wanted[i].at("id").as_string());
        EXPECT_EQ(json::parse(answer.tool_calls[i].arguments_json), wanted[i].at("arguments"));
    }
}

void expect_error(const json::object& expect, const result<chat_response>& read) {
    static const std::map<std::string, std::set<llm_errc>> kinds = {
        {"invalid tool arguments (not JSON)", {llm_errc::protocol}},
        {"no choices", {llm_errc::protocol}},
        {"not JSON", {llm_errc::protocol}},
        {"server_error", {llm_errc::server}},
        {"stream ended early", {llm_errc::connection}},
        {"invalid_request", {llm_errc::invalid_request}},
        {"authentication", {llm_errc::authentication}},
        {"permission", {llm_errc::permission}},
        {"not_found", {llm_errc::not_found}},
        {"rate_limit", {llm_errc::rate_limit}},
        {"quota", {llm_errc::quota}},
        {"server", {llm_errc::server, llm_errc::overloaded}}};
    ASSERT_FALSE(read);
    const error& failure = read.error();
    const std::string kind(expect.at("error").as_string());
    ASSERT_TRUE(kinds.contains(kind)) << kind;
    ASSERT_EQ(failure.code().category(), ports::llm_category());
    EXPECT_TRUE(kinds.at(kind).contains(static_cast<llm_errc>(failure.code().value())))
        << failure.message();
    EXPECT_EQ(failure.info().origin, error_origin::server) << failure.message();
    if (const auto* retryable = expect.if_contains("retryable")) {
        EXPECT_EQ(failure.info().retryable, retryable->as_bool()) << failure.message();
    }
    if (const auto* wait = expect.if_contains("wait_ms")) {
        ASSERT_TRUE(failure.info().retry_after);
        EXPECT_EQ(failure.info().retry_after->count(), wait->as_int64());
    }
}

void expect_read(const json::object& expect, const result<chat_response>& read) {
    if (expect.contains("error")) return expect_error(expect, read);
    ASSERT_TRUE(read) << read.error().message();
    if (const auto* text = expect.if_contains("text")) {
        EXPECT_EQ(read->text, text->as_string());
    }
    if (const auto* stop = expect.if_contains("stop")) {
        EXPECT_EQ(stop_name(*read), stop->as_string());
    }
    if (const auto* calls = expect.if_contains("tool_calls"))
        expect_calls(calls->as_array(), *read);
    if (expect.contains("refusal")) {
        EXPECT_FALSE(read->refusal.empty());
        EXPECT_EQ(read->finish, ports::finish_reason::refusal);
    }
    if (const auto* usage = expect.if_contains("usage")) {
        ASSERT_TRUE(read->usage);
        EXPECT_EQ(read->usage->input, usage->at("input").as_int64());
        EXPECT_EQ(read->usage->output, usage->at("output").as_int64());
        if (const auto* reasoning = usage->as_object().if_contains("reasoning")) {
            EXPECT_EQ(read->usage->reasoning, reasoning->as_int64());
        }
    }
}

TEST(openai_wire_response, every_documented_sample_is_read_as_its_index_says) {
    const auto samples = documented_samples();
    for (const sample& given : samples) {
        SCOPED_TRACE(given.name);
        if (!given.is_stream) {
            openai::chat_decoder decoder{{}};
            expect_read(given.expect, decoder.decode_response(given.answer, wall_now));
            continue;
        }
        const std::string& body = given.answer.body;
        expect_read(given.expect, read_stream(body, [&](std::size_t) { return body.size(); }));
        expect_read(given.expect, read_stream(body, [](std::size_t at) { return at + 1; }));
        std::mt19937 random(7);
        for (int round = 0; round < 50; ++round) {
            const std::size_t longest = 1 + random() % 400;
            expect_read(given.expect, read_stream(body, [&](std::size_t at) {
                            return at + 1 + random() % longest;
                        }));
        }
        // Cut in two at each place.
        for (std::size_t cut = 1; cut < body.size(); ++cut) {
            expect_read(given.expect, read_stream(body, [&](std::size_t at) {
                            return at < cut ? cut : body.size();
                        }));
        }
    }
    EXPECT_EQ(samples.size(), 32U);
    RecordProperty("samples", static_cast<int>(samples.size()));
}

TEST(openai_wire_response, a_decoder_can_be_used_again) {
    openai::chat_decoder decoder{{}};
    for (int round = 0; round < 3; ++round) {
        for (const sample& given : documented_samples()) {
            if (given.is_stream) continue;
            SCOPED_TRACE(given.name);
            expect_read(given.expect, decoder.decode_response(given.answer, wall_now));
        }
    }
}

TEST(openai_wire_response, every_answer_of_the_mock_is_read) {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(wire_data("response-mock"))) {
        const std::string name = entry.path().stem().string();
        SCOPED_TRACE(name);
        ++count;
        ports::http_response answer;
        answer.status = 200;
        answer.body = read_file(entry.path());
        openai::chat_decoder decoder{{}};
        if (entry.path().extension() == ".sse") {
            for (const std::size_t step : {1UL, 2UL, 7UL, 100000UL}) {
                const auto read =
                    read_stream(answer.body, [&](std::size_t at) { return at + step; });
                if (name == "stream-cut") {
                    ASSERT_FALSE(read);
                    EXPECT_EQ(read.error().code(), make_error_code(llm_errc::connection));
                    const auto kept = std::dynamic_pointer_cast<const ports::partial_response>(
                        read.error().info().payload);
                    ASSERT_TRUE(kept);
                    EXPECT_EQ(kept->so_far.text, "The loom holds the warp threads under te");
                    continue;
                }
                ASSERT_TRUE(read) << read.error().message();
                if (name == "stream") {
                    EXPECT_EQ(read->text, "The capital of France is Paris.");
                    EXPECT_EQ(read->usage.value().output, 8);
                } else if (name == "stream-unicode") {
                    EXPECT_EQ(read->text,
                              "Zażółć gęślą jaźń — 日本語 🧵 \"quoted\" \\ "
                              "back\tslash\nnew "
                              "line");
                } else if (name == "stream-tool") {
                    ASSERT_EQ(read->tool_calls.size(), 2U);
                    EXPECT_EQ(json::parse(read->tool_calls[0].arguments_json).at("unit"),
                              "celsius");
                    EXPECT_EQ(json::parse(read->tool_calls[1].arguments_json).at("tz"),
                              "Europe/Paris");
                } else if (name == "stream-text-and-tool") {
                    EXPECT_EQ(read->text, "Let me check the weather.");
                    ASSERT_EQ(read->tool_calls.size(), 1U);
                    EXPECT_EQ(stop_name(*read), "tool_calls");
                }
            }
        } else if (name.starts_with("error-") || name == "retry-after-429.1") {
            answer.status = name == "retry-after-429.1" ? 429 : std::stoi(name.substr(6));
            const auto read = decoder.decode_response(answer, wall_now);
            ASSERT_FALSE(read);
            EXPECT_EQ(read.error().info().retryable, answer.status == 429 || answer.status >= 500);
            const json::value body = json::parse(answer.body);
            EXPECT_NE(read.error().message().find(body.at("error").at("message").as_string()),
                      std::string::npos);
        } else if (name == "models-list") {
            const auto read = decoder.decode_response(answer, wall_now);
            ASSERT_FALSE(read); // a list is no answer to a chat
            EXPECT_EQ(read.error().code(), make_error_code(llm_errc::protocol));
        } else {
            const auto read = decoder.decode_response(answer, wall_now);
            ASSERT_TRUE(read) << read.error().message();
            const json::value body = json::parse(answer.body);
            const json::object& message = body.at("choices").at(0).at("message").as_object();
            const json::value& content = message.at("content");
            EXPECT_EQ(read->text, content.is_null() ? "" : content.as_string());
            EXPECT_EQ(read->id, body.at("id").as_string());
            EXPECT_EQ(stop_name(*read), body.at("choices").at(0).at("finish_reason").as_string());
            EXPECT_EQ(read->usage.value().input, body.at("usage").at("prompt_tokens").as_int64());
            const auto* calls = message.if_contains("tool_calls");
            EXPECT_EQ(read->tool_calls.size(), calls ? calls->as_array().size() : 0U);
        }
    }
    EXPECT_EQ(count, 28);
}

ports::http_response answer_of(int status, std::string body,
                               std::vector<std::pair<std::string, std::string>> headers = {}) {
    ports::http_response answer;
    answer.status = status;
    answer.headers = std::move(headers);
    answer.body = std::move(body);
    return answer;
}

error failure_of(const ports::http_response& answer, const secret* hidden = nullptr) {
    openai::decode_options options;
    options.hidden = hidden;
    openai::chat_decoder decoder(options);
    auto read = decoder.decode_response(answer, wall_now);
    EXPECT_FALSE(read);
    return read ? error(errc::internal, "no error") : std::move(read).error();
}

TEST(openai_wire_response, date_in_the_future_gives_the_wait_and_one_in_the_past_none) {
    const std::string body = read_file(wire_data("response-doc/err-429-retry-date.json"));
    const auto wait = [&](const char* date) {
        return failure_of(answer_of(429, body, {{"retry-after", date}})).info().retry_after;
    };
    EXPECT_EQ(wait("Wed, 21 Oct 2026 07:28:40 GMT"), 30s);
    EXPECT_EQ(wait("Wed, 21 Oct 2026 07:28:00 GMT"), 0ms);
    EXPECT_EQ(wait("next week"), std::nullopt);
}

TEST(openai_wire_response, x_should_retry_decides_except_where_nothing_helps) {
    const auto retryable = [](int status, const char* says, const char* code = "") {
        const std::string body = std::string(R"({"error":{"message":"m","code":")") + code + "\"}}";
        return failure_of(answer_of(status, body, {{"x-should-retry", says}})).info().retryable;
    };
    EXPECT_EQ(retryable(500, "false"), false);
    EXPECT_EQ(retryable(404, "true"), true);
    EXPECT_EQ(retryable(400, "true"), false);
    EXPECT_EQ(retryable(401, "true"), false);
    EXPECT_EQ(retryable(429, "true", "insufficient_quota"), false);
    EXPECT_EQ(retryable(529, "maybe"), true);
}

TEST(openai_wire_response, keys_that_the_server_repeats_are_not_shown) {
    const secret key("my-very-own-key-of-no-known-shape");
    const std::string own(key.reveal());
    const std::string other = "sk-proj-AbCdEfGhIjKlMnOpQrStUvWx";
    const auto shows = [&](const std::string& body, int status = 401) {
        const error failure = failure_of(
            answer_of(status, body, {{"x-request-id", own}, {"content-type", "text/plain"}}), &key);
        std::string all = failure.message() + failure.info().hint;
        return all.find(own) != std::string::npos || all.find("of-no-known") != std::string::npos ||
               all.find("AbCdEfGh") != std::string::npos;
    };
    EXPECT_FALSE(shows(R"({"error":{"message":"Incorrect API key provided: )" + own + "\"}}"));
    EXPECT_FALSE(
        shows(R"({"error":{"message":"key )" + other + R"( is wrong","code":")" + own + "\"}}"));
    EXPECT_FALSE(shows("plain text with " + own + " and " + other));
    EXPECT_FALSE(shows("<title>" + own + "</title>", 502));
    EXPECT_FALSE(shows(std::string(280, 'x') + own)); // the cut must not leave a part of it
    EXPECT_FALSE(shows("not json " + own, 200));
    EXPECT_FALSE(shows(std::string(5285, ' ') + own + std::string(5000, ' ')));
    EXPECT_FALSE(shows(std::string(5275, ' ') + own + std::string(5000, ' ')));
}

TEST(openai_wire_response, texts_of_the_server_are_one_bounded_line) {
    const error failure = failure_of(answer_of(
        500, R"({"error":{"message":"a\n\u001b[31mb\r\n)" + std::string(100000, 'y') + "\"}}"));
    EXPECT_LT(failure.message().size(), 500U);
    EXPECT_EQ(failure.message().find('\n'), std::string::npos);
    EXPECT_EQ(failure.message().find('\x1b'), std::string::npos);
}

TEST(openai_wire_response, shapes_of_errors_that_other_servers_use) {
    EXPECT_NE(failure_of(answer_of(404, R"({"error":"model 'x' not found"})"))
                  .message()
                  .find("not found"),
              std::string::npos);
    EXPECT_NE(failure_of(answer_of(400, R"({"object":"error","message":"too long","code":400})"))
                  .message()
                  .find("too long"),
              std::string::npos);
    EXPECT_NE(failure_of(answer_of(422, R"({"detail":"bad field"})")).message().find("bad field"),
              std::string::npos);
    const error routed =
        failure_of(answer_of(200, R"({"error":{"code":502,"message":"behind us"}})"));
    EXPECT_EQ(routed.code(), make_error_code(llm_errc::server));
    EXPECT_EQ(routed.info().retryable, true);
}

TEST(openai_wire_response, hostile_answers_end_in_an_error) {
    const std::string deep(100000, '[');
    EXPECT_EQ(failure_of(answer_of(200, deep)).code(), make_error_code(llm_errc::protocol));
    for (const char* body :
         {"", "null", "[]", "{}", R"({"choices":{}})", R"({"choices":[1]})", R"({"choices":[{}]})",
          R"({"choices":[{"message":3}]})", R"({"choices":[{"message":{"tool_calls":[4]}}]})",
          "\xff\xfe", "{\"a\":\"\xff\"}"}) {
        EXPECT_EQ(failure_of(answer_of(200, body)).code(), make_error_code(llm_errc::protocol))
            << body;
    }
    std::string many = R"({"choices":[{"message":{"tool_calls":[)";
    for (int i = 0; i < 1000; ++i)
        many += R"({"id":"x","function":{"name":"f","arguments":"{}"}},)";
    many.pop_back();
    many += "]}}]}";
    EXPECT_EQ(failure_of(answer_of(200, many)).code(), make_error_code(llm_errc::protocol));
}

TEST(openai_wire_response, content_in_parts_and_arguments_as_objects_are_taken) {
    openai::chat_decoder decoder{{}};
    const auto read = decoder.decode_response(
        answer_of(200, R"({"choices":[{"message":{"content":[{"type":"text","text":"a"},
            {"type":"image"},{"type":"text","text":"b"}],"tool_calls":[{"id":"1","function":
            {"name":"f","arguments":{"x":1}}},{"id":"2","function":{"name":"g","arguments":""}}]},
            "finish_reason":"tool_calls"}]})"),
        wall_now);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->text, "ab");
    EXPECT_EQ(read->tool_calls[0].arguments_json, R"({"x":1})");
    EXPECT_EQ(read->tool_calls[1].arguments_json, "{}");
}

TEST(openai_wire_response, http_errors_become_errors_of_the_model) {
    using ports::http_errc;
    const auto mapped = [](http_errc code) {
        return openai::from_http_error(error(ports::make_error_code(code), "x"), "openai");
    };
    EXPECT_EQ(mapped(http_errc::connection_reset).code(), make_error_code(llm_errc::connection));
    EXPECT_EQ(mapped(http_errc::connection_reset).info().retryable, true);
    EXPECT_EQ(mapped(http_errc::idle_timeout).code(), make_error_code(llm_errc::request_timeout));
    EXPECT_EQ(mapped(http_errc::body_too_large).code(), make_error_code(llm_errc::protocol));
    EXPECT_EQ(mapped(http_errc::body_too_large).info().retryable, false);
    EXPECT_EQ(mapped(http_errc::tls_failed).info().retryable, false);
    EXPECT_EQ(mapped(http_errc::invalid_url).code(), make_error_code(llm_errc::configuration));
    const error gone = openai::from_http_error(error::cancelled(cancel_reason::user), "openai");
    EXPECT_TRUE(gone.is_cancelled());
}

} // namespace
} // namespace heddle::testing
