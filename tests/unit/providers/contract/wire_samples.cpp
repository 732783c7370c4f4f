#include "wire_samples.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace heddle::testing {

namespace json = boost::json;
using ports::chat_response;
using ports::finish_reason;
using ports::llm_errc;

namespace {

/// The names of the index for what can go wrong.
const std::map<std::string, std::set<llm_errc>>& error_names() {
    static const std::map<std::string, std::set<llm_errc>> names = {
        {"malformed function call", {llm_errc::protocol}},
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
        {"billing", {llm_errc::quota}},
        {"overloaded", {llm_errc::overloaded}},
        {"server", {llm_errc::server, llm_errc::overloaded}}};
    return names;
}

void expect_calls(const json::array& wanted, const chat_response& response) {
    ASSERT_EQ(response.tool_calls.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const json::object& call = wanted[i].as_object();
        EXPECT_EQ(response.tool_calls[i].name, call.at("name").as_string());
        EXPECT_EQ(json::parse(response.tool_calls[i].arguments_json), call.at("arguments"));
        // Where the service sends no id, the codec makes one that distinguishes the calls.
        EXPECT_FALSE(response.tool_calls[i].id.empty());
        if (const auto* id = call.if_contains("id")) {
            EXPECT_EQ(response.tool_calls[i].id, id->as_string());
        }
        for (std::size_t j = 0; j < i; ++j) {
            EXPECT_NE(response.tool_calls[i].id, response.tool_calls[j].id);
        }
    }
}

void expect_error(const json::object& expect, const result<chat_response>& read) {
    ASSERT_FALSE(read) << "an error was expected";
    const error failure = read.error();
    const std::string kind(expect.at("error").as_string());
    ASSERT_TRUE(error_names().contains(kind)) << kind;
    ASSERT_EQ(failure.code().category(), ports::llm_category()) << failure.message();
    EXPECT_TRUE(error_names().at(kind).contains(static_cast<llm_errc>(failure.code().value())))
        << failure.message();
    EXPECT_EQ(failure.message().find(wire_key), std::string::npos);
    if (const auto* retryable = expect.if_contains("retryable")) {
        EXPECT_EQ(failure.info().retryable, retryable->as_bool()) << failure.message();
    }
    if (const auto* wait = expect.if_contains("wait_ms")) {
        ASSERT_TRUE(failure.info().retry_after) << failure.message();
        EXPECT_EQ(failure.info().retry_after->count(), wait->as_int64());
    }
    if (kind == "stream ended early") {
        EXPECT_EQ(failure.info().retryable, true);
        EXPECT_TRUE(
            std::dynamic_pointer_cast<const ports::partial_response>(failure.info().payload))
            << "what came until then is lost";
    }
}

void expect_stop(const wire_adapter& adapter, const std::string& wanted,
                 const chat_response& response) {
    const auto other = adapter.stops.find(wanted);
    const std::string ours =
        other == adapter.stops.end() ? wanted : std::string(to_string(other->second));
    // Services that have no word for it say "stop" when tools are called.
    const bool calls = ours == "stop" && !response.tool_calls.empty();
    EXPECT_EQ(to_string(response.finish), calls ? "tool_calls" : ours);
}

void expect_usage(const wire_adapter& adapter, const json::object& wanted,
                  const chat_response& response) {
    ASSERT_TRUE(response.usage);
    const auto* reasoning = wanted.if_contains("reasoning");
    std::int64_t output = wanted.at("output").as_int64();
    if (adapter.reasoning_beside_output && reasoning) output += reasoning->as_int64();
    EXPECT_EQ(response.usage->input, wanted.at("input").as_int64());
    EXPECT_EQ(response.usage->output, output);
    if (reasoning) {
        EXPECT_EQ(response.usage->reasoning, reasoning->as_int64());
    }
}

std::string type_of(const std::filesystem::path& file) {
    if (file.extension() == ".sse") return "text/event-stream";
    if (file.extension() == ".ndjson") return "application/x-ndjson";
    return "application/json";
}

/// What the cases of the mock answer, whatever the service: one script played to all of them.
json::object said_by_the_mock(std::string_view name, int status) {
    static const json::object weather = {{"name", "get_weather"},
                                         {"arguments", {{"city", "Paris"}, {"unit", "celsius"}}}};
    static const json::object time = {{"name", "get_time"},
                                      {"arguments", {{"tz", "Europe/Paris"}}}};
    const auto holds = [name](std::string_view part) {
        return name.find(part) != std::string_view::npos;
    };
    if (status != 200) {
        return {{"retryable", status == 408 || status == 409 || status == 429 || status >= 500}};
    }
    if (holds("stream-cut")) return {{"error", "stream ended early"}};
    if (holds("filter") || holds("safety")) return {};
    if (holds("length") || holds("max-tokens")) return {{"stop", "length"}};
    if (holds("schema") && !holds("tool")) {
        return {{"json", {{"name", "Ada"}, {"age", 36}, {"tags", {"math", "code"}}}}};
    }
    if (holds("json-object") || holds("json-mode")) {
        return {{"json", {{"name", "Ada"}, {"age", 36}, {"tags", {"math", "code"}}}}};
    }
    if (holds("text-and-tool")) {
        json::object oslo = weather;
        oslo["arguments"].as_object()["city"] = "Oslo";
        return {{"text", "Let me check the weather."}, {"tool_calls", json::array{oslo}}};
    }
    if (holds("multi-turn")) {
        // heddle-check: allow words (a recorded response)
        return {{"text", "You told me that your name is Ada."}};
    }
    if (holds("two-tools-roundtrip.2")) return {{"text", "It is 18 degrees and noon in Paris."}};
    if (holds("tool-roundtrip.2")) return {{"text", "It is 18 degrees Celsius in Paris."}};
    if (holds("two-tools")) return {{"tool_calls", json::array{weather, time}}};
    if (holds("unicode")) {
        return {
            {"text",
             "Zażółć gęślą jaźń — 日本語 🧵 \"quoted\" \\ back\tslash\nnew line"}};
    }
    if (holds("retry-after-429.2")) return {{"text", "recovered after one 429"}};
    if (holds("retry-529.2")) return {{"text", "recovered after one 529"}};
    return {};
}

int status_of_mock(const std::string& name) {
    if (name.starts_with("error-")) return std::stoi(name.substr(6));
    if (name == "retry-after-429.1") return 429;
    if (name == "retry-529.1") return 529;
    return 200;
}

} // namespace

