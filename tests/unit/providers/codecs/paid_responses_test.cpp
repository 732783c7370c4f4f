// What was paid for comes out of every codec, whatever else of a response is wrong: what the
// service reports that it used, and what the model has written.
#include "codec_testing.hpp"

#include <heddle/providers/anthropic/provider.hpp>
#include <heddle/providers/gemini/provider.hpp>
#include <heddle/providers/ollama/provider.hpp>
#include <heddle/providers/openai/provider.hpp>
#include <heddle/providers/responses/provider.hpp>

#include <gmock/gmock.h>

#include <functional>
#include <memory>

namespace heddle::testing {
namespace {

using ::testing::HasSubstr;

std::string event(const std::string& data) { return "data: " + data + "\n\n"; }

/// What a response is made of. `calls`: of the tool "look", with these arguments as JSON texts.
struct parts {
    std::string input = "1000"; ///< tokens, as JSON; "": the figure is missing
    std::string output = "500";
    std::vector<std::string> arguments{};
};

struct service {
    std::string name;
    std::unique_ptr<providers::chat_codec> codec;
    bool has_text_arguments = true; ///< a call's arguments are a string, which the model wrote
    std::function<std::string(const parts&)> whole;
    std::function<std::string(const parts&)> stream;
};

std::string quoted(const std::string& text) {
    return boost::json::serialize(boost::json::string(text));
}

std::string counts(std::initializer_list<std::pair<const char*, std::string>> figures) {
    std::string text;
    for (const auto& [name, figure] : figures) {
        if (figure.empty()) continue;
        text += (text.empty() ? "{\"" : ",\"") + std::string(name) + "\":" + figure;
    }
    return text.empty() ? "{}" : text + "}";
}

template <class Write>
std::string joined(const parts& of, Write write) {
    std::string text;
    for (std::size_t i = 0; i < of.arguments.size(); ++i) {
        text += (i == 0 ? "" : ",") + write(std::to_string(i), of.arguments[i]);
    }
    return text;
}

std::string openai_calls(const parts& of) {
    return "[" +
           joined(of,
                  [](const std::string& i, const std::string& arguments) {
                      return R"({"index":)" + i + R"(,"id":"c)" + i +
                             R"(","type":"function","function":{"name":"look","arguments":)" +
                             quoted(arguments) + "}}";
                  }) +
           "]";
}

std::string openai_usage(const parts& of) {
    return counts({{"prompt_tokens", of.input}, {"completion_tokens", of.output}});
}

service openai_chat() {
    return {
        "openai", providers::make_openai_codec({}).value(), true,
        [](const parts& of) {
            return R"({"id":"i","model":"m","choices":[{"message":{"content":"PRECIOUS","tool_calls":)" +
                   openai_calls(of) + R"(},"finish_reason":"tool_calls"}],"usage":)" +
                   openai_usage(of) + "}";
        },
        [](const parts& of) {
            return event(R"({"choices":[{"index":0,"delta":{"content":"PRECIOUS"}}]})") +
                   event(R"({"choices":[{"index":0,"delta":{"tool_calls":)" + openai_calls(of) +
                         R"(},"finish_reason":"tool_calls"}]})") +
                   event(R"({"choices":[],"usage":)" + openai_usage(of) + "}") + event("[DONE]");
        }};
}

service openai_responses() {
    const auto response = [](const parts& of) {
        return R"({"id":"r","status":"completed","output":[{"type":"message","content":[)"
               R"({"type":"output_text","text":"PRECIOUS"}]},)" +
               joined(of,
                      [](const std::string& i, const std::string& arguments) {
                          return R"({"type":"function_call","id":"fc_)" + i + R"(","call_id":"c)" +
                                 i + R"(","name":"look","arguments":)" + quoted(arguments) + "}";
                      }) +
               (of.arguments.empty() ? R"({"type":"reasoning"})" : "") + R"(],"usage":)" +
               counts({{"input_tokens", of.input}, {"output_tokens", of.output}}) + "}";
    };
    return {"responses", providers::make_responses_codec({}).value(), true, response,
            [response](const parts& of) {
                return event(R"({"type":"response.completed","response":)" + response(of) + "}");
            }};
}

