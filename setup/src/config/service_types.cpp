#include <heddle/setup/config/service_types.hpp>

#include <algorithm>
#include <span>

namespace heddle::setup {

namespace {

std::vector<std::string> strings(std::span<const std::string_view> views) {
    return {views.begin(), views.end()};
}

/// The adapter of a type that does not use OpenAI's chat format; null: there is none.
const providers::service_adapter* find_adapter(std::string_view type) noexcept {
    const auto all = providers::service_adapters();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [type](const auto* each) { return each->type == type; });
    return found == all.end() ? nullptr : *found;
}

} // namespace

std::optional<service_type> find_service_type(std::string_view name) {
    service_type result;
    if (const providers::service_adapter* adapter = find_adapter(name)) {
        result.name = adapter->type;
        result.base_url = adapter->base_url;
        result.key_variables = strings(adapter->key_variables);
        result.url_variables = strings(adapter->url_variables);
        result.needs_key = adapter->needs_key;
        result.adapter = adapter;
        return result;
    }
    const providers::openai::preset* preset = providers::openai::find_preset(name);
    if (!preset) return std::nullopt;
    result.name = preset->name;
    result.base_url = preset->base_url;
    if (!preset->key_variable.empty()) result.key_variables.emplace_back(preset->key_variable);
    if (preset->name == "openai") result.url_variables.emplace_back("OPENAI_BASE_URL");
    result.needs_key = !preset->local;
    result.preset = preset;
    return result;
}

bool is_service_type(std::string_view type) noexcept {
    return find_adapter(type) != nullptr || providers::openai::find_preset(type) != nullptr;
}

std::vector<std::string> service_type_names() {
    std::vector<std::string> names;
    for (const auto* each : providers::service_adapters()) names.emplace_back(each->type);
    for (const auto& each : providers::openai::presets()) names.emplace_back(each.name);
    std::sort(names.begin(), names.end());
    return names;
}

const std::string& type_of(const provider_config& settings) noexcept {
    return settings.type.empty() ? settings.name : settings.type;
}

namespace {

std::string address_as_written(const provider_config& settings, const service_type& type,
                               const environment& variables) {
    if (settings.base_url && settings.base_url_is_flag) return *settings.base_url;
    std::optional<std::string> said;
    for (const std::string& name : type.url_variables) {
        if (!said) said = variables.variable(name);
    }
    const bool own_name = settings.name == type.name;
    if (settings.base_url && !(own_name && said)) return *settings.base_url;
    return said.value_or(std::string(type.base_url));
}

} // namespace

std::string address_of(const provider_config& settings, const service_type& type,
                       const environment& variables) {
    std::string address = address_as_written(settings, type, variables);
    if (!type.adapter || !type.adapter->complete_address) return address;
    return type.adapter->complete_address(std::move(address));
}

const std::vector<usual_service>& usual_services() {
    static const std::vector<usual_service> table = [] {
        std::vector<usual_service> usual{{"openai", {"OPENAI_API_KEY", "OPENAI_BASE_URL"}}};
        for (const auto* each : providers::service_adapters()) {
            if (each->usual_variables.empty()) continue;
            usual.push_back({each->type, strings(each->usual_variables)});
        }
        return usual;
    }();
    return table;
}

} // namespace heddle::setup
