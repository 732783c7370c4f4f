// Strings that a service has cut in the middle of a character, and bodies that are not quite UTF-8:
// every format reads them as the JSON parsers of other languages do.
#include "codec_testing.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/providers/anthropic/provider.hpp>
#include <heddle/providers/gemini/provider.hpp>
#include <heddle/providers/ollama/provider.hpp>
#include <heddle/providers/openai/provider.hpp>
#include <heddle/providers/responses/provider.hpp>

#include <functional>
#include <memory>

namespace heddle::testing {
namespace {

using strings = std::vector<std::string>; // as they are written between the quotes of JSON

const std::string r(utf8::replacement);

/// How a service sends the pieces of one string.
struct stream_shape {
    std::string begin;
    std::function<std::string(const std::string& piece)> piece;
    std::string end;
};

struct format {
    std::string name;
    std::unique_ptr<providers::chat_codec> codec;
    std::function<std::string(const std::string& text)> whole;
    stream_shape text;
    stream_shape arguments{}; ///< of a call; no piece: they come as a whole
    stream_shape thought{};
};

std::string event(const std::string& data) { return "data: " + data + "\n\n"; }

template <class Codec>
std::unique_ptr<providers::chat_codec> taken(result<Codec> outcome) {
    return std::move(outcome).value();
}

/// One that puts the piece between two texts, in an event.
std::function<std::string(const std::string&)> around(std::string before, std::string after) {
    return [before = std::move(before), after = std::move(after)](const std::string& piece) {
        return event(before + piece + after);
    };
}

format openai() {
    const std::string end =
        event(R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})") + event("[DONE]");
    const std::string delta = R"({"id":"i","model":"m","choices":[{"index":0,"delta":{)";
    return {"openai",
            taken(providers::make_openai_codec({})),
            [](const std::string& text) {
                return R"({"id":"i","model":"m","choices":[{"message":{"content":")" + text +
                       R"("},"finish_reason":"stop"}]})";
            },
            {"", around(delta + R"("content":")", R"("}}]})"), end},
            {event(delta + R"("tool_calls":[{"index":0,"id":"c","function":{"name":"f"}}]}}]})"),
             around(delta + R"("tool_calls":[{"index":0,"function":{"arguments":")", R"("}}]}}]})"),
             end},
            {"", around(delta + R"("reasoning_content":")", R"("}}]})"), end}};
}

format responses() {
    const std::string begin =
        event(R"({"type":"response.created","response":{"id":"i","model":"m"}})");
    const std::string end = event(
        R"({"type":"response.completed","response":{"id":"i","model":"m","status":"completed",)"
        R"("output":[]}})");
    return {"responses",
            taken(providers::make_responses_codec({})),
            [](const std::string& text) {
                return R"({"id":"i","model":"m","status":"completed","output":[{"type":"message",)"
                       R"("role":"assistant","content":[{"type":"output_text","text":")" +
                       text + R"("}]}]})";
            },
            {begin, around(R"({"type":"response.output_text.delta","delta":")", R"("})"), end},
            {begin + event(R"({"type":"response.output_item.added","output_index":0,"item":)"
                           R"({"type":"function_call","call_id":"c","name":"f"}})"),
             around(R"({"type":"response.function_call_arguments.delta","output_index":0,)"
                    R"("delta":")",
                    R"("})"),
             end}};
}

format anthropic() {
    const std::string begin =
        event(R"({"type":"message_start","message":{"id":"i","model":"m"}})") +
        R"(data: {"type":"content_block_start","index":0,"content_block":)";
    const std::string delta = R"({"type":"content_block_delta","index":0,"delta":{"type":")";
    const std::string end =
        event(R"({"type":"message_delta","delta":{"stop_reason":"end_turn"}})") +
        event(R"({"type":"message_stop"})");
    return {"anthropic",
            taken(providers::make_anthropic_codec({})),
            [](const std::string& text) {
                return R"({"id":"i","model":"m","stop_reason":"end_turn","content":[)"
                       R"({"type":"text","text":")" +
                       text + R"("}]})";
            },
            {begin + "{\"type\":\"text\",\"text\":\"\"}}\n\n",
             around(delta + R"(text_delta","text":")", R"("}})"), end},
            {begin + "{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":{}}}\n\n",
             around(delta + R"(input_json_delta","partial_json":")", R"("}})"), end},
            {begin + "{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n",
             around(delta + R"(thinking_delta","thinking":")", R"("}})"), end}};
}

