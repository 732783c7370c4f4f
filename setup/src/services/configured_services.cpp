#include <heddle/setup/services/configured_services.hpp>

#include "services/account_bounds.hpp"

#include <heddle/setup/config/service_types.hpp>
#include <heddle/setup/services/named_services.hpp>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace heddle::setup {

std::string service_of_base_url(const configuration& settings,
                                const std::optional<std::string>& model) {
    const auto named = model ? provider_of(*model) : std::nullopt;
    // Names of models may have colons as well.
    if (named && (settings.provider(*named) || is_service_type(*named))) return std::string(*named);
    return std::string(openai_name);
}

std::vector<configured_service> configured_services(const configuration& settings,
                                                    std::optional<std::string> base_url,
                                                    const service_parts& parts,
                                                    const std::optional<std::string>& model) {
    const named_services named(settings, model ? model : parts.variables.model);
    std::vector<provider_config> found;
    std::unordered_set<std::string_view> done;
    const std::string flagged =
        service_of_base_url(settings, model ? model : parts.variables.model);
    const auto place_at = [&](provider_config& own) {
        if (!base_url || own.name != flagged) return false;
        own.base_url = base_url;
        own.base_url_is_flag = true;
        return true;
    };
    // The usual ones first, so that a bare name means a model of OpenAI if that is there.
    for (const usual_service& usual : usual_services()) {
        provider_config own;
        own.name = usual.name;
        if (const provider_config* said = settings.provider(usual.name)) own = *said;
        const bool is_named = place_at(own);
        const bool known =
            !own.place.file.empty() || is_named ||
            std::any_of(usual.variables.begin(), usual.variables.end(), [&](const auto& name) {
                return parts.variables.variable(name).has_value();
            });
        if (!known) continue;
        if (own.place.file.empty()) own.place = named.place_of(own.name);
        done.insert(usual.name);
        found.push_back(std::move(own));
    }
    for (const provider_config& each : settings.providers) {
        if (!done.insert(each.name).second) continue;
        found.push_back(each);
        (void)place_at(found.back());
    }
    // "groq:llama-3": a service that is known by name needs no section.
    const std::vector<std::string> known = named.known();
    for (const std::string& name : known) {
        if (!done.insert(name).second) continue;
        provider_config usual;
        usual.name = name;
        usual.place = named.place_of(name);
        (void)place_at(usual);
        found.push_back(std::move(usual));
    }
    if (settings.without_project && !found.empty()) {
        account_bounds bounds(parts.variables);
        const configuration& users = *settings.without_project;
        std::set<std::string, std::less<>> without_section = named.of_user();
        if (named.user_names_none()) without_section.insert(found.front().name);
        for (provider_config own : users.providers) {
            without_section.erase(own.name);
            (void)place_at(own);
            bounds.add(std::move(own));
        }
        for (const std::string& name : without_section) {
            provider_config own;
            own.name = name;
            (void)place_at(own);
            bounds.add(std::move(own));
        }
        for (provider_config& each : found) bounds.restrict(each);
    }
    std::vector<configured_service> services;
    services.reserve(found.size());
    for (const provider_config& each : found) services.push_back(make_service(each, parts));
    return services;
}

std::set<std::string> reached_services(const configuration& settings,
                                       const std::optional<std::string>& model,
                                       const std::string& usual) {
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
        const auto [first, last] = leads.equal_range(name);
        const auto provider = provider_of(name);
        const bool names_service =
            provider && (*provider == scripted_name || is_service_type(*provider) ||
                         settings.provider(*provider));
        if (names_service) services.insert(*provider);
        else if (first == last) services.insert(usual);
        for (auto each = first; each != last; ++each) open.emplace_back(each->second);
    }
    return services;
}

} // namespace heddle::setup
