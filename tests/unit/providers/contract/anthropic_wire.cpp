// Anthropic Messages in the contract suite, once for each version of the API.
#include "wire_adapter.hpp"

#include <heddle/providers/anthropic/provider.hpp>

namespace heddle::testing {

wire_adapter anthropic_wire();
wire_adapter anthropic_2023_wire();

namespace {

using ports::chat_request;
using ports::chat_role;
using providers::response_mode;
using providers::anthropic::api_version;

providers::anthropic::options options_for(api_version version) {
    providers::anthropic::options options;
    options.api_key = secret(std::string(wire_key));
    options.retry = wire_retry();
    options.version = version;
    return options;
}

chat_request ask(std::string text) {
    chat_request request = user_request(std::move(text), "claude-sonnet-5-5");
    request.max_output_tokens = 128;
    return request;
}

void add_tool_cases(std::map<std::string, wire_case>& by_name) {
    const chat_request one = with_tools(ask("canon:tool1"));
    by_name["tool-forced"].request = by_name["tool-roundtrip.1"].request = one;
    by_name["tool-forced"].request.tool_choice = "get_weather";
    by_name["tool-forced"].request.parallel_tool_calls = false;
    by_name["tool-roundtrip.1"].request.tool_choice = "auto";
    by_name["tool-roundtrip.2"].request =
        with_results(one, {weather_call("call_abc123")}, {R"({"temp":18,"unit":"celsius"})"});
    chat_request& failed = by_name["tool-error-result"].request =
        with_results(one, {weather_call("toolu_01")}, {"station offline"});
    failed.messages.back().tool_failed = true;
    const chat_request two = with_tools(ask("canon:tool2"));
    by_name["two-tools-roundtrip.1"].request = two;
    by_name["two-tools-roundtrip.2"].request = with_results(
        two, {weather_call("call_a"), time_call("call_b")}, {R"({"ok":true})", R"({"ok":true})"});
    by_name["stream-tool"] = {two, response_mode::stream};
    by_name["stream-text-and-tool"] = {with_tools(ask("canon:texttool")), response_mode::stream};
}

std::map<std::string, wire_case> cases() {
    std::map<std::string, wire_case> by_name;
    by_name["plain"].request = ask("canon:plain");
    by_name["stop-max-tokens"].request = ask("canon:length");
    chat_request again = ask("canon:once529");
    again.max_output_tokens = 16;
    by_name["retry-529.1"].request = again;
    by_name["retry-529.2"] = {again, response_mode::whole, false, 2};
    by_name["system"].request = with_system(ask("canon:plain"));
    by_name["system-blocks-cache"].request = with_system(ask("canon:plain"));
    by_name["system-blocks-cache"].request.messages.front().cache_up_to_here = true;
    chat_request turns = ask("My name is Ada.");
    turns.messages.push_back({chat_role::assistant, "Hello Ada.", {}, {}, {}});
    turns.messages.push_back({chat_role::user, "canon:multi", {}, {}, {}});
    by_name["multi-turn"].request = turns;
    by_name["json-schema"].request = with_schema(ask("canon:schema"));
    chat_request& settings = by_name["params"].request = ask("canon:plain");
    settings.stop = {"END"};
    settings.extra = {{"metadata", R"({"user_id":"u-1"})"}};
    by_name["stream"] = {ask("canon:plain"), response_mode::stream};
    by_name["stream-cut"] = {ask("canon:disconnect"), response_mode::stream};
    by_name["stream-helper"] = {ask("canon:unicode"), response_mode::stream};
    add_tool_cases(by_name);
    return by_name;
}

wire_adapter for_version(api_version version) {
    wire_adapter adapter;
    adapter.origin = "https://api.anthropic.com";
    adapter.make_provider = [version](ports::http_port& http, log_port& log, std::string_view) {
        return providers::make_anthropic_provider(http, options_for(version), log).value();
    };
    adapter.make_codec = [version] {
        return providers::make_anthropic_codec(options_for(version)).value();
    };
    adapter.cases = cases();
    adapter.left_out = {
        {"count-tokens", "counts the tokens of a prompt: no chat, and the port has no such call"}};
    using ports::finish_reason;
    adapter.stops = {{"end_turn", finish_reason::stop},
                     {"stop_sequence", finish_reason::stop},
                     {"max_tokens", finish_reason::length},
                     {"model_context_window_exceeded", finish_reason::length},
                     {"tool_use", finish_reason::tool_calls},
                     {"pause_turn", finish_reason::other}};
    return adapter;
}

} // namespace

wire_adapter anthropic_wire() {
    wire_adapter adapter = for_version(api_version::v2026_10_21);
    adapter.name = "anthropic";
    adapter.requests = adapter.responses = "anthropic";
    chat_request effort = ask("canon:plain");
    effort.model = "claude-opus-5-5";
    effort.reasoning_effort = "low";
    adapter.cases["effort"].request = effort;
    return adapter;
}

wire_adapter anthropic_2023_wire() {
    wire_adapter adapter = for_version(api_version::v2023_06_01);
    adapter.name = "anthropic_2023";
    adapter.requests = "anthropic-2023-06-01";
    adapter.responses = "anthropic"; // the responses have not changed
    chat_request& settings = adapter.cases["params"].request;
    settings.temperature = 0.2;
    settings.extra.push_back({"top_k", "40"});
    return adapter;
}

} // namespace heddle::testing
