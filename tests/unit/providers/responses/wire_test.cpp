// What is particular to Responses; the contract suite has the recorded requests and responses.
#include "../provider_testing.hpp"

#include <heddle/providers/responses/provider.hpp>

#include "responses/wire.hpp"

#include <gtest/gtest.h>

namespace heddle::testing {
namespace {

namespace json = boost::json;
namespace responses = providers::responses;
using ports::chat_request;
using ports::chat_response;
using ports::chat_role;
using ports::finish_reason;
using ports::llm_errc;

json::object body_of(const chat_request& request, const responses::encode_options& options = {}) {
    providers::json_memo known;
    const auto body = responses::encode_request(request, options, known);
    if (!body) throw std::runtime_error(body.error().message());
    return json::parse(*body).as_object();
}

std::string refused(const chat_request& request) {
    providers::json_memo known;
    const auto body = responses::encode_request(request, {}, known);
    EXPECT_FALSE(body);
    if (body) return {};
    EXPECT_EQ(body.error().code(), make_error_code(llm_errc::invalid_request));
    return body.error().message();
}

result<chat_response> read(std::string body) {
    providers::json_reader reader({"openai-responses"});
    ports::http_response response;
    response.status = 200;
    response.body = std::move(body);
    return responses::decode_response(reader, response, {});
}

result<chat_response> read_stream(const std::vector<std::string>& events,
                                  std::string* deltas = nullptr) {
    providers::json_reader reader({"openai-responses"});
    responses::response_stream stream(reader);
    const ports::chat_delta_sink sink = [&](std::string_view text) -> result<void> {
        if (deltas) *deltas += text;
        return {};
    };
    for (const std::string& event : events) {
        HEDDLE_CHECK(stream.feed("data: " + event + "\n\n", sink));
    }
    return stream.finish();
}

/// An assistant's turn with a thought and a call, and the result.
chat_request thoughtful(std::string encrypted) {
    chat_request request = user_request("weather?");
    ports::chat_message turn;
    turn.role = chat_role::assistant;
    turn.reasoning.push_back({"I should look.", "rs_1", std::move(encrypted)});
    turn.tool_calls.push_back({"call_1", "get_weather", "{}", "fc_1"});
    request.messages.push_back(std::move(turn));
    request.messages.push_back({chat_role::tool, "18", {}, "call_1", "get_weather"});
    return request;
}

TEST(responses_wire, reasoning_goes_back_before_its_call) {
    const json::object body = body_of(thoughtful("gAAA"));
    const json::array& input = body.at("input").as_array();
    ASSERT_EQ(input.size(), 4U);
    EXPECT_EQ(input[1],
              (json::value{
                  {"type", "reasoning"},
                  {"id", "rs_1"},
                  {"summary", json::array{{{"type", "summary_text"}, {"text", "I should look."}}}},
                  {"encrypted_content", "gAAA"}}));
    EXPECT_EQ(input[2].at("id"), "fc_1");
    EXPECT_EQ(
        input[3],
        (json::value{{"type", "function_call_output"}, {"call_id", "call_1"}, {"output", "18"}}));
}

TEST(responses_wire, reasoning_that_the_service_could_not_find_stays_here) {
    chat_request request = thoughtful("");
    EXPECT_EQ(body_of(request).at("input").as_array().size(), 4U); // stored: found by its id
    request.extra = {{"store", "false"}};
    EXPECT_EQ(body_of(request).at("input").as_array().size(), 3U);
    request.extra.clear();
    request.messages[1].reasoning[0].signature = "sig-of-another-service";
    request.messages[1].tool_calls[0].signature = "sig-of-another-service";
    const json::object body = body_of(request);
    ASSERT_EQ(body.at("input").as_array().size(), 3U);
    EXPECT_FALSE(body.at("input").at(1).as_object().contains("id"));
}

TEST(responses_wire, encrypted_reasoning_keeps_nothing_at_the_service) {
    responses::encode_options options;
    options.encrypted_reasoning = true;
    const json::object body = body_of(user_request("x"), options);
    EXPECT_EQ(body.at("store"), false);
    EXPECT_EQ(body.at("include"), (json::array{"reasoning.encrypted_content"}));
}

TEST(responses_wire, system_messages_become_instructions_or_stay_in_their_place) {
    chat_request request = user_request("now");
    request.messages.insert(request.messages.begin(), {{chat_role::system, "a", {}, {}, {}},
                                                       {chat_role::system, "b", {}, {}, {}}});
    json::object body = body_of(request);
    EXPECT_EQ(body.at("instructions"), "a\n\nb");
    EXPECT_EQ(body.at("input"), "now");
    request.messages.push_back({chat_role::system, "later", {}, {}, {}});
    body = body_of(request);
    EXPECT_EQ(body.at("input").at(1), (json::value{{"role", "system"}, {"content", "later"}}));
    request.messages.resize(2); // nothing but instructions: something has to be the input
    body = body_of(request);
    EXPECT_FALSE(body.contains("instructions"));
    EXPECT_EQ(body.at("input").as_array().size(), 2U);
}

TEST(responses_wire, the_input_has_the_word_that_json_mode_demands) {
    chat_request request = user_request("Two colours.");
    request.messages.insert(request.messages.begin(),
                            {chat_role::system, "Answer with JSON.", {}, {}, {}});
    request.format.type = ports::response_format::kind::json_object;
    const auto body = body_of(request);
    EXPECT_EQ(body.at("instructions"), "Answer with JSON.");
    EXPECT_EQ(body.at("input"), json::parse(R"([{"role": "system", "content": "Answer with JSON."},
                              {"role": "user", "content": "Two colours."}])"));

    request.messages.back().text = "Two colours as a Json object.";
    EXPECT_EQ(body_of(request).at("input"), "Two colours as a Json object.");
    request.messages.back().text = "Two colours.";
    request.format = {};
    EXPECT_EQ(body_of(request).at("input"), "Two colours.");
}

TEST(responses_wire, tools_without_parameters_and_forced_ones) {
    chat_request request = user_request("x");
    request.tools = {{"now", "", "", false}};
    request.tool_choice = "now";
    request.parallel_tool_calls = false;
    const json::object body = body_of(request);
    EXPECT_EQ(body.at("tools").at(0).at("strict"), false);
    EXPECT_EQ(body.at("tools").at(0).at("parameters").at("type"), "object");
    EXPECT_EQ(body.at("tool_choice"), (json::value{{"type", "function"}, {"name", "now"}}));
    EXPECT_EQ(body.at("parallel_tool_calls"), false);
}

TEST(responses_wire, what_the_service_cannot_take_is_named) {
    chat_request request = user_request("x");
    request.seed = 1;
    request.stop = {"END"};
    request.reasoning_tokens = 100;
    providers::json_memo known;
    std::vector<providers::left_out_setting> left_out;
    const auto body = responses::encode_request(request, {}, known, &left_out);
    EXPECT_EQ(json::parse(body.value()).as_object(), body_of(user_request("x")));
    ASSERT_EQ(left_out.size(), 3U);
    EXPECT_EQ(left_out[0].name, "seed");
    EXPECT_EQ(left_out[1].name, "stop");
    EXPECT_EQ(left_out[2].name, "reasoning_tokens");
    EXPECT_EQ(left_out[2].reason, "the service takes a reasoning effort, not a number of tokens");
    request.reasoning_tokens = 0;
    EXPECT_EQ(body_of(request).at("reasoning").at("effort"), "none");
    request.extra = {{"reasoning", R"({"summary":"auto"})"}};
    EXPECT_EQ(refused(request),
              "the extra parameter 'reasoning' is a setting; set it by its own clause");
    request.reasoning_tokens.reset(); // then it is free
    EXPECT_EQ(body_of(request).at("reasoning").at("summary"), "auto");
    request.extra = {{"input", "[]"}};
    EXPECT_EQ(refused(request),
              "the extra parameter 'input' is a setting; set it by its own clause");
    EXPECT_EQ(refused({}), "the request names no model");
    request = user_request("x");
    request.messages = {{chat_role::tool, "18", {}, "", ""}};
    EXPECT_EQ(refused(request), "a tool's message names no call");
    request = user_request("x");
    request.format = {ports::response_format::kind::json_schema, "s", "[]", true};
    EXPECT_EQ(refused(request), "the schema of the response is not a JSON object");
}

TEST(responses_wire, items_of_a_response_are_kept_for_the_next_turn) {
    const auto response = read(R"({"id":"resp_1","model":"m","status":"completed","output":[
        {"type":"reasoning","id":"rs_1","encrypted_content":"gAAA","summary":[
            {"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}]},
        {"type":"web_search_call","id":"ws_1"},
        {"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":""}],
        "usage":{"input_tokens":9,"output_tokens":5,"input_tokens_details":
            {"cached_tokens":4,"cache_write_tokens":2},
            "output_tokens_details":{"reasoning_tokens":3}}})");
    ASSERT_TRUE(response) << response.error().message();
    ASSERT_EQ(response->reasoning.size(), 1U);
    EXPECT_EQ(response->reasoning[0].text, "a\n\nb");
    EXPECT_EQ(response->reasoning[0].signature, "rs_1");
    EXPECT_EQ(response->reasoning[0].opaque, "gAAA");
    ASSERT_EQ(response->tool_calls.size(), 1U);
    EXPECT_EQ(response->tool_calls[0].id, "call_1");
    EXPECT_EQ(response->tool_calls[0].signature, "fc_1");
    EXPECT_EQ(response->tool_calls[0].arguments_json, "{}");
    EXPECT_EQ(response->finish, finish_reason::tool_calls);
    EXPECT_EQ(response->usage.value().cached, 4);
    EXPECT_EQ(response->usage.value().cache_written, 2);
    EXPECT_EQ(response->usage.value().reasoning, 3);
}

TEST(responses_wire, responses_that_did_not_end_well) {
    const auto code = [](const char* body) {
        const auto response = read(body);
        EXPECT_FALSE(response) << body;
        return response ? boost::system::error_code() : response.error().code();
    };
    EXPECT_EQ(code(R"({"status":"failed","output":[]})"), make_error_code(llm_errc::server));
    EXPECT_EQ(code(R"({"status":"failed","error":{"code":"rate_limit_exceeded"},"output":[]})"),
              make_error_code(llm_errc::rate_limit));
    EXPECT_EQ(code(R"({"status":"queued","output":[]})"), make_error_code(llm_errc::protocol));
    EXPECT_EQ(code(R"({"status":"completed"})"), make_error_code(llm_errc::protocol));
    EXPECT_EQ(code(R"({"status":"completed","output":[7]})"), make_error_code(llm_errc::protocol));
    EXPECT_EQ(code("{}"), make_error_code(llm_errc::protocol));
    const auto filtered = read(R"({"status":"incomplete","incomplete_details":
        {"reason":"content_filter"},"output":[]})");
    ASSERT_TRUE(filtered);
    EXPECT_EQ(filtered->finish, finish_reason::content_filter);
    std::string many = R"({"status":"completed","output":[)";
    for (int i = 0; i < 1000; ++i) many += R"({"type":"function_call","call_id":"x","name":"f"},)";
    many.back() = ']';
    many += '}';
    EXPECT_EQ(code(many.c_str()), make_error_code(llm_errc::protocol));
}

TEST(responses_wire, a_stream_without_pieces_is_taken_from_its_last_event) {
    std::string deltas;
    const auto whole = read_stream(
        {R"({"type":"response.completed","response":{"id":"resp_1","model":"m","status":"completed",)"
         R"("output":[{"type":"message","content":[{"type":"output_text","text":"all"}]}]}})"},
        &deltas);
    ASSERT_TRUE(whole) << whole.error().message();
    EXPECT_EQ(whole->text, "all");
    EXPECT_EQ(deltas, "all");
}

TEST(responses_wire, text_that_only_the_last_event_has_is_delivered_after_the_pieces) {
    const auto read = [](const std::string& whole, std::string& deltas) {
        return read_stream(
            {R"({"type":"response.output_text.delta","delta":"hello"})",
             R"({"type":"response.completed","response":{"status":"completed","output":[)"
             R"({"type":"message","content":[{"type":"output_text","text":")" +
                 whole + R"("}]}]}})"},
            &deltas);
    };
    std::string deltas;
    const auto more = read("hello world", deltas);
    ASSERT_TRUE(more) << more.error().message();
    EXPECT_EQ(more->text, "hello world");
    EXPECT_EQ(deltas, "hello world");
    deltas.clear();
    const auto other = read("bye", deltas);
    ASSERT_TRUE(other) << other.error().message();
    EXPECT_EQ(other->text, "hello") << "what was handed out stays";
    EXPECT_EQ(deltas, "hello");
}

