// What heddle.toml says, as data (docs/reference/configuration.md).
#pragma once

#include <heddle/tasks/definition/request_parameters.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::cli {

/// Where a setting was written, for messages: "heddle.toml:12".
struct config_place {
    std::string file;
    std::size_t line = 0;

    [[nodiscard]] std::string shown() const { return file + ":" + std::to_string(line); }
};

/// `[providers.NAME]`
struct provider_config {
    std::string name;
    config_place place;
    std::string type; ///< a service (openai, anthropic, …) or a preset; empty: as the name
    std::optional<std::string> base_url;
    std::optional<config_place> base_url_place;
    bool base_url_is_flag = false; ///< said on the command line, which goes before everything
    std::optional<std::string> api_key_env;
    std::optional<std::string> api_key_file;
    std::vector<std::string> api_key_command; ///< program and arguments; its output is the key
    std::optional<std::string> api_version;
    std::optional<std::string> organization;
    std::optional<std::string> project;
    std::vector<std::string> models; ///< prefixes of the models it accepts; empty: any

    std::optional<std::int64_t> max_in_flight;
    std::optional<std::int64_t> requests_per_minute;
    std::optional<std::int64_t> tokens_per_minute;
    std::optional<std::int64_t> input_tokens_per_minute;
    std::optional<std::int64_t> output_tokens_per_minute;

    std::optional<std::chrono::milliseconds> connect_timeout;
    std::optional<std::chrono::milliseconds> first_byte_timeout;
    std::optional<std::chrono::milliseconds> idle_timeout;
    std::optional<std::chrono::milliseconds> total_timeout;
    std::optional<std::int64_t> max_retries;
    std::optional<bool> share_prompt_prefixes; ///< sticky routing
    tasks::request_parameters request;         ///< of requests that say nothing themselves
    std::optional<config_place> request_place;
};

/// `[aliases]`: another name for "provider:model" or for a route.
struct alias_config {
    std::string name;
    std::string model;
    config_place place;
};

/// `[routes.NAME]`: models that stand in for one another.
struct route_config {
    std::string name;
    config_place place;
    std::vector<std::string> models; ///< "provider:model", first choice first
    std::optional<std::chrono::milliseconds> hedge_after;
    std::optional<double> hedge_share;             ///< most additional calls, as a part of all
    std::optional<bool> on_authentication_failure; ///< go on to the next also then
};

/// `[cache]`
struct cache_config {
    std::optional<bool> enabled;
    std::optional<std::string> file;
    std::optional<std::chrono::seconds> keep_for;
    std::optional<std::uint64_t> max_bytes;
};

/// `[http]`
struct http_config {
    std::optional<std::string> http_proxy;
    std::optional<std::string> https_proxy;
    std::optional<std::string> no_proxy;
    std::optional<std::string> ca_file;
    std::optional<std::string> ca_directory;
    std::optional<std::int64_t> max_connections;
    std::optional<std::string> user_agent; ///< empty: none is sent
};

/// One file, or several laid over one another.
struct configuration {
    std::vector<std::string> files; ///< that were read, the strongest first
    /// The project's file, as find_project_file() gives it; empty: there is none.
    std::string project_file;
    /// Where there is a project's file: what the user's own files say without it. Who decides
    /// whether a key may go somewhere compares with it (services/service_trust.hpp).
    std::shared_ptr<const configuration> without_project;
    std::optional<std::string> model;
    config_place model_place;
    std::optional<std::int64_t> concurrency;
    std::optional<std::uint64_t> memory_limit; ///< bytes of a run
    std::optional<std::int64_t> step_limit;    ///< of a run
    std::optional<std::string> prices;         ///< a file that adds to the table of prices
    std::vector<provider_config> providers;
    std::vector<alias_config> aliases;
    std::vector<route_config> routes;
    cache_config cache;
    http_config http;
    std::vector<std::string> tasks;    ///< folders with templates
    std::vector<std::string> aider;    ///< program and arguments
    std::vector<std::string> pass_env; ///< variables that programs inherit besides the usual ones

    [[nodiscard]] const provider_config* provider(std::string_view name) const noexcept;
};

/// What `weaker` says besides. Providers and routes of the same name are merged setting by setting
/// (providers) or kept from the stronger (routes). Linear in both.
void lay_over(configuration& stronger, configuration weaker);

} // namespace heddle::cli