format gemini() {
    const std::string begin = R"({"responseId":"i","candidates":[{"content":{"parts":[{"text":")";
    const std::string end = event(R"({"candidates":[{"finishReason":"STOP"}]})");
    return {"gemini",
            taken(providers::make_gemini_codec({})),
            [begin](const std::string& text) {
                return begin + text + R"("}]},"finishReason":"STOP"}]})";
            },
            {"", around(begin, R"("}]}}]})"), end},
            {},
            {"", around(begin, R"(","thought":true}]}}]})"), end}};
}

format ollama() {
    const auto line = [](std::string name) {
        return [name = std::move(name)](const std::string& piece) {
            return R"({"model":"m","message":{")" + name + R"(":")" + piece +
                   R"("},"done":false})" + "\n";
        };
    };
    const std::string end = "{\"model\":\"m\",\"done\":true,\"done_reason\":\"stop\"}\n";
    return {"ollama",
            taken(providers::make_ollama_codec({})),
            [](const std::string& text) {
                return R"({"model":"m","message":{"content":")" + text +
                       R"("},"done":true,"done_reason":"stop"})";
            },
            {"", line("content"), end},
            {},
            {"", line("thinking"), end}};
}

std::vector<format> formats() {
    std::vector<format> all;
    all.push_back(openai());
    all.push_back(responses());
    all.push_back(anthropic());
    all.push_back(gemini());
    all.push_back(ollama());
    return all;
}

std::string stream_of_pieces(const stream_shape& shape, const strings& pieces) {
    std::string body = shape.begin;
    for (const std::string& piece : pieces) body += shape.piece(piece);
    return body + shape.end;
}

/// Reads a stream in pieces of `step` bytes. What is handed out is valid, and is the text.
ports::chat_response read_stream(providers::chat_codec& codec, std::string_view body,
                                 std::size_t step) {
    const auto reader = codec.open_stream();
    std::string handed_out;
    const ports::chat_delta_sink sink = [&](std::string_view text) -> result<void> {
        EXPECT_FALSE(text.empty());
        EXPECT_TRUE(utf8::is_valid(text)) << text;
        handed_out += text;
        return {};
    };
    for (; !body.empty(); body.remove_prefix(std::min(step, body.size()))) {
        const auto fed = reader->feed(body.substr(0, step), sink);
        EXPECT_TRUE(fed) << fed.error().message();
        if (!fed) return {};
        EXPECT_EQ(reader->so_far().text, handed_out);
    }
    auto ended = reader->finish();
    EXPECT_TRUE(ended) << ended.error().message();
    if (!ended) return {};
    EXPECT_EQ(ended->text, handed_out);
    return *std::move(ended);
}

/// The same at once, without looking at each step.
ports::chat_response read_stream_unchecked(providers::chat_codec& codec, std::string_view body) {
    auto read = stream_of(codec, body);
    EXPECT_TRUE(read) << read.error().message();
    return read ? *std::move(read) : ports::chat_response();
}

struct split_case {
    strings pieces;
    std::string wanted;
};