TEST(responses_wire, a_stream_whose_last_event_is_short_keeps_its_pieces) {
    const auto response = read_stream(
        {R"({"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"c","name":"f"}})",
         R"({"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_2","call_id":"d","name":"g"}})",
         R"({"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"b\":2}"})",
         R"({"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"a\":1}"})",
         R"({"type":"response.function_call_arguments.delta","output_index":7,"delta":"lost"})",
         R"({"type":"response.completed","response":{"status":"completed","output":[]}})"});
    ASSERT_TRUE(response) << response.error().message();
    ASSERT_EQ(response->tool_calls.size(), 2U);
    EXPECT_EQ(response->tool_calls[0].arguments_json, R"({"a":1})");
    EXPECT_EQ(response->tool_calls[1].arguments_json, R"({"b":2})");
    EXPECT_EQ(response->finish, finish_reason::tool_calls);
}

TEST(responses_wire, errors_inside_a_stream_keep_what_came) {
    const std::string text = R"({"type":"response.output_text.delta","delta":"Half"})";
    for (
        const char* failed :
        {R"({"type":"error","code":"server_error","message":"no"})",
         R"({"type":"error","error":{"code":"server_error","message":"no"}})",
         R"({"error":{"type":"server_error","message":"no"}})",
         R"({"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"no"}}})"}) {
        const auto response = read_stream({text, failed});
        ASSERT_FALSE(response) << failed;
        EXPECT_EQ(response.error().code(), make_error_code(llm_errc::server)) << failed;
        const auto kept = std::dynamic_pointer_cast<const ports::partial_response>(
            response.error().info().payload);
        ASSERT_TRUE(kept) << failed;
        EXPECT_EQ(kept->so_far.text, "Half");
    }
    EXPECT_EQ(read_stream({text, R"({"type":"response.completed"})"}).error().code(),
              make_error_code(llm_errc::protocol));
    EXPECT_EQ(read_stream({text, "[1]"}).error().code(), make_error_code(llm_errc::protocol));
}

