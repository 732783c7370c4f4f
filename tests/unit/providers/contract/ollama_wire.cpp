// Ollama's /api/chat in the contract suite.
#include "wire_adapter.hpp"

#include <heddle/providers/ollama/provider.hpp>

namespace heddle::testing {

wire_adapter ollama_wire();

namespace {

using ports::chat_request;
using ports::chat_role;
using providers::response_mode;

providers::ollama::options wire_options() {
    providers::ollama::options options;
    options.retry = wire_retry();
    return options;
}

chat_request ask(std::string text) { return user_request(std::move(text), "llama3.2"); }

std::map<std::string, wire_case> cases() {
    std::map<std::string, wire_case> by_name;
    by_name["chat-plain"].request = ask("canon:plain");
    by_name["chat-stream"] = {ask("canon:plain"), response_mode::stream};
    by_name["chat-json-mode"].request = ask("canon:schema");
    by_name["chat-json-mode"].request.format.type = ports::response_format::kind::json_object;
    by_name["chat-json-schema"].request = with_schema(ask("canon:schema"));
    chat_request turns = ask("My name is Ada.");
    turns.messages.push_back({chat_role::assistant, "Hello Ada.", {}, {}, {}});
    turns.messages.push_back({chat_role::user, "canon:multi", {}, {}, {}});
    by_name["chat-multi-turn"].request = turns;
    chat_request& settings = by_name["chat-system-options"].request =
        with_system(ask("canon:plain"));
    settings.temperature = 0.2;
    settings.max_output_tokens = 64;
    settings.seed = 7;
    settings.stop = {"END"};
    settings.extra = {{"num_ctx", "4096"}, {"keep_alive", "\"5m\""}};
    by_name["chat-think"].request = ask("canon:plain");
    by_name["chat-think"].request.reasoning_tokens = 0;
    chat_request one = ask("canon:tool1");
    one.tools.push_back({"get_weather", "Weather of a city", weather_parameters(), true});
    by_name["chat-tool-roundtrip.1"].request = one;
    by_name["chat-tool-roundtrip.2"].request =
        with_results(one, {weather_call("")}, {R"({"temp":18,"unit":"celsius"})"});
    by_name["tags"].ping = true;
    return by_name;
}

} // namespace

wire_adapter ollama_wire() {
    wire_adapter adapter;
    adapter.name = "ollama";
    adapter.requests = adapter.responses = "ollama";
    adapter.origin = "http://127.0.0.1:11434";
    adapter.make_provider = [](ports::http_port& http, log_port& log, std::string_view) {
        return providers::make_ollama_provider(http, wire_options(), log).value();
    };
    // With a key, which the recorded requests have not: nothing may show it.
    adapter.make_codec = [] {
        providers::ollama::options options = wire_options();
        options.api_key = secret(std::string(wire_key));
        return providers::make_ollama_codec(std::move(options)).value();
    };
    adapter.cases = cases();
    adapter.left_out = {{"generate", "completes a bare prompt: /api/chat does all that it does"}};
    return adapter;
}

} // namespace heddle::testing