std::vector<split_case> split_cases() {
    return {{{R"(a\ud83e)", R"(\uddf5b)"}, "a🧵b"},
            {{R"(\ud83e)", R"(\uddf5)"}, "🧵"},
            {{R"(\ud83e\uddf5)"}, "🧵"},
            {{R"(a\ud83e)", "", R"(\uddf5)"}, "a🧵"},
            {{R"(\ud83e)", R"(\uddf5\ud83e)", R"(\uddf5)"}, "🧵🧵"},
            {{R"(x\ud83e)", "y"}, "x" + r + "y"},
            {{R"(x\ud83e)", R"(\ud83e\uddf5)"}, "x" + r + "🧵"},
            {{R"(x\ud83e)", R"(\ud83e)", R"(\uddf5)"}, "x" + r + "🧵"},
            {{"x", R"(\uddf5y)"}, "x" + r + "y"},
            {{R"(\uddf5\ud83e)", R"(\n)"}, r + r + "\n"},
            {{R"(a\ud83eb)", R"(\uddf5)"}, "a" + r + "b" + r},
            {{R"(end\ud83e)"}, "end" + r},
            {{"caf\xE9", " \xE2\x82"}, "caf" + r + " " + r},
            {{R"(\ud83e)", "\xF0\x9F"}, r + r},
            {{R"(\\ud83e)", R"(\\uddf5)"}, R"(\ud83e\uddf5)"}}; // text, no escapes
}

TEST(split_characters, the_pieces_of_a_text_are_joined) {
    for (const format& each : formats()) {
        for (const split_case& one : split_cases()) {
            const std::string body = stream_of_pieces(each.text, one.pieces);
            SCOPED_TRACE(each.name + ": " + body);
            EXPECT_EQ(read_stream(*each.codec, body, body.size()).text, one.wanted);
            EXPECT_EQ(read_stream(*each.codec, body, 1).text, one.wanted);
        }
    }
}

TEST(split_characters, the_pieces_of_a_thought_are_joined) {
    for (const format& each : formats()) {
        if (!each.thought.piece) continue;
        for (const split_case& one : split_cases()) {
            const std::string body = stream_of_pieces(each.thought, one.pieces);
            SCOPED_TRACE(each.name + ": " + body);
            const auto read = read_stream(*each.codec, body, body.size());
            ASSERT_EQ(read.reasoning.size(), 1U);
            EXPECT_EQ(read.reasoning[0].text, one.wanted);
        }
    }
}

TEST(split_characters, the_pieces_of_arguments_are_joined) {
    for (const format& each : formats()) {
        if (!each.arguments.piece) continue;
        for (const split_case& one : split_cases()) {
            if (one.wanted.find_first_of("\n\\") != std::string::npos) continue; // escaped twice
            strings pieces = one.pieces;
            pieces.front().insert(0, R"({\"a\":\")");
            pieces.back() += R"(\"})";
            if (pieces.size() == 1 && one.wanted.ends_with(r)) continue;
            const std::string body = stream_of_pieces(each.arguments, pieces);
            SCOPED_TRACE(each.name + ": " + body);
            const auto read = read_stream(*each.codec, body, body.size());
            ASSERT_EQ(read.tool_calls.size(), 1U);
            EXPECT_EQ(read.tool_calls[0].arguments_json, R"({"a":")" + one.wanted + R"("})");
        }
    }
}

/// The arguments are JSON in JSON: the halves may be those of the inner one.
TEST(split_characters, escapes_inside_of_arguments_are_mended) {
    for (const format& each : formats()) {
        if (!each.arguments.piece) continue;
        SCOPED_TRACE(each.name);
        const auto read = read_stream(
            *each.codec,
            stream_of_pieces(each.arguments, {R"({\"a\":\"\\ud83e\\ud)", R"(83e\\uddf5\"})"}), 1);
        ASSERT_EQ(read.tool_calls.size(), 1U);
        EXPECT_EQ(read.tool_calls[0].arguments_json, R"({"a":")" + r + R"(\ud83e\uddf5"})");
    }
}

TEST(split_characters, two_streams_of_one_codec_do_not_mix_their_halves) {
    for (const format& each : formats()) {
        SCOPED_TRACE(each.name);
        const auto first = each.codec->open_stream();
        const auto second = each.codec->open_stream();
        const std::string half = each.text.begin + each.text.piece(R"(a\ud83e)");
        const std::string rest = each.text.piece(R"(\uddf5)") + each.text.end;
        ASSERT_TRUE(first->feed(half, nullptr));
        ASSERT_TRUE(second->feed(each.text.begin + rest, nullptr));
        ASSERT_TRUE(first->feed(rest, nullptr));
        EXPECT_EQ(first->finish()->text, "a🧵");
        EXPECT_EQ(second->finish()->text, r);
    }
}