/// Services and gateways differ in where they put an error.
TEST(responses_wire, errors_inside_a_stream_are_found_wherever_they_are) {
    const std::string text = R"({"type":"response.output_text.delta","delta":"Half"})";
    const std::string no = R"({"code":"rate_limit_exceeded","message":"too much"})";
    for (
        const std::string& failed :
        {R"({"type":"response.failed","error":)" + no + "}",
         R"({"type":"response.incomplete","error":)" + no + "}",
         R"({"type":"response.incomplete","response":{"status":"incomplete","output":[],"error":)" +
             no + "}}",
         R"({"type":"response.completed","response":{"status":"completed","output":[],"error":)" +
             no + "}}",
         R"({"type":"response.error","error":)" + no + "}",
         R"({"type":"response.error","code":"rate_limit_exceeded","message":"too much"})" +
             std::string(),
         R"({"type":"requests","error":)" + no + "}",
         R"({"type":"response.failed","response":{"status":"failed","error":)" + no + "}}"}) {
        const auto response = read_stream({text, failed});
        ASSERT_FALSE(response) << failed;
        EXPECT_EQ(response.error().code(), make_error_code(llm_errc::rate_limit)) << failed;
        EXPECT_NE(response.error().message().find("too much"), std::string::npos) << failed;
        const auto* kept = ports::part_of(response.error());
        ASSERT_TRUE(kept) << failed;
        EXPECT_EQ(kept->text, "Half");
    }
    // Where the error is a text, and where only the line before the data names it.
    for (const std::string& failed :
         {std::string(
              R"({"type":"response.failed","response":{"status":"failed","error":"too much"}})"),
          std::string(R"({"type":"response.completed","response":{"status":"completed",)"
                      R"("output":[],"error":"too much"}})"),
          std::string(R"({"type":"error","error":"too much"})")}) {
        const auto response = read_stream({text, failed});
        ASSERT_FALSE(response) << failed;
        EXPECT_NE(response.error().message().find("too much"), std::string::npos) << failed;
    }
}

