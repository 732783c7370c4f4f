// The services that are known by name.
#pragma once

#include "config/configuration.hpp"
#include "environment.hpp"

#include <heddle/providers/openai/presets.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// What is known of a type of service before anything is configured.
struct service_type {
    std::string_view name;
    std::string_view base_url;
    std::vector<std::string> key_variables;
    std::vector<std::string> url_variables;
    bool needs_key = false;
    const providers::openai::preset* preset = nullptr; ///< of OpenAI's format; null: one of its own
};

[[nodiscard]] std::optional<service_type> find_service_type(std::string_view name);
/// True for a type that make_service knows.
[[nodiscard]] bool is_service_type(std::string_view type) noexcept;
/// All of them, sorted; for hints.
[[nodiscard]] std::vector<std::string> service_type_names();

/// The type of a service: what its settings say, else its name.
[[nodiscard]] const std::string& type_of(const provider_config& settings) noexcept;
/// Where a service is: as the flag says; for the one of the type's own name as the variable says,
/// else heddle.toml; one of another name is where heddle.toml says, else as the type. Complete:
/// what is judged, limited, cached and connected to is this text.
[[nodiscard]] std::string address_of(const provider_config& settings, const service_type& type,
                                     const environment& variables);

/// Those that are there without being configured, when a variable of theirs is set: openai,
/// anthropic, gemini, ollama.
struct usual_service {
    std::string_view name;
    std::vector<std::string> variables; ///< any of them
};
[[nodiscard]] const std::vector<usual_service>& usual_services();

} // namespace heddle::cli
