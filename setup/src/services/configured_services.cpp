#include <heddle/setup/services/configured_services.hpp>

#include <heddle/setup/services/named_services.hpp>
#include <heddle/setup/services/service_types.hpp>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace heddle::setup {

std::vector<configured_service> configured_services(const configuration& settings,
                                                    std::optional<std::string> base_url,
                                                    const service_parts& parts,
                                                    const std::optional<std::string>& model) {
    const named_services named(settings, model ? model : parts.variables.model);
    std::vector<configured_service> services;
    std::unordered_set<std::string_view> done;
    // The usual ones first, so that a bare name means a model of OpenAI if that is there.
    for (const usual_service& usual : usual_services()) {
        provider_config own;
        own.name = usual.name;
        if (const provider_config* said = settings.provider(usual.name)) own = *said;
        const bool is_openai = usual.name == openai_name;
        if (is_openai && base_url) {
            own.base_url = base_url;
            own.base_url_is_flag = true;
        }
        const bool known =
            !own.place.file.empty() || (is_openai && base_url) ||
            std::any_of(usual.variables.begin(), usual.variables.end(), [&](const auto& name) {
                return parts.variables.variable(name).has_value();
            });
        if (!known) continue;
        if (own.place.file.empty()) own.place = named.place_of(own.name);
        services.push_back(make_service(own, parts));
        done.insert(usual.name);
    }
    for (const provider_config& each : settings.providers) {
        if (done.insert(each.name).second) services.push_back(make_service(each, parts));
    }
    // "groq:llama-3": a service that is known by name needs no section.
    const std::vector<std::string> known = named.known();
    for (const std::string& name : known) {
        if (!done.insert(name).second) continue;
        provider_config usual;
        usual.name = name;
        usual.place = named.place_of(name);
        services.push_back(make_service(usual, parts));
    }
    return services;
}

std::set<std::string> reached_services(const configuration& settings,
                                       const std::optional<std::string>& model) {
    std::set<std::string> services;
    std::set<std::string> seen;
    std::vector<std::string> open;
    std::unordered_multimap<std::string_view, std::string_view> leads; // from names to names
    for (const alias_config& each : settings.aliases) leads.emplace(each.name, each.model);
    for (const route_config& each : settings.routes) {
        for (const std::string& one : each.models) leads.emplace(each.name, one);
    }
    if (model) open.push_back(*model);
    while (!open.empty()) {
        const std::string name = std::move(open.back());
        open.pop_back();
        if (!seen.insert(name).second) continue;
        if (const auto provider = provider_of(name)) services.insert(*provider);
        const auto [first, last] = leads.equal_range(name);
        for (auto each = first; each != last; ++each) open.emplace_back(each->second);
    }
    return services;
}

} // namespace heddle::setup
