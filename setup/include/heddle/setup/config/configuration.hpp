// The contents of heddle.toml, as data (docs/reference/configuration.md).
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

namespace heddle::setup {

/// Where a setting was written, for messages: "heddle.toml:12".
struct config_place {
    std::string file;
    std::size_t line = 0;

    [[nodiscard]] std::string shown() const { return file + ":" + std::to_string(line); }
};

/// What a project may restrict, but not loosen, of a service.
struct service_bounds {
    std::optional<std::vector<std::string>> models; ///< prefixes of those that it accepts
    config_place models_place;

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
};

/// `[providers.NAME]`
struct provider_config : service_bounds {
    std::string name;
    config_place place;
    std::string type; ///< a service (openai, anthropic, …) or a preset; empty: as the name
    std::optional<std::string> base_url;
    std::optional<config_place> base_url_place;
    bool base_url_is_flag = false; ///< set on the command line, which takes precedence
    std::optional<std::string> api_key_env;
    std::optional<std::string> api_key_file;
    std::vector<std::string> api_key_command; ///< program and arguments; its output is the key
    std::optional<std::string> api_version;
    std::optional<std::string> organization;
    std::optional<std::string> project;
    std::optional<bool> share_prompt_prefixes; ///< sticky routing
    tasks::request_parameters request;         ///< defaults of its requests
    std::optional<config_place> request_place;
};

/// `[aliases]`: another name for "provider:model" or for a route.
struct alias_config {
    std::string name;
    std::string model;
    config_place place;
};

/// `[routes.NAME]`: models that replace one another.
struct route_config {
    std::string name;
    config_place place;
    std::vector<std::string> models; ///< "provider:model", first choice first
    std::optional<std::chrono::milliseconds> hedge_after;
    std::optional<double> hedge_share; ///< maximum of additional calls, as a part of all
    std::optional<bool> on_authentication_failure; ///< continue with the next even then
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
    /// The file of the project, as find_project_file() returns it; empty: none.
    std::string project_file;
    /// With a project's file: the configuration of the user without it, for comparison in the
    /// decision where keys may be sent (services/service_trust.hpp).
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
    std::vector<std::string> tasks; ///< folders with templates
    /// If a project names `tasks`: its folder, which they must not leave.
    std::optional<std::string> tasks_root;
    std::vector<std::string> aider;    ///< program and arguments
    std::vector<std::string> pass_env; ///< variables that programs inherit, added to the usual ones

    [[nodiscard]] const provider_config* provider(std::string_view name) const noexcept;
};

/// Of a limit or timeout the smaller value holds, of prefixes of models what both accept.
void restrict_to(service_bounds& settings, const service_bounds& others);

/// Adds the settings of `weaker` (the user's file) that `stronger` (a project's) does not have.
/// Providers of the same name are merged by setting. Of a limit or timeout the smaller value holds,
/// and of prefixes of models what both accept; aliases and routes of the same name are those of
/// `weaker`. Linear in both, except for those prefixes.
void lay_over(configuration& stronger, configuration weaker);

} // namespace heddle::setup