service anthropic() {
    return {
        "anthropic", providers::make_anthropic_codec({}).value(), true,
        [](const parts& of) {
            return R"({"id":"a","content":[{"type":"text","text":"PRECIOUS"})" +
                   std::string(of.arguments.empty() ? "" : ",") +
                   joined(of,
                          [](const std::string& i, const std::string& arguments) {
                              // No text in a whole response: what is not JSON cannot stand there.
                              return R"({"type":"tool_use","id":"c)" + i +
                                     R"(","name":"look","input":)" + quoted(arguments) + "}";
                          }) +
                   R"(],"stop_reason":"tool_use","usage":)" +
                   counts({{"input_tokens", of.input}, {"output_tokens", of.output}}) + "}";
        },
        [](const parts& of) {
            std::string text =
                event(R"({"type":"message_start","message":{"id":"a","usage":)" +
                      counts({{"input_tokens", of.input}, {"output_tokens", "1"}}) + "}}") +
                event(R"({"type":"content_block_start","index":0,"content_block":)"
                      R"({"type":"text","text":"PRECIOUS"}})");
            for (std::size_t i = 0; i < of.arguments.size(); ++i) {
                const std::string index = std::to_string(i + 1);
                text += event(R"({"type":"content_block_start","index":)" + index +
                              R"(,"content_block":{"type":"tool_use","id":"c)" + index +
                              R"(","name":"look","input":{}}})") +
                        event(R"({"type":"content_block_delta","index":)" + index +
                              R"(,"delta":{"type":"input_json_delta","partial_json":)" +
                              quoted(of.arguments[i]) + "}}");
            }
            return text +
                   event(R"({"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":)" +
                         counts({{"output_tokens", of.output}}) + "}") +
                   event(R"({"type":"message_stop"})");
        }};
}

service gemini() {
    const auto response = [](const parts& of) {
        return R"({"candidates":[{"content":{"parts":[{"text":"PRECIOUS"})" +
               std::string(of.arguments.empty() ? "" : ",") +
               joined(of,
                      [](const std::string&, const std::string& arguments) {
                          return R"({"functionCall":{"name":"look","args":)" + quoted(arguments) +
                                 "}}";
                      }) +
               R"(]},"finishReason":"STOP"}],"usageMetadata":)" +
               counts({{"promptTokenCount", of.input}, {"candidatesTokenCount", of.output}}) + "}";
    };
    return {"gemini", providers::make_gemini_codec({}).value(), false, response,
            [response](const parts& of) { return event(response(of)); }};
}

service ollama() {
    const auto response = [](const parts& of) {
        std::string usage =
            counts({{"prompt_eval_count", of.input}, {"eval_count", of.output}}).substr(1);
        return R"({"model":"m","message":{"content":"PRECIOUS","tool_calls":[)" +
               joined(of,
                      [](const std::string&, const std::string& arguments) {
                          return R"({"function":{"name":"look","arguments":)" + quoted(arguments) +
                                 "}}";
                      }) +
               R"(]},"done":true,"done_reason":"stop")" + (usage == "}" ? "" : ",") + usage;
    };
    return {"ollama", providers::make_ollama_codec({}).value(), true, response,
            [response](const parts& of) { return response(of) + "\n"; }};
}

/// Reads the response both ways.
template <class Check>
void for_each_service(const parts& of, Check check) {
    for (auto* make : {openai_chat, openai_responses, anthropic, gemini, ollama}) {
        const service each = make();
        SCOPED_TRACE(each.name);
        {
            SCOPED_TRACE("whole");
            check(each, each.codec->decode(response_of(200, each.whole(of)), codec_now));
        }
        SCOPED_TRACE("stream");
        check(each, stream_of(*each.codec, each.stream(of)));
    }
}

