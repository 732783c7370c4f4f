#include "services/service_types.hpp"

#include <heddle/providers/anthropic/provider.hpp>
#include <heddle/providers/gemini/provider.hpp>
#include <heddle/providers/ollama/provider.hpp>
#include <heddle/providers/openai/provider.hpp>

#include <algorithm>

namespace heddle::cli {

namespace {

/// Services that do not speak OpenAI's chat format.
const std::vector<service_type>& own_formats() {
    static const std::vector<service_type> table{
        {"anthropic",
         providers::anthropic::default_base_url,
         {"ANTHROPIC_API_KEY"},
         {"ANTHROPIC_BASE_URL"},
         true},
        {"gemini",
         providers::gemini::default_base_url,
         {"GEMINI_API_KEY", "GOOGLE_API_KEY"},
         {"GOOGLE_GEMINI_BASE_URL"},
         true},
        {"ollama", providers::ollama::default_base_url, {"OLLAMA_API_KEY"}, {"OLLAMA_HOST"}, false},
        {"openai-responses",
         providers::openai::default_base_url,
         {"OPENAI_API_KEY"},
         {"OPENAI_BASE_URL"},
         true},
    };
    return table;
}

} // namespace

std::optional<service_type> find_service_type(std::string_view name) {
    const auto& own = own_formats();
    const auto found = std::find_if(own.begin(), own.end(),
                                    [name](const service_type& each) { return each.name == name; });
    if (found != own.end()) return *found;
    const providers::openai::preset* preset = providers::openai::find_preset(name);
    if (!preset) return std::nullopt;
    service_type result;
    result.name = preset->name;
    result.base_url = preset->base_url;
    if (!preset->key_variable.empty()) result.key_variables.emplace_back(preset->key_variable);
    if (preset->name == "openai") result.url_variables.emplace_back("OPENAI_BASE_URL");
    result.needs_key = !preset->local;
    result.preset = preset;
    return result;
}

bool is_service_type(std::string_view type) noexcept {
    const auto& own = own_formats();
    return providers::openai::find_preset(type) != nullptr ||
           std::any_of(own.begin(), own.end(),
                       [type](const service_type& each) { return each.name == type; });
}

std::vector<std::string> service_type_names() {
    std::vector<std::string> names;
    for (const service_type& each : own_formats()) names.emplace_back(each.name);
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
    // A host alone means another port there than in a URL.
    if (type.name == "ollama") return providers::ollama::complete_address(std::move(address));
    return address;
}

const std::vector<usual_service>& usual_services() {
    static const std::vector<usual_service> table{
        {"openai", {"OPENAI_API_KEY", "OPENAI_BASE_URL"}},
        {"anthropic", {"ANTHROPIC_API_KEY"}},
        {"gemini", {"GEMINI_API_KEY", "GOOGLE_API_KEY"}},
        {"ollama", {"OLLAMA_HOST"}},
    };
    return table;
}

} // namespace heddle::cli
