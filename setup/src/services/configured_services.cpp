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

namespace {

/// The services of a configuration, in the order of their lookup.
class service_list {
public:
    service_list(const configuration& settings, const std::optional<std::string>& base_url,
                 const environment& variables, const std::optional<std::string>& model)
        : settings_(settings), base_url_(base_url), variables_(variables),
          named_(settings, model ? model : variables.model),
          flagged_(service_of_base_url(settings, model ? model : variables.model)) {}

    [[nodiscard]] std::vector<provider_config> all() const {
        std::vector<provider_config> found;
        std::unordered_set<std::string_view> done;
        // The usual ones first, so that a bare name means a model of OpenAI if that is there.
        for (const usual_service& usual : usual_services()) {
            provider_config own;
            own.name = usual.name;
            if (const provider_config* said = settings_.provider(usual.name)) own = *said;
            const bool is_flagged = place(own);
            if (own.place.file.empty() && !is_flagged && !has_variable(usual)) continue;
            if (own.place.file.empty()) own.place = named_.place_of(own.name);
            done.insert(usual.name);
            found.push_back(std::move(own));
        }
        for (const provider_config& each : settings_.providers) {
            if (!done.insert(each.name).second) continue;
            found.push_back(each);
            (void)place(found.back());
        }
        // "groq:llama-3": a service that is known by name needs no section.
        const std::vector<std::string> known = named_.known();
        for (const std::string& name : known) {
            if (!done.insert(name).second) continue;
            provider_config usual;
            usual.name = name;
            usual.place = named_.place_of(name);
            (void)place(usual);
            found.push_back(std::move(usual));
        }
        // A project's services do not take the place of the user's: bare names keep their meaning.
        std::stable_partition(found.begin(), found.end(),
                              [this](const provider_config& each) { return is_of_user(each); });
        return found;
    }
    /// Those of the user, with the user's own settings alone, if there is a project's file.
    [[nodiscard]] std::vector<provider_config> of_user() const {
        std::vector<provider_config> found;
        const configuration* const users = settings_.without_project.get();
        if (!users) return found;
        std::set<std::string, std::less<>> without_section = named_.of_user();
        if (named_.user_names_none()) {
            const std::vector<provider_config> usual = all();
            if (!usual.empty() && is_of_user(usual.front()))
                without_section.insert(usual.front().name);
        }
        for (provider_config own : users->providers) {
            without_section.erase(own.name);
            (void)place(own);
            found.push_back(std::move(own));
        }
        for (const std::string& name : without_section) {
            provider_config own;
            own.name = name;
            (void)place(own);
            found.push_back(std::move(own));
        }
        return found;
    }

private:
    [[nodiscard]] bool has_variable(const usual_service& usual) const {
        return std::any_of(
            usual.variables.begin(), usual.variables.end(),
            [this](const auto& name) { return variables_.variable(name).has_value(); });
    }
    [[nodiscard]] bool is_of_user(const provider_config& each) const {
        const configuration* const users = settings_.without_project.get();
        if (!users || users->provider(each.name) || each.base_url_is_flag) return true;
        if (named_.of_user().contains(each.name)) return true;
        const auto& usual = usual_services();
        return std::any_of(usual.begin(), usual.end(), [&](const usual_service& one) {
            return one.name == each.name && has_variable(one);
        });
    }
    bool place(provider_config& own) const {
        if (!base_url_ || own.name != flagged_) return false;
        own.base_url = base_url_;
        own.base_url_is_flag = true;
        return true;
    }

    const configuration& settings_;
    const std::optional<std::string>& base_url_;
    const environment& variables_;
    named_services named_;
    std::string flagged_;
};

} // namespace

std::vector<provider_config> services_of_user(const configuration& settings,
                                              const std::optional<std::string>& base_url,
                                              const environment& variables,
                                              const std::optional<std::string>& model) {
    return service_list(settings, base_url, variables, model).of_user();
}

std::vector<configured_service> configured_services(const configuration& settings,
                                                    std::optional<std::string> base_url,
                                                    const service_parts& parts,
                                                    const std::optional<std::string>& model) {
    const service_list list(settings, base_url, parts.variables, model);
    std::vector<provider_config> found = list.all();
    account_bounds bounds(parts.variables);
    for (provider_config& own : list.of_user()) bounds.add(std::move(own));
    for (provider_config& each : found) bounds.restrict(each);
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
