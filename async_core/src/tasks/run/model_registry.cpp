#include <heddle/tasks/run/model_registry.hpp>

#include <heddle/lang/errors.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

constexpr std::size_t max_list_bytes = 500; // bytes of names in a hint

} // namespace

void model_registry::add(ports::llm_port& provider) {
    const auto [same, added] =
        places_.emplace(std::string(provider.provider_name()), providers_.size());
    if (added) {
        providers_.push_back(&provider);
    } else {
        ports::llm_port*& replaced = providers_[same->second];
        if (default_provider_ == replaced) default_provider_ = &provider;
        replaced = &provider;
    }
    if (!default_provider_) default_provider_ = &provider;
}

model_registry model_registry::with_ports(
    const std::function<ports::llm_port&(ports::llm_port&)>& replace) const {
    model_registry copy = *this;
    std::map<const ports::llm_port*, ports::llm_port*> replaced;
    const auto replace_in = [&](ports::llm_port*& port) {
        if (!port) return;
        ports::llm_port*& other = replaced[port];
        if (!other) other = &replace(*port);
        port = other;
    };
    for (ports::llm_port*& each : copy.providers_) replace_in(each);
    for (auto& [name, route] : copy.routes_) replace_in(route.port);
    replace_in(copy.default_provider_);
    return copy;
}

ports::llm_port* model_registry::find(std::string_view provider) const noexcept {
    const auto found = places_.find(provider);
    return found == places_.end() ? nullptr : providers_[found->second];
}

/// "did you mean 'x'?", or empty.
std::string model_registry::near_providers(std::string_view name) const {
    std::vector<std::string> names;
    for (const ports::llm_port* one : providers_) names.emplace_back(one->provider_name());
    return lang::suggest_names(name, names);
}

error model_registry::unknown_provider(std::string_view name) const {
    std::string known;
    for (const ports::llm_port* one : providers_) {
        if (!known.empty()) known += ", ";
        if (known.size() > max_list_bytes) {
            known += "…";
            break;
        }
        known += one->provider_name();
    }
    error failure = task_failed(task_failure_reason::configuration_error,
                                "there is no model provider '" + std::string(name) + "'");
    if (known.empty()) return failure;
    const std::string near = near_providers(name);
    return std::move(failure).with_hint((near.empty() ? "" : near + " ") + "configured: " + known);
}

/// Of a model of the default provider: whether what is before its first colon is not a service.
result<void> model_registry::check_colon(std::string_view model) const {
    const std::size_t colon = model.find(':');
    if (colon == std::string_view::npos || !default_provider_) return {};
    const std::string_view service = default_provider_->provider_name();
    const auto known = names_with_colon_.find(service);
    if (known == names_with_colon_.end()) return {};
    const std::string_view prefix = model.substr(0, colon);
    const std::vector<std::string>& prefixes = known->second.prefixes;
    if (std::find(prefixes.begin(), prefixes.end(), prefix) != prefixes.end()) return {};
    if (prefix.find('/') != std::string_view::npos) return {}; // "meta-llama/llama-3:free"
    if (known->second.any && near_providers(prefix).empty()) return {};
    error failure = unknown_provider(prefix);
    const std::string hint = failure.info().hint;
    return std::move(failure).with_hint(hint + "; a model whose name contains a colon is written " +
                                        std::string(service) + ":" + std::string(model));
}

result<void> model_registry::set_default(std::string_view model) {
    HEDDLE_TRY(model, follow_aliases(model));
    const std::size_t colon = model.find(':');
    if (colon != std::string_view::npos) {
        if (ports::llm_port* provider = find(model.substr(0, colon))) {
            default_provider_ = provider;
            model.remove_prefix(colon + 1);
        } else if (!default_provider_) {
            return unknown_provider(model.substr(0, colon));
        } else {
            HEDDLE_CHECK(check_colon(model));
        }
    }
    default_model_ = model;
    return {};
}

void model_registry::set_alias(std::string name, std::string target) {
    aliases_.insert_or_assign(std::move(name), std::move(target));
}

void model_registry::add_route(std::string name, ports::llm_port& route,
                               std::vector<route_model> models) {
    routes_.insert_or_assign(std::move(name), named_route{&route, std::move(models)});
}

void model_registry::accept_only(std::string provider, accepted_models known) {
    accepted_.insert_or_assign(std::move(provider), std::move(known));
}