TEST(paid_responses, bad_arguments_leave_a_response_as_it_is) {
    const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
    for (const std::string& wrong : {std::string("{not json"), std::string("[1,2]"), deep}) {
        for_each_service(
            {"1000", "500", {R"({"a":1})", wrong}}, [&](const service& each, const auto& read) {
                ASSERT_TRUE(read) << read.error().message();
                EXPECT_EQ(read->text, "PRECIOUS");
                ASSERT_EQ(read->tool_calls.size(), 2U);
                ASSERT_TRUE(read->usage);
                EXPECT_EQ(read->usage->input, 1000);
                EXPECT_EQ(read->usage->output, 500);
                // What goes back is what the service takes: an object.
                ports::chat_request request = user_request("x");
                ports::chat_message& said = request.messages.emplace_back();
                said.role = ports::chat_role::assistant;
                said.tool_calls = read->tool_calls;
                for (const auto& call : read->tool_calls) {
                    ports::chat_message& reported = request.messages.emplace_back();
                    reported.role = ports::chat_role::tool;
                    reported.text = "a result";
                    reported.tool_call_id = call.id;
                    reported.tool_name = call.name;
                }
                const std::string body = boost::json::serialize(body_of(*each.codec, request));
                EXPECT_THAT(body, HasSubstr("invalid_arguments"));
                EXPECT_LT(body.size(), 20'000U);
            });
    }
}

TEST(paid_responses, too_many_calls_are_an_error_with_what_was_paid_for) {
    const parts many{"1000", "500", std::vector<std::string>(300, "{}")};
    for_each_service(many, [](const service& each, const auto& read) {
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code(), make_error_code(ports::llm_errc::protocol));
        const ports::chat_response* part = ports::part_of(read.error());
        ASSERT_TRUE(part);
        EXPECT_EQ(part->finish, ports::finish_reason::unfinished);
        if (each.name != "responses") {
            EXPECT_EQ(part->text, "PRECIOUS");
        }
        if (part->usage) {
            EXPECT_EQ(part->usage->input, 1000);
            // A stream may have reported nothing yet, or how it began.
            EXPECT_TRUE(part->usage->output == 500 || !part->usage->output_reported);
        }
    });
}

TEST(paid_responses, whole_responses_in_no_shape_are_errors_with_what_was_paid_for) {
    struct row {
        std::function<service()> make;
        std::string body;
    };
    const std::string chat = R"("usage":{"prompt_tokens":1000,"completion_tokens":500}})";
    const std::string plain = R"("usage":{"input_tokens":1000,"output_tokens":500}})";
    const std::string google =
        R"("usageMetadata":{"promptTokenCount":1000,"candidatesTokenCount":500}})";
    const std::string local = R"("done":true,"prompt_eval_count":1000,"eval_count":500})";
    const row rows[] = {
        {openai_chat, R"({"choices":[],)" + chat},
        {openai_chat, R"({"choices":null,)" + chat},
        {openai_chat, R"({"choices":[{"message":null}],)" + chat},
        {openai_chat, R"({"choices":[{"message":{"tool_calls":[1]}}],)" + chat},
        {openai_responses, R"({"status":"completed",)" + plain},
        {openai_responses, R"({"status":"queued","output":[],)" + plain},
        {openai_responses, R"({"status":"failed",)" + plain},
        {openai_responses, R"({"status":"failed","error":{"code":"server_error"},)" + plain},
        {openai_responses, R"({"status":"completed","output":[1],)" + plain},
        {anthropic, "{" + plain},
        {anthropic, R"({"content":[1],)" + plain},
        {gemini, "{" + google},
        {gemini, R"({"candidates":[1],)" + google},
        {gemini, R"({"candidates":[{"content":{"parts":[1]}}],)" + google},
        {gemini, R"({"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}],)" + google},
        {ollama, "{" + local},
        {ollama, R"({"message":{"tool_calls":[1]},)" + local},
    };
    for (const row& each : rows) {
        const service of = each.make();
        SCOPED_TRACE(of.name + " " + each.body);
        const auto read = of.codec->decode(response_of(200, each.body), codec_now);
        ASSERT_FALSE(read);
        const ports::chat_response* part = ports::part_of(read.error());
        ASSERT_TRUE(part && part->usage);
        EXPECT_EQ(part->usage->input, 1000);
        EXPECT_EQ(part->usage->output, 500);
        EXPECT_FALSE(ports::is_unpaid(read.error()));
    }
}

