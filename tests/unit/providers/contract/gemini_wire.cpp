// Gemini's generateContent in the contract suite.
#include "wire_adapter.hpp"

#include <heddle/providers/gemini/provider.hpp>

namespace heddle::testing {

wire_adapter gemini_wire();

namespace {

using ports::chat_request;
using ports::chat_role;
using providers::response_mode;

providers::gemini::options wire_options() {
    providers::gemini::options options;
    options.api_key = secret(std::string(wire_key));
    options.retry = wire_retry();
    return options;
}

chat_request ask(std::string text) { return user_request(std::move(text), "gemini-2.5-flash"); }

void add_tool_cases(std::map<std::string, wire_case>& by_name) {
    const chat_request one = with_tools(ask("canon:tool1"));
    by_name["stream-tool"] = {one, response_mode::stream};
    chat_request chosen = one;
    chosen.tool_choice = "auto";
    by_name["tool-roundtrip.1"].request = chosen;
    by_name["tool-roundtrip.2"].request =
        with_results(chosen, {weather_call("call_abc123")}, {R"({"temp":18,"unit":"celsius"})"});
    chat_request& capitals = by_name["tool-openapi-schema"].request = ask("canon:tool1");
    capitals.tools = {
        {"get_weather", "Weather",
         R"({"type":"OBJECT","properties":{"city":{"type":"STRING"}},"required":["city"]})", true}};
    capitals.tool_choice = "get_weather";
}

std::map<std::string, wire_case> cases() {
    std::map<std::string, wire_case> by_name;
    by_name["plain"].request = ask("canon:plain");
    by_name["finish-max-tokens"].request = ask("canon:length");
    by_name["finish-safety"].request = ask("canon:filter");
    by_name["json-schema"].request = with_schema(ask("canon:schema"));
    chat_request turns = ask("My name is Ada.");
    turns.messages.push_back({chat_role::assistant, "Hello Ada.", {}, {}, {}});
    turns.messages.push_back({chat_role::user, "canon:multi", {}, {}, {}});
    by_name["multi-turn"].request = turns;
    by_name["safety"].request = ask("canon:plain");
    by_name["safety"].request.extra = {
        {"safetySettings",
         R"([{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_ONLY_HIGH"}])"}};
    chat_request& settings = by_name["system-params"].request = with_system(ask("canon:plain"));
    settings.temperature = 0.2;
    settings.top_p = 0.9;
    settings.max_output_tokens = 64;
    settings.stop = {"END"};
    settings.seed = 7;
    settings.extra = {{"top_k", "40"}};
    by_name["thinking"].request = ask("canon:plain");
    by_name["thinking"].request.reasoning_tokens = 0;
    by_name["stream"] = {ask("canon:plain"), response_mode::stream};
    add_tool_cases(by_name);
    return by_name;
}

} // namespace

wire_adapter gemini_wire() {
    wire_adapter adapter;
    adapter.name = "gemini";
    adapter.requests = adapter.responses = "gemini";
    adapter.origin = "https://generativelanguage.googleapis.com";
    adapter.make_provider = [](ports::http_port& http, log_port& log, std::string_view) {
        return providers::make_gemini_provider(http, wire_options(), log).value();
    };
    adapter.make_codec = [] { return providers::make_gemini_codec(wire_options()).value(); };
    adapter.cases = cases();
    adapter.left_out = {
        {"count-tokens", "counts the tokens of a prompt: no chat, and the port has no such call"}};
    adapter.stops = {{"STOP", ports::finish_reason::stop},
                     {"SAFETY", ports::finish_reason::content_filter}};
    adapter.reasoning_beside_output = true;
    return adapter;
}

} // namespace heddle::testing
