#include "services/account_bounds.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace heddle::setup {

namespace {

/// What is absent does not bound.
template <class Limit>
void loosen(std::optional<Limit>& bound, const std::optional<Limit>& other) {
    if (!other) bound.reset();
    else if (bound) bound = std::max(*bound, *other);
}

void loosen(std::optional<std::vector<std::string>>& prefixes,
            const std::optional<std::vector<std::string>>& others) {
    if (!others) prefixes.reset();
    else if (prefixes) prefixes->insert(prefixes->end(), others->begin(), others->end());
}

void loosen(service_bounds& bounds, const service_bounds& others) {
    loosen(bounds.models, others.models);
    loosen(bounds.max_in_flight, others.max_in_flight);
    loosen(bounds.requests_per_minute, others.requests_per_minute);
    loosen(bounds.tokens_per_minute, others.tokens_per_minute);
    loosen(bounds.input_tokens_per_minute, others.input_tokens_per_minute);
    loosen(bounds.output_tokens_per_minute, others.output_tokens_per_minute);
    loosen(bounds.connect_timeout, others.connect_timeout);
    loosen(bounds.first_byte_timeout, others.first_byte_timeout);
    loosen(bounds.idle_timeout, others.idle_timeout);
    loosen(bounds.total_timeout, others.total_timeout);
    loosen(bounds.max_retries, others.max_retries);
}

} // namespace

account_bounds::account_bounds(const configuration& all, const environment& variables)
    : variables_(variables) {
    if (!all.without_project) return;
    for (const provider_config& each : all.without_project->providers) {
        const auto type = find_service_type(type_of(each));
        if (!type) continue;
        key_destination there = destination_of(each, *type, variables);
        by_address_[std::move(there.address)].push_back({std::move(there.key), &each});
    }
}

/// Two names may stand for one key: two variables of the same value.
bool account_bounds::is_same_key(const std::string& one, const std::string& other) const {
    if (one == other) return true;
    const secret key = variables_.key(one);
    return !key.empty() && key.reveal() == variables_.key(other).reveal();
}

void account_bounds::restrict(provider_config& settings) const {
    if (by_address_.empty() || settings.base_url_is_flag) return;
    const auto type = find_service_type(type_of(settings));
    if (!type) return;
    const key_destination there = destination_of(settings, *type, variables_);
    const auto found = by_address_.find(there.address);
    if (found == by_address_.end()) return;
    std::optional<service_bounds> loosest;
    for (const own_service& each : found->second) {
        if (!is_same_key(each.key, there.key)) continue;
        if (loosest) loosen(*loosest, *each.settings);
        else loosest = *each.settings;
    }
    if (loosest) restrict_to(settings, *loosest);
}

} // namespace heddle::setup