TEST(split_characters, a_whole_response_is_read_with_replacements) {
    for (const format& each : formats()) {
        SCOPED_TRACE(each.name);
        const auto text = [&](const std::string& written) {
            return read_of(*each.codec, each.whole(written)).text;
        };
        EXPECT_EQ(text(R"(a\ud83e\uddf5)"), "a🧵");
        EXPECT_EQ(text(R"(a\ud83e)"), "a" + r);
        EXPECT_EQ(text(R"(\uddf5 b\ud83ec)"), r + " b" + r + "c");
        EXPECT_EQ(text("caf\xE9 \xF0\x9F\xA7 \xED\xA0\x80"), "caf" + r + " " + r + " " + r + r + r);
        EXPECT_EQ(text("caf\xE9 \\ud83e"), "caf" + r + " " + r);
        EXPECT_EQ(read_of(*each.codec, "\xEF\xBB\xBF" + each.whole("x")).text, "x");
        EXPECT_EQ(read_of(*each.codec, "\xEF\xBB\xBF" + each.whole("\xFF")).text, r);
    }
}

/// Halves in every string of a big response cost no more than the response is long.
TEST(split_characters, many_halves_take_linear_time) {
    for (const format& each : formats()) {
        SCOPED_TRACE(each.name);
        constexpr int count = 50'000;
        const std::string one = each.text.piece(R"(\uddf5\ud83e)");
        std::string body = each.text.begin;
        for (int i = 0; i < count; ++i) body += one;
        const auto read = read_stream_unchecked(*each.codec, body + each.text.end);
        EXPECT_EQ(read.text.size(), r.size() + (count - 1) * std::string("🧵").size() + r.size());
    }
    const format gemini_format = gemini();
    std::string parts;
    for (int i = 0; i < 200'000; ++i) parts += R"({"text":"x\ud83e"},)";
    parts.back() = ' ';
    const std::string body =
        R"({"candidates":[{"content":{"parts":[)" + parts + R"(]},"finishReason":"STOP"}]})";
    EXPECT_EQ(read_of(*gemini_format.codec, body).text.size(), 200'000U * (1 + r.size()));
}

TEST(split_characters, a_byte_order_mark_before_a_stream_is_skipped) {
    for (const format& each : formats()) {
        SCOPED_TRACE(each.name);
        const std::string body = "\xEF\xBB\xBF" + stream_of_pieces(each.text, {"a", "b"});
        EXPECT_EQ(read_stream(*each.codec, body, body.size()).text, "ab");
        EXPECT_EQ(read_stream(*each.codec, body, 1).text, "ab");
    }
}

TEST(split_characters, errors_of_a_service_are_read_too) {
    for (const format& each : formats()) {
        SCOPED_TRACE(each.name);
        const error failure =
            failure_of(*each.codec, 500, "\xEF\xBB\xBF{\"error\":{\"message\":\"\xFF \\ud83e!\"}}");
        EXPECT_TRUE(utf8::is_valid(failure.message()));
        EXPECT_NE(failure.message().find(r + " " + r + "!"), std::string::npos)
            << failure.message();
    }
}

TEST(split_characters, what_is_not_json_stays_an_error) {
    for (const format& each : formats()) {
        SCOPED_TRACE(each.name);
        for (const std::string body : {"\xFF", R"({"a":"\ud83e)", "\xEF\xBB\xBF", R"(\ud83e)"}) {
            const error failure = failure_of(*each.codec, 200, body);
            EXPECT_EQ(failure.code(), make_error_code(ports::llm_errc::protocol)) << body;
            EXPECT_TRUE(utf8::is_valid(failure.message()));
        }
    }
}

} // namespace
} // namespace heddle::testing
