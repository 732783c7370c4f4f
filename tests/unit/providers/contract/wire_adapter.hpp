// The codecs that are held to the recorded samples. A new one is one file and one line.
#pragma once

#include "../provider_testing.hpp"

#include <heddle/providers/common/chat_codec.hpp>
#include <heddle/providers/common/http_chat_provider.hpp>

#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::testing {

/// The neutral request that a recorded one must come from.
struct wire_case {
    ports::chat_request request;
    providers::response_mode mode = providers::response_mode::whole;
    bool ping = false;         ///< the list of models, not a chat
    std::uint32_t attempt = 1; ///< 2: as it is sent again after a failure
};

/// One codec with the folders of tests/data/wire that it is held to.
struct wire_adapter {
    std::string name;      ///< in the names of the tests: letters, digits, _
    std::string requests;  ///< folder with request/*.json
    std::string responses; ///< folder with response-doc and response-mock; empty: none
    std::string origin;    ///< where requests go, as http_origin::name
    /// A provider as a program makes it, with wire_key, no retry but one, for this case.
    std::function<std::unique_ptr<providers::http_chat_provider>(
        ports::http_port& http, log_port& log, std::string_view case_name)>
        make_provider;
    /// The codec alone, with wire_key.
    std::function<std::unique_ptr<providers::chat_codec>()> make_codec;
    std::map<std::string, wire_case> cases; ///< by the name of the file, without .json
    /// Recorded requests without a neutral request, and why.
    std::map<std::string, std::string> left_out;
    /// What the service calls the ends of a response, where it is not our own word.
    std::map<std::string, ports::finish_reason> stops;
    /// The index counts output without reasoning; token_usage counts it with it.
    bool reasoning_beside_output = false;
};

inline void PrintTo(const wire_adapter& shown, std::ostream* out) { *out << shown.name; }

[[nodiscard]] std::vector<wire_adapter> wire_adapters();

/// The key of every adapter under test. Nothing may show it.
inline constexpr std::string_view wire_key = "sk-wire-0123456789abcdefghijkl";

/// One retry after a millisecond, so that a case with attempt 2 comes at once.
[[nodiscard]] providers::retry_options wire_retry();

[[nodiscard]] std::filesystem::path wire_folder(const std::string& provider);

// Parts of the recorded requests, the same for all services.

[[nodiscard]] std::string weather_parameters();
[[nodiscard]] std::string time_parameters();
[[nodiscard]] std::string person_schema();

/// Adds the tools get_weather and get_time.
[[nodiscard]] ports::chat_request with_tools(ports::chat_request request);
/// Puts "You are a terse assistant." first.
[[nodiscard]] ports::chat_request with_system(ports::chat_request request);
/// Asks for a response by person_schema().
[[nodiscard]] ports::chat_request with_schema(ports::chat_request request);
[[nodiscard]] ports::tool_call weather_call(std::string id);
[[nodiscard]] ports::tool_call time_call(std::string id);
/// Adds a turn in which the model makes `calls`, and one result each.
[[nodiscard]] ports::chat_request with_results(ports::chat_request request,
                                               std::vector<ports::tool_call> calls,
                                               const std::vector<std::string>& results);

} // namespace heddle::testing
