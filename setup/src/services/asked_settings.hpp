// What of the configuration decides what models are asked.
#pragma once

#include <heddle/setup/config/configuration.hpp>
#include <heddle/setup/services/service_factory.hpp>
#include <heddle/tasks/run/model_registry.hpp>

#include <string>
#include <vector>

namespace heddle::setup {

/// Sets the settings of the services and routes in the registry (model_registry::set_settings):
/// type and address where they are not the usual ones of the name, the API version, default
/// parameters of requests; of a route its models. Keys, limits, timeouts and addresses of this
/// machine are not part of them.
/// Result: all of these settings and the aliases, for a digest; the same in every process with the
/// same configuration. Call it when the registry is complete.
[[nodiscard]] std::string apply_asked_settings(tasks::model_registry& registry,
                                               const configuration& settings,
                                               const std::vector<configured_service>& services);

} // namespace heddle::setup