TEST(responses_wire, the_usage_of_a_response_that_failed_is_kept) {
    const auto response =
        read_stream({R"({"type":"response.cancelled","response":{"status":"cancelled","output":[],)"
                     R"("usage":{"input_tokens":7,"output_tokens":3,"total_tokens":10}}})"});
    ASSERT_FALSE(response);
    const auto* kept = ports::part_of(response.error());
    ASSERT_TRUE(kept);
    ASSERT_TRUE(kept->usage);
    EXPECT_EQ(kept->usage->input, 7);
    EXPECT_EQ(kept->usage->output, 3);
}

TEST(responses_wire, an_error_of_a_tool_of_the_service_is_not_one_of_the_response) {
    const auto response = read_stream(
        {R"({"type":"response.mcp_call.failed","error":{"message":"no"},"item_id":"i"})",
         R"({"type":"response.completed","response":{"status":"completed","output":[]}})"});
    EXPECT_TRUE(response) << response.error().message();
}

TEST(responses_provider, a_key_is_needed_for_the_service_itself) {
    test_loop on;
    fake_http http;
    EXPECT_FALSE(providers::make_responses_provider(http, {}, null_log()));
    responses::options local;
    local.base_url = "http://127.0.0.1:8000/v1";
    const auto result = providers::make_responses_provider(http, local, null_log());
    ASSERT_TRUE(result);
    EXPECT_EQ((*result)->provider_name(), "openai-responses");
    EXPECT_FALSE((*result)->caches_prompts());
    local.base_url = "ftp://x";
    EXPECT_FALSE(providers::make_responses_codec(local));
}

} // namespace
} // namespace heddle::testing