TEST(paid_responses, figures_that_are_none_are_not_reported) {
    for (const char* wrong : {"", "null", "\"12\"", "-1", "1.5e300", "9223372036854775807",
                              "18446744073709551615", "[]"}) {
        SCOPED_TRACE(wrong);
        for_each_service({wrong, "500", {}}, [](const service&, const auto& read) {
            ASSERT_TRUE(read) << read.error().message();
            ASSERT_TRUE(read->usage);
            EXPECT_FALSE(read->usage->input_reported);
            EXPECT_EQ(read->usage->input, 0);
            EXPECT_TRUE(read->usage->output_reported);
            EXPECT_EQ(read->usage->output, 500);
        });
        for_each_service({"1000", wrong, {}}, [](const service& each, const auto& read) {
            ASSERT_TRUE(read) << read.error().message();
            ASSERT_TRUE(read->usage) << each.name;
            EXPECT_TRUE(read->usage->input_reported);
            EXPECT_EQ(read->usage->input, 1000);
            EXPECT_FALSE(read->usage->output_reported);
        });
        for_each_service({wrong, wrong, {}}, [](const service& each, const auto& read) {
            ASSERT_TRUE(read) << read.error().message();
            // The stream of this one reports how it begins.
            if (read->usage) {
                EXPECT_EQ(each.name, "anthropic");
                EXPECT_FALSE(read->usage->input_reported || read->usage->output_reported);
            }
        });
    }
}

TEST(paid_responses, zeros_are_reported) {
    for (const char* zero : {"0", "0.0", "-0.0"}) {
        for_each_service({zero, zero, {}}, [](const service&, const auto& read) {
            ASSERT_TRUE(read && read->usage);
            EXPECT_TRUE(read->usage->input_reported && read->usage->output_reported);
        });
    }
}

TEST(paid_responses, a_figure_is_made_up_out_of_the_total) {
    const auto of = [](std::string usage) {
        const auto codec = providers::make_openai_codec({}).value();
        return read_of(*codec, R"({"choices":[{"message":{"content":"x"}}],"usage":)" + usage + "}")
            .usage;
    };
    EXPECT_EQ(of(R"({"prompt_tokens":5,"total_tokens":12})").value().output, 7);
    EXPECT_TRUE(of(R"({"prompt_tokens":5,"total_tokens":12})").value().output_reported);
    EXPECT_FALSE(of(R"({"prompt_tokens":5,"total_tokens":2})").value().output_reported);
    EXPECT_FALSE(of(R"({"total_tokens":2})"));
    EXPECT_FALSE(of("{}"));
}

TEST(paid_responses, a_stream_that_breaks_off_does_not_know_its_output) {
    const auto codec = providers::make_anthropic_codec({}).value();
    const auto reader = codec->open_stream();
    ASSERT_TRUE(reader->feed(
        event(
            R"({"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}})") +
            event(
                R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":"long"}})"),
        nullptr));
    const auto ended = reader->finish();
    ASSERT_FALSE(ended);
    const ports::chat_response* part = ports::part_of(ended.error());
    ASSERT_TRUE(part && part->usage);
    EXPECT_EQ(part->usage->input, 9);
    EXPECT_TRUE(part->usage->input_reported);
    EXPECT_FALSE(part->usage->output_reported);
}

TEST(paid_responses, a_stream_knows_when_it_is_whole_and_when_nothing_follows) {
    for (auto* make : {openai_chat, openai_responses, anthropic, gemini, ollama}) {
        const service each = make();
        SCOPED_TRACE(each.name);
        const auto reader = each.codec->open_stream();
        EXPECT_FALSE(reader->is_whole());
        EXPECT_FALSE(reader->has_ended());
        ASSERT_TRUE(reader->feed(each.stream({}), nullptr));
        EXPECT_TRUE(reader->is_whole());
        if (each.name == "gemini") { // which has no end mark, though servers alike send one
            EXPECT_FALSE(reader->has_ended());
            ASSERT_TRUE(reader->feed(event(" [DONE] "), nullptr));
        }
        EXPECT_TRUE(reader->has_ended());
        EXPECT_TRUE(reader->finish());
    }
}

