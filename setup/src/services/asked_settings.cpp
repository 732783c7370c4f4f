#include "services/asked_settings.hpp"

#include "config/provider_index.hpp"

#include <heddle/setup/config/service_types.hpp>
#include <heddle/setup/services/service_trust.hpp>

#include <map>

namespace heddle::setup {

namespace {

/// Empty for a service as it is without a section in heddle.toml.
std::string settings_of(const configured_service& service, const provider_config* said) {
    std::string text;
    const auto type = find_service_type(service.type);
    if (service.type != service.name) text += "type " + service.type + '\n';
    // A server of this machine has another port every time.
    const std::string address = normalised_address(service.base_url);
    const bool is_usual = type && address == normalised_address(std::string(type->base_url));
    if (!is_usual && !is_this_machine(address)) text += "address " + address + '\n';
    if (!said) return text;
    if (said->api_version) text += "version " + *said->api_version + '\n';
    tasks::request_parameters sent = said->request;
    sent.park.reset(); // how a request goes to its service, which is not part of it
    const std::string parameters = tasks::parameters_json(sent);
    if (parameters != "{}") text += "parameters " + parameters + '\n';
    return text;
}

std::string settings_of(const route_config& route, const tasks::model_registry& registry) {
    std::string text = "route\n";
    for (const std::string& each : route.models) {
        const auto chosen = registry.resolve(each, "");
        if (!chosen) {
            text += each + '\n';
            continue;
        }
        text.append(chosen->provider->provider_name()).append(":").append(chosen->model) += '\n';
        text += chosen->settings;
    }
    return text;
}

} // namespace

std::string apply_asked_settings(tasks::model_registry& registry, const configuration& settings,
                                 const std::vector<configured_service>& services) {
    std::map<std::string, std::string> all; // services come in an order of their usability
    const provider_index configured(settings);
    for (const configured_service& each : services) {
        std::string text = settings_of(each, configured.find(each.name));
        if (text.empty()) continue;
        all["service " + each.name] = text;
        registry.set_settings(each.name, std::move(text));
    }
    for (const route_config& each : settings.routes) {
        std::string text = settings_of(each, registry);
        all["route " + each.name] = text;
        registry.set_settings(each.name, std::move(text));
    }
    for (const alias_config& each : settings.aliases) all["alias " + each.name] = each.model;
    std::string text;
    for (const auto& [name, content] : all)
        text.append(name).append(1, '\0').append(content) += '\0';
    return text;
}

} // namespace heddle::setup
