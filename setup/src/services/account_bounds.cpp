#include "services/account_bounds.hpp"

#include <heddle/base/ascii.hpp>

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

void account_bounds::add(provider_config own) {
    const auto type = find_service_type(type_of(own));
    if (!type) return;
    key_destination there = destination_of(own, *type, variables_);
    by_origin_[account_origin(there.address)].push_back({std::move(there.key), std::move(own)});
}

/// Only of two variables it is known, without reading files or running commands, that they have
/// different keys. A service on this machine may have the key itself.
bool account_bounds::may_be_same_key(const std::string& one, const std::string& other) const {
    if (one == other) return true;
    const secret key = variables_.key(one);
    const secret other_key = variables_.key(other);
    return key.empty() || other_key.empty() ||
           ascii::trim(key.reveal()) == ascii::trim(other_key.reveal());
}

void account_bounds::restrict(provider_config& settings) const {
    if (by_origin_.empty()) return;
    const auto type = find_service_type(type_of(settings));
    if (!type) return;
    const key_destination there = destination_of(settings, *type, variables_);
    const auto found = by_origin_.find(account_origin(there.address));
    if (found == by_origin_.end()) return;
    std::optional<service_bounds> loosest;
    for (const own_service& each : found->second) {
        if (!may_be_same_key(each.key, there.key)) continue;
        if (loosest) loosen(*loosest, each.bounds);
        else loosest = each.bounds;
    }
    if (loosest) restrict_to(settings, *loosest);
}

} // namespace heddle::setup