TEST(paid_responses, figures_of_a_stream_are_not_replaced_by_zeros_or_nothing) {
    const auto openai = providers::make_openai_codec({}).value();
    const auto anthropic = providers::make_anthropic_codec({}).value();
    const auto gemini = providers::make_gemini_codec({}).value();
    const auto usage = [](providers::chat_codec& codec, const std::string& body) {
        const auto read = stream_of(codec, body);
        EXPECT_TRUE(read && read->usage) << body;
        return read && read->usage ? *read->usage : ports::token_usage{};
    };
    const auto chat = [&](const std::string& first, const std::string& then) {
        return usage(*openai, event(R"({"choices":[{"delta":{"content":"hello"},)"
                                    R"("finish_reason":"stop"}],"usage":)" +
                                    first + "}") +
                                  event(R"({"choices":[],"usage":)" + then + "}") +
                                  event("[DONE]"));
    };
    const std::string full = R"({"prompt_tokens":10,"completion_tokens":7,)"
                             R"("prompt_tokens_details":{"cached_tokens":4}})";
    for (const char* nothing :
         {R"({"prompt_tokens":0,"completion_tokens":0})", "null", R"({"prompt_tokens":null})",
          R"({"prompt_tokens":10,"completion_tokens":null})"}) {
        const ports::token_usage read = chat(full, nothing);
        EXPECT_EQ(read.input, 10) << nothing;
        EXPECT_EQ(read.output, 7) << nothing;
        EXPECT_EQ(read.cached, 4) << nothing;
        EXPECT_TRUE(read.input_reported && read.output_reported);
    }
    EXPECT_EQ(chat(R"({"prompt_tokens":1000})", R"({"completion_tokens":5})").input, 1000);
    EXPECT_EQ(chat(full, R"({"prompt_tokens":10,"completion_tokens":9})").output, 9);

    const auto message = [&](const std::string& end) {
        return usage(
            *anthropic,
            event(R"({"type":"message_start","message":{"usage":)"
                  R"({"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":50}}})") +
                event(R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":)" +
                      end + "}") +
                event(R"({"type":"message_stop"})"));
    };
    for (const char* end :
         {R"({"input_tokens":0,"output_tokens":5,"cache_read_input_tokens":0})",
          R"({"input_tokens":null,"output_tokens":5,"cache_read_input_tokens":null})"}) {
        const ports::token_usage read = message(end);
        EXPECT_EQ(read.input, 60) << end;
        EXPECT_EQ(read.cached, 50) << end;
        EXPECT_EQ(read.output, 5) << end;
    }

    const auto chunks = [&](const std::string& first, const std::string& then) {
        const auto chunk = [](const std::string& counts, const std::string& finish) {
            return event(R"({"candidates":[{"content":{"parts":[{"text":"hello"}]})" + finish +
                         R"(}],"usageMetadata":)" + counts + "}");
        };
        return usage(*gemini, chunk(first, "") + chunk(then, R"(,"finishReason":"STOP")"));
    };
    const std::string begun = R"({"promptTokenCount":10,"candidatesTokenCount":7,)"
                              R"("thoughtsTokenCount":100})";
    EXPECT_EQ(chunks(begun, R"({"promptTokenCount":10})").output, 107);
    EXPECT_EQ(chunks(begun, R"({"promptTokenCount":10,"candidatesTokenCount":8})").output, 108);
    EXPECT_EQ(chunks(begun, R"({"candidatesTokenCount":8})").input, 10);
}

TEST(paid_responses, content_that_is_a_value_is_its_text) {
    const auto codec = providers::make_openai_codec({}).value();
    const auto text = [&](const std::string& content) {
        return read_of(*codec, R"({"choices":[{"message":{"content":)" + content + "}}]}").text;
    };
    EXPECT_EQ(text("42"), "42");
    EXPECT_EQ(text("true"), "true");
    EXPECT_EQ(text(R"({"a":[1]})"), R"({"a":[1]})");
    EXPECT_EQ(text("null"), "");
    const auto streamed =
        stream_of(*codec, event(R"({"choices":[{"delta":{"content":4}}]})") +
                              event(R"({"choices":[{"delta":{"content":2}}]})") + event("[DONE]"));
    ASSERT_TRUE(streamed);
    EXPECT_EQ(streamed->text, "42");
}

} // namespace
} // namespace heddle::testing
