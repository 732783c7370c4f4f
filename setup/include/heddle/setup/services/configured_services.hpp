// Which services there are, and which of them a model leads to.
#pragma once

#include <heddle/setup/config/configuration.hpp>
#include <heddle/setup/services/service_factory.hpp>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::setup {

inline constexpr std::string_view openai_name = "openai";

/// The service that --base-url is the address of: that which the model names, else `openai`.
[[nodiscard]] std::string service_of_base_url(const configuration& settings,
                                              const std::optional<std::string>& model);

/// The services of a configuration, in the order of their lookup, usable or not, without wrappers:
/// those with a section or a variable, and known ones that a model, alias or route names. `model`:
/// that of the option, else that of the variable.
[[nodiscard]] std::vector<configured_service> configured_services(
    const configuration& settings, std::optional<std::string> base_url, const service_parts& parts,
    const std::optional<std::string>& model = {});

/// The user's own services, with the user's own settings alone: those of their file, and those that
/// they name without a section. Empty without a project's file. Parameters as above.
[[nodiscard]] std::vector<provider_config> services_of_user(
    const configuration& settings, const std::optional<std::string>& base_url,
    const environment& variables, const std::optional<std::string>& model);

/// The names of the services that `model` may lead to, through aliases and all models of a route.
/// `usual`: that of models that name no service.
[[nodiscard]] std::set<std::string> reached_services(const configuration& settings,
                                                     const std::optional<std::string>& model,
                                                     const std::string& usual);

} // namespace heddle::setup
