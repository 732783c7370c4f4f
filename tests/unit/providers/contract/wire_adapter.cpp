#include "wire_adapter.hpp"
#include "test_paths.hpp"

namespace heddle::testing {

// Each is in the file of its name.
wire_adapter openai_chat_wire();
wire_adapter openai_responses_wire();
wire_adapter anthropic_wire();
wire_adapter anthropic_2023_wire();
wire_adapter gemini_wire();
wire_adapter ollama_wire();

std::vector<wire_adapter> wire_adapters() {
    return {openai_chat_wire(),    openai_responses_wire(), anthropic_wire(),
            anthropic_2023_wire(), gemini_wire(),           ollama_wire()};
}

providers::retry_options wire_retry() {
    providers::retry_options options;
    options.max_retries = options.max_rate_limit_retries = 1;
    options.first_wait = std::chrono::milliseconds(1);
    options.seed = 1;
    return options;
}

std::filesystem::path wire_folder(const std::string& provider) {
    return std::filesystem::path(heddle::test_paths::data_folder()) / "wire" / provider;
}

std::string weather_parameters() {
    return R"({"type":"object","properties":{"city":{"type":"string"},
        "unit":{"type":"string","enum":["celsius","fahrenheit"]}},
        "required":["city","unit"],"additionalProperties":false})";
}

std::string time_parameters() {
    return R"({"type":"object","properties":{"tz":{"type":"string"}},"required":["tz"],
        "additionalProperties":false})";
}

std::string person_schema() {
    return R"({"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"},
        "tags":{"type":"array","items":{"type":"string"}}},
        "required":["name","age","tags"],"additionalProperties":false})";
}

ports::chat_request with_tools(ports::chat_request request) {
    request.tools.push_back({"get_weather", "Weather of a city", weather_parameters(), true});
    request.tools.push_back({"get_time", "Time in a zone", time_parameters(), true});
    return request;
}

ports::chat_request with_system(ports::chat_request request) {
    request.messages.insert(request.messages.begin(),
                            {ports::chat_role::system, "You are a terse assistant.", {}, {}, {}});
    return request;
}

ports::chat_request with_schema(ports::chat_request request) {
    request.format = {ports::response_format::kind::json_schema, "person", person_schema(), true};
    return request;
}

ports::tool_call weather_call(std::string id) {
    return {std::move(id), "get_weather", R"({"city":"Paris","unit":"celsius"})"};
}

ports::tool_call time_call(std::string id) {
    return {std::move(id), "get_time", R"({"tz":"Europe/Paris"})"};
}

ports::chat_request with_results(ports::chat_request request, std::vector<ports::tool_call> calls,
                                 const std::vector<std::string>& results) {
    request.messages.push_back({ports::chat_role::assistant, "", calls, {}, {}});
    for (std::size_t i = 0; i < results.size(); ++i) {
        request.messages.push_back(
            {ports::chat_role::tool, results[i], {}, calls[i].id, calls[i].name});
    }
    return request;
}

} // namespace heddle::testing
