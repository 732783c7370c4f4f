// The built-in types of services.
#pragma once

#include <heddle/providers/common/service_adapter.hpp>
#include <heddle/providers/openai/presets.hpp>
#include <heddle/setup/config/configuration.hpp>
#include <heddle/setup/environment.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::setup {

/// A type of service and its defaults.
struct service_type {
    std::string_view name;
    std::string_view base_url;
    std::vector<std::string> key_variables;
    std::vector<std::string> url_variables;
    bool needs_key = false;
    const providers::openai::preset* preset = nullptr;   ///< in the format of OpenAI, or
    const providers::service_adapter* adapter = nullptr; ///< in its own format
};

[[nodiscard]] std::optional<service_type> find_service_type(std::string_view name);
/// True for a type that make_service supports.
[[nodiscard]] bool is_service_type(std::string_view type) noexcept;
/// All types, sorted; for hints.
[[nodiscard]] std::vector<std::string> service_type_names();

/// The type of a service: that of its settings, else its name.
[[nodiscard]] const std::string& type_of(const provider_config& settings) noexcept;
/// The address of a service: that of the flag; for a service named after its type, that of the
/// variable, else of heddle.toml; for others that of heddle.toml, else of the type. Complete: this
/// text is judged, limited, cached and connected to.
[[nodiscard]] std::string address_of(const provider_config& settings, const service_type& type,
                                     const environment& variables);

/// Services that are available without a section if one of their variables is set: openai, then
/// those with their own formats.
struct usual_service {
    std::string_view name;
    std::vector<std::string> variables; ///< any of them
};
[[nodiscard]] const std::vector<usual_service>& usual_services();

} // namespace heddle::setup
