#include <heddle/setup/config/configuration.hpp>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace heddle::setup {

namespace {

template <class Setting>
void fill(std::optional<Setting>& stronger, std::optional<Setting>& weaker) {
    if (!stronger) stronger = std::move(weaker);
}
template <class Item>
void fill(std::vector<Item>& stronger, std::vector<Item>& weaker) {
    if (stronger.empty()) stronger = std::move(weaker);
}

/// The smaller of two limits applies: a project may not raise a limit that its user has set.
template <class Limit>
void restrict(std::optional<Limit>& limit, const std::optional<Limit>& other) {
    if (!limit || (other && *other < *limit)) limit = other;
}

/// A model has to begin with a prefix of both lists; with the longer one, where one prefix begins
/// with the other.
void restrict_prefixes(std::optional<std::vector<std::string>>& prefixes,
                       const std::optional<std::vector<std::string>>& others) {
    if (!others) return;
    if (!prefixes) {
        prefixes = others;
        return;
    }
    std::vector<std::string> both;
    for (const std::string& one : *prefixes) {
        for (const std::string& other : *others) {
            if (one.starts_with(other)) both.push_back(one);
            else if (other.starts_with(one)) both.push_back(other);
        }
    }
    prefixes = std::move(both);
}

void lay_over(provider_config& stronger, provider_config& weaker) {
    if (stronger.type.empty()) stronger.type = std::move(weaker.type);
    // One place for a key: two layers that name different ones would otherwise both hold.
    if (!stronger.api_key_env && !stronger.api_key_file && stronger.api_key_command.empty()) {
        stronger.api_key_env = std::move(weaker.api_key_env);
        stronger.api_key_file = std::move(weaker.api_key_file);
        stronger.api_key_command = std::move(weaker.api_key_command);
    }
    if (!stronger.base_url) stronger.base_url_place = std::move(weaker.base_url_place);
    fill(stronger.base_url, weaker.base_url);
    fill(stronger.api_version, weaker.api_version);
    fill(stronger.organization, weaker.organization);
    fill(stronger.project, weaker.project);
    restrict_to(stronger, weaker);
    fill(stronger.share_prompt_prefixes, weaker.share_prompt_prefixes);
    tasks::fill_absent(stronger.request, weaker.request);
    fill(stronger.request_place, weaker.request_place);
}

/// Adds the items of `weaker` that `stronger` has none of; those of both are merged.
template <class Item, class Merge>
void lay_over_by_name(std::vector<Item>& stronger, std::vector<Item>& weaker, Merge&& merge) {
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < stronger.size(); ++i) places.emplace(stronger[i].name, i);
    for (Item& each : weaker) {
        const auto [same, added] = places.emplace(each.name, stronger.size());
        if (added) stronger.push_back(std::move(each));
        else merge(stronger[same->second], each);
    }
}

/// Removes the entries whose names others have.
template <class entry, class other>
void drop_named_in(std::vector<entry>& entries, const std::vector<other>& others) {
    const auto is_taken = [&others](const entry& each) {
        return std::any_of(others.begin(), others.end(),
                           [&each](const other& one) { return one.name == each.name; });
    };
    entries.erase(std::remove_if(entries.begin(), entries.end(), is_taken), entries.end());
}

/// The names that the models, aliases and routes of a configuration refer to.
std::unordered_set<std::string> names_in(const configuration& settings) {
    std::unordered_set<std::string> names;
    if (settings.model) names.insert(*settings.model);
    for (const alias_config& each : settings.aliases) names.insert(each.model);
    for (const route_config& each : settings.routes)
        names.insert(each.models.begin(), each.models.end());
    return names;
}

} // namespace

const provider_config* configuration::provider(std::string_view name) const noexcept {
    const auto found = std::find_if(providers.begin(), providers.end(),
                                    [&](const provider_config& each) { return each.name == name; });
    return found == providers.end() ? nullptr : &*found;
}

void restrict_to(service_bounds& settings, const service_bounds& others) {
    if (others.models && settings.models != others.models)
        settings.models_place = others.models_place;
    restrict_prefixes(settings.models, others.models);
    restrict(settings.max_in_flight, others.max_in_flight);
    restrict(settings.requests_per_minute, others.requests_per_minute);
    restrict(settings.tokens_per_minute, others.tokens_per_minute);
    restrict(settings.input_tokens_per_minute, others.input_tokens_per_minute);
    restrict(settings.output_tokens_per_minute, others.output_tokens_per_minute);
    restrict(settings.connect_timeout, others.connect_timeout);
    restrict(settings.first_byte_timeout, others.first_byte_timeout);
    restrict(settings.idle_timeout, others.idle_timeout);
    restrict(settings.total_timeout, others.total_timeout);
    restrict(settings.max_retries, others.max_retries);
}

void lay_over(configuration& stronger, configuration weaker) {
    const std::unordered_set<std::string> referred = names_in(weaker);
    for (std::string& file : weaker.files) stronger.files.push_back(std::move(file));
    if (!stronger.model) stronger.model_place = std::move(weaker.model_place);
    fill(stronger.model, weaker.model);
    restrict(stronger.concurrency, weaker.concurrency);
    restrict(stronger.memory_limit, weaker.memory_limit);
    restrict(stronger.step_limit, weaker.step_limit);
    fill(stronger.prices, weaker.prices);
    if (stronger.tasks.empty()) stronger.tasks_root = std::move(weaker.tasks_root);
    fill(stronger.tasks, weaker.tasks);
    fill(stronger.aider, weaker.aider);
    fill(stronger.pass_env, weaker.pass_env);
    lay_over_by_name(stronger.providers, weaker.providers,
                     [](provider_config& same, provider_config& other) { lay_over(same, other); });
    // The user's own names keep their meaning in every project, and so does what they refer to. An
    // alias and a route are found by the same names.
    const auto is_referred = [&](const auto& each) { return referred.contains(each.name); };
    std::erase_if(stronger.aliases, is_referred);
    std::erase_if(stronger.routes, is_referred);
    drop_named_in(stronger.aliases, weaker.routes);
    drop_named_in(stronger.routes, weaker.aliases);
    const auto keep_own = [](auto& same, auto& other) { same = std::move(other); };
    lay_over_by_name(stronger.aliases, weaker.aliases, keep_own);
    lay_over_by_name(stronger.routes, weaker.routes, keep_own);
    fill(stronger.cache.enabled, weaker.cache.enabled);
    fill(stronger.cache.file, weaker.cache.file);
    fill(stronger.cache.keep_for, weaker.cache.keep_for);
    fill(stronger.cache.max_bytes, weaker.cache.max_bytes);
    fill(stronger.http.http_proxy, weaker.http.http_proxy);
    fill(stronger.http.https_proxy, weaker.http.https_proxy);
    fill(stronger.http.no_proxy, weaker.http.no_proxy);
    fill(stronger.http.ca_file, weaker.http.ca_file);
    fill(stronger.http.ca_directory, weaker.http.ca_directory);
    fill(stronger.http.max_connections, weaker.http.max_connections);
    fill(stronger.http.user_agent, weaker.http.user_agent);
}

} // namespace heddle::setup