void model_registry::set_settings(std::string name, std::string settings) {
    settings_.insert_or_assign(std::move(name), std::move(settings));
}

result<std::string_view> model_registry::follow_aliases(std::string_view model) const {
    const std::string_view first = model;
    for (std::size_t steps = 0; steps <= aliases_.size(); ++steps) {
        const auto alias = aliases_.find(model);
        if (alias == aliases_.end()) return model;
        model = alias->second;
    }
    return task_failed(task_failure_reason::configuration_error,
                       "the model name '" + std::string(first) + "' leads back to itself")
        .with_hint("one of its aliases has to name a model of a provider");
}

result<model_choice> model_registry::resolve(std::string_view model,
                                             std::string_view provider) const {
    HEDDLE_TRY(model_choice chosen, resolve_name(model, provider));
    const auto set = settings_.find(chosen.provider->provider_name());
    if (set != settings_.end()) chosen.settings = set->second;
    if (!strict_) return chosen;
    if (auto doubt = doubt_about(chosen)) {
        return task_failed(task_failure_reason::configuration_error, *std::move(doubt));
    }
    return chosen;
}

result<model_choice> model_registry::resolve_name(std::string_view model,
                                                  std::string_view provider) const {
    model_choice chosen;
    if (provider.empty()) {
        HEDDLE_TRY(model, follow_aliases(model));
        const auto route = routes_.find(model.empty() ? default_model_ : model);
        if (route != routes_.end()) {
            chosen.provider = route->second.port;
            chosen.model = route->second.models.front().model;
            chosen.route_models = route->second.models;
            return chosen;
        }
    }
    if (const std::size_t colon = model.find(':'); colon != std::string_view::npos) {
        const std::string_view prefix = model.substr(0, colon);
        if (provider.empty() || prefix == provider) chosen.provider = find(prefix);
        if (chosen.provider) model.remove_prefix(colon + 1);
    }
    if (!chosen.provider && !provider.empty()) {
        chosen.provider = find(provider);
        if (!chosen.provider) return unknown_provider(provider);
    }
    if (!chosen.provider) {
        HEDDLE_CHECK(check_colon(model));
        chosen.provider = default_provider_;
    }
    if (!chosen.provider) {
        return task_failed(task_failure_reason::configuration_error,
                           "no model provider is configured");
    }
    // The default model belongs to the default provider.
    if (model.empty() && chosen.provider == default_provider_ &&
        !routes_.contains(default_model_)) {
        model = default_model_;
    }
    if (model.empty()) {
        return task_failed(task_failure_reason::configuration_error,
                           "no model is given for provider '" +
                               std::string(chosen.provider->provider_name()) + "'")
            .with_hint("add a (model \"…\") clause, or name a default model");
    }
    chosen.model = model;
    return chosen;
}

void model_registry::set_names_with_colon(std::string provider, names_with_colon names) {
    names_with_colon_.insert_or_assign(std::move(provider), std::move(names));
}

std::optional<std::string> model_registry::doubt_about(const model_choice& chosen) const {
    const std::string_view provider = chosen.provider->provider_name();
    const auto known = accepted_.find(provider);
    if (known == accepted_.end()) return std::nullopt;
    const accepted_models& accepted = known->second;
    const auto begins = [&](const std::string& prefix) { return chosen.model.starts_with(prefix); };
    if (std::any_of(accepted.prefixes.begin(), accepted.prefixes.end(), begins)) return {};
    if (std::find(accepted.names.begin(), accepted.names.end(), chosen.model) !=
        accepted.names.end()) {
        return {};
    }
    std::string reported = "provider '" + std::string(provider) +
                           "' is not known to have a model '" + chosen.model + "'";
    if (!accepted.place.empty()) reported += " (models in " + accepted.place + ")";
    for (const auto& [other, models] : accepted_) { // the right name at the wrong service
        if (other == provider || !find(other)) continue;
        if (std::any_of(models.prefixes.begin(), models.prefixes.end(), begins)) {
            return reported + "; '" + other + ":" + chosen.model + "' may be meant";
        }
    }
    return reported;
}

std::optional<std::string> model_registry::doubt_about(std::string_view model,
                                                       std::string_view provider) const {
    const auto chosen = resolve_name(model, provider);
    if (!chosen) return chosen.error().message();
    return doubt_about(*chosen);
}

} // namespace heddle::tasks
