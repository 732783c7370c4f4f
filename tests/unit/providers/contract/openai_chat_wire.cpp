// OpenAI Chat Completions in the contract suite.
#include "wire_adapter.hpp"

#include <heddle/providers/openai/provider.hpp>

#include <stdexcept>

namespace heddle::testing {

wire_adapter openai_chat_wire();

namespace {

using ports::chat_request;
using ports::chat_role;
using providers::response_mode;

/// The recorded streams of these cases do not ask for the usage.
bool asks_for_usage(std::string_view case_name) {
    return case_name != "stream-cut" && case_name != "stream-unicode" &&
           case_name != "stream-text-and-tool";
}

providers::openai::options options_for(std::string_view case_name) {
    providers::openai::options options;
    options.api_key = secret(std::string(wire_key));
    options.retry = wire_retry();
    options.stream_usage = asks_for_usage(case_name);
    return options;
}

void add_tool_cases(std::map<std::string, wire_case>& by_name) {
    const chat_request one = with_tools(user_request("canon:tool1"));
    by_name["tool-forced"].request = by_name["tool-roundtrip.1"].request = one;
    by_name["tool-forced"].request.tool_choice = "get_weather";
    by_name["tool-roundtrip.1"].request.tool_choice = "auto";
    by_name["tool-roundtrip.2"].request =
        with_results(one, {weather_call("call_abc123")}, {R"({"temp":18,"unit":"celsius"})"});
    const chat_request two = with_tools(user_request("canon:tool2"));
    by_name["two-tools-roundtrip.1"].request = two;
    by_name["two-tools-roundtrip.1"].request.parallel_tool_calls = true;
    by_name["two-tools-roundtrip.2"].request = with_results(
        two, {weather_call("call_a"), time_call("call_b")}, {R"({"ok":true})", R"({"ok":true})"});
    by_name["stream-tool"] = {two, response_mode::stream};
    by_name["stream-text-and-tool"] = {with_tools(user_request("canon:texttool")),
                                       response_mode::stream};
}

std::map<std::string, wire_case> cases() {
    std::map<std::string, wire_case> by_name;
    by_name["plain"].request = user_request("canon:plain");
    by_name["finish-content-filter"].request = user_request("canon:filter");
    by_name["finish-length"].request = user_request("canon:length");
    by_name["retry-after-429.1"].request = user_request("canon:once429");
    by_name["retry-after-429.2"] = {user_request("canon:once429"), response_mode::whole, false, 2};
    by_name["models-list"].ping = true;
    by_name["system"].request = with_system(user_request("canon:plain"));
    chat_request turns = with_system(user_request("My name is Ada."));
    turns.messages.push_back({chat_role::assistant, "Hello Ada.", {}, {}, {}});
    turns.messages.push_back({chat_role::user, "canon:multi", {}, {}, {}});
    by_name["multi-turn"].request = turns;
    by_name["json-object"].request = user_request("canon:schema");
    by_name["json-object"].request.format.type = ports::response_format::kind::json_object;
    by_name["json-schema"].request = with_schema(user_request("canon:schema"));
    chat_request& settings = by_name["params"].request = user_request("canon:plain");
    settings.temperature = 0.2;
    settings.top_p = 0.9;
    settings.max_output_tokens = 64;
    settings.stop = {"END"};
    settings.seed = 7;
    settings.extra = {{"n", "1"}, {"user", "\"u-1\""}};
    by_name["reasoning-effort"].request = user_request("canon:plain", "gpt-5-mini");
    by_name["reasoning-effort"].request.reasoning_effort = "low";
    by_name["stream"] = {user_request("canon:plain"), response_mode::stream};
    by_name["stream-cut"] = {user_request("canon:disconnect"), response_mode::stream};
    by_name["stream-unicode"] = {user_request("canon:unicode"), response_mode::stream};
    add_tool_cases(by_name);
    return by_name;
}

} // namespace

wire_adapter openai_chat_wire() {
    wire_adapter adapter;
    adapter.name = "openai_chat";
    adapter.requests = adapter.responses = "openai-chat";
    adapter.origin = "https://api.openai.com";
    adapter.make_provider = [](ports::http_port& http, log_port& log, std::string_view case_name) {
        return providers::make_openai_provider(http, options_for(case_name), log).value();
    };
    adapter.make_codec = [] { return providers::make_openai_codec(options_for("")).value(); };
    adapter.cases = cases();
    return adapter;
}

} // namespace heddle::testing