std::vector<wire_sample> documented_samples(const std::string& provider) {
    const auto folder = wire_folder(provider) / "response-doc";
    const json::value index = json::parse(read_file(folder / "index.json"));
    std::vector<wire_sample> samples;
    for (const json::value& entry : index.as_array()) {
        wire_sample sample;
        sample.name = entry.at("file").as_string();
        sample.response.status = static_cast<int>(entry.at("status").as_int64());
        for (const auto& [name, value] : entry.at("headers").as_object()) {
            sample.response.headers.emplace_back(name, value.as_string());
        }
        sample.response.body = read_file(folder / sample.name);
        sample.cut = entry.at("cut").as_bool();
        sample.expect = entry.at("expect").as_object();
        samples.push_back(std::move(sample));
    }
    return samples;
}

std::vector<wire_sample> mock_samples(const std::string& provider) {
    std::vector<wire_sample> samples;
    for (const auto& entry :
         std::filesystem::directory_iterator(wire_folder(provider) / "response-mock")) {
        wire_sample sample;
        sample.name = entry.path().filename().string();
        const std::string stem = entry.path().stem().string();
        sample.response.status = status_of_mock(stem);
        sample.response.headers = {{"content-type", type_of(entry.path())}};
        sample.response.body = read_file(entry.path());
        sample.cut = stem == "stream-cut";
        sample.expect = said_by_the_mock(stem, sample.response.status);
        samples.push_back(std::move(sample));
    }
    return samples;
}

result<chat_response> read_pieces(providers::chat_codec& codec, std::string_view body,
                                  const std::function<std::size_t(std::size_t at)>& next_cut) {
    const auto stream = codec.open_stream();
    std::string deltas;
    const ports::chat_delta_sink sink = [&](std::string_view text) -> result<void> {
        EXPECT_FALSE(text.empty());
        deltas += text;
        return {};
    };
    for (std::size_t at = 0; at < body.size();) {
        const std::size_t end = std::min(body.size(), next_cut(at));
        // A copy of the right size: reading past a piece shows under a sanitizer.
        const std::vector<char> piece(body.begin() + static_cast<std::ptrdiff_t>(at),
                                      body.begin() + static_cast<std::ptrdiff_t>(end));
        HEDDLE_CHECK(stream->feed({piece.data(), piece.size()}, sink));
        at = end;
    }
    EXPECT_EQ(stream->so_far().text, deltas);
    if (!deltas.empty()) {
        EXPECT_TRUE(stream->started());
    }
    result<chat_response> response = stream->finish();
    // A refusal takes back what was handed out, and so does a filter.
    if (response && response->refusal.empty()) {
        EXPECT_EQ(deltas, response->text);
    }
    return response;
}

void expect_as_said(const wire_adapter& adapter, const wire_sample& sample,
                    const result<chat_response>& read) {
    const json::object& expect = sample.expect;
    if (expect.contains("error")) return expect_error(expect, read);
    if (sample.response.status != 200) { // of the mock
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().info().retryable, expect.at("retryable").as_bool())
            << read.error().message();
        return;
    }
    ASSERT_TRUE(read) << read.error().message();
    if (const auto* text = expect.if_contains("text")) {
        EXPECT_EQ(read->text, text->as_string());
    }
    if (const auto* value = expect.if_contains("json")) {
        EXPECT_EQ(json::parse(read->text), *value);
    }
    if (const auto* stop = expect.if_contains("stop")) {
        expect_stop(adapter, std::string(stop->as_string()), *read);
    }
    if (const auto* calls = expect.if_contains("tool_calls")) {
        expect_calls(calls->as_array(), *read);
        EXPECT_EQ(read->finish, finish_reason::tool_calls);
    }
    if (expect.contains("refusal")) {
        EXPECT_TRUE(read->finish == finish_reason::refusal ||
                    read->finish == finish_reason::content_filter);
    }
    if (const auto* usage = expect.if_contains("usage")) {
        expect_usage(adapter, usage->as_object(), *read);
    }
}

} // namespace heddle::testing
