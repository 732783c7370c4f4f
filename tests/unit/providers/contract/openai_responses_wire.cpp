// OpenAI Responses in the contract suite.
#include "wire_adapter.hpp"

#include <heddle/providers/responses/provider.hpp>

namespace heddle::testing {

wire_adapter openai_responses_wire();

namespace {

using ports::chat_request;
using ports::chat_role;
using providers::response_mode;

providers::responses::options options_for(std::string_view case_name) {
    providers::responses::options options;
    options.api_key = secret(std::string(wire_key));
    options.retry = wire_retry();
    // The recorded client sent a list where a text would do.
    options.short_input = case_name != "tool-roundtrip.1";
    return options;
}

std::map<std::string, wire_case> cases() {
    std::map<std::string, wire_case> by_name;
    by_name["plain"].request = user_request("canon:plain");
    by_name["finish-length"].request = user_request("canon:length");
    by_name["json-schema"].request = with_schema(user_request("canon:schema"));
    by_name["stream"] = {user_request("canon:plain"), response_mode::stream};
    by_name["previous-response"].request = user_request("canon:plain");
    by_name["previous-response"].request.extra = {
        {"previous_response_id", "\"resp_0123456789abcdef\""}};
    by_name["reasoning-effort"].request = user_request("canon:plain", "gpt-5-mini");
    by_name["reasoning-effort"].request.reasoning_effort = "low";

    chat_request& system = by_name["system"].request = with_system(user_request("canon:plain"));
    system.max_output_tokens = 64;
    system.temperature = 0.2;
    system.extra = {{"store", "false"}};
    chat_request& turns = by_name["multi-turn"].request = user_request("My name is Ada.");
    turns.messages.push_back({chat_role::assistant, "Hello Ada.", {}, {}, {}});
    turns.messages.push_back({chat_role::user, "canon:multi", {}, {}, {}});

    const chat_request tools = with_tools(user_request("canon:tool1"));
    by_name["stream-tool"] = {tools, response_mode::stream};
    by_name["tool-roundtrip.1"].request = tools;
    by_name["tool-roundtrip.1"].request.tool_choice = "auto";
    ports::tool_call call = weather_call("call_abc123");
    call.signature = "fc-PayFJrrodMvovHlw"; // the id of the item, as the response had it
    by_name["tool-roundtrip.2"].request =
        with_results(tools, {std::move(call)}, {R"({"temp":18,"unit":"celsius"})"});
    return by_name;
}

} // namespace

wire_adapter openai_responses_wire() {
    wire_adapter adapter;
    adapter.name = "openai_responses";
    adapter.requests = adapter.responses = "openai-responses";
    adapter.origin = "https://api.openai.com";
    adapter.make_provider = [](ports::http_port& http, log_port& log, std::string_view case_name) {
        return providers::make_responses_provider(http, options_for(case_name), log).value();
    };
    adapter.make_codec = [] { return providers::make_responses_codec(options_for("")).value(); };
    adapter.cases = cases();
    return adapter;
}

} // namespace heddle::testing
