#include <heddle/tasks/model_registry.hpp>

#include <heddle/lang/errors.hpp>

#include <algorithm>

namespace heddle::tasks {

void model_registry::add(ports::llm_port& provider) {
    const auto same = std::find_if(providers_.begin(), providers_.end(), [&](const auto* known) {
        return known->provider_name() == provider.provider_name();
    });
    if (same == providers_.end()) {
        providers_.push_back(&provider);
    } else {
        if (default_provider_ == *same) default_provider_ = &provider;
        *same = &provider;
    }
    if (!default_provider_) default_provider_ = &provider;
}

ports::llm_port* model_registry::find(std::string_view provider) const noexcept {
    for (ports::llm_port* known : providers_) {
        if (known->provider_name() == provider) return known;
    }
    return nullptr;
}

error model_registry::unknown_provider(std::string_view name) const {
    std::string known;
    for (const ports::llm_port* one : providers_) {
        if (!known.empty()) known += ", ";
        known += one->provider_name();
    }
    error failure = lang::task_error("configuration_error",
                                     "there is no model provider '" + std::string(name) + "'");
    if (known.empty()) return failure;
    return std::move(failure).with_hint("configured: " + known);
}

result<void> model_registry::set_default(std::string_view model) {
    const std::size_t colon = model.find(':');
    if (colon != std::string_view::npos) {
        if (ports::llm_port* provider = find(model.substr(0, colon))) {
            default_provider_ = provider;
            model.remove_prefix(colon + 1);
        } else if (!default_provider_) {
            return unknown_provider(model.substr(0, colon));
        }
    }
    default_model_ = model;
    return {};
}

result<model_choice> model_registry::resolve(std::string_view model,
                                             std::string_view provider) const {
    model_choice chosen;
    if (const std::size_t colon = model.find(':'); colon != std::string_view::npos) {
        chosen.provider = find(model.substr(0, colon));
        if (chosen.provider) model.remove_prefix(colon + 1);
    }
    if (!chosen.provider && !provider.empty()) {
        chosen.provider = find(provider);
        if (!chosen.provider) return unknown_provider(provider);
    }
    if (!chosen.provider) chosen.provider = default_provider_;
    if (!chosen.provider) {
        return lang::task_error("configuration_error", "no model provider is configured");
    }
    // The default model belongs to the default provider.
    if (model.empty() && chosen.provider == default_provider_) model = default_model_;
    if (model.empty()) {
        return lang::task_error("configuration_error",
                                "no model is given for provider '" +
                                    std::string(chosen.provider->provider_name()) + "'")
            .with_hint("add a (model \"…\") clause, or name a default model");
    }
    chosen.model = model;
    return chosen;
}

} // namespace heddle::tasks
