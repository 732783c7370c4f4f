// Which models a workflow can call.
#pragma once

#include <heddle/ports/llm_port.hpp>

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::tasks {

/// A provider and one of its models.
/// A model to which a route may send a request.
struct route_model {
    std::string provider;
    std::string model; ///< without the provider's name
};

struct model_choice {
    ports::llm_port* provider = nullptr;
    std::string model;                           ///< without the provider's name
    std::span<const route_model> route_models{}; ///< of a route; lives as long as the registry
    std::string_view settings{};                 ///< of set_settings; lives as long as the registry
};

/// The models that a provider is known to have.
struct accepted_models {
    std::vector<std::string> prefixes; ///< "gpt-": every name with that prefix
    std::vector<std::string> names;    ///< whole names
    std::string place{};               ///< where the list is, "heddle.toml:3"; empty: nowhere
};

/// The model names of a provider that have a colon where others have one after their service.
struct names_with_colon {
    std::vector<std::string> prefixes; ///< what may be before the first colon: "ft"
    bool any = false; ///< everything else too, unless it is close to the name of a provider
};

/// The configured providers by name, other names for their models, and the default model. Filled by
/// the host before the first run; the providers outlive it. Threads: its shard's only; from then on
/// any, as far as the providers allow it.
class model_registry {
public:
    /// Adds a provider under its provider_name(). A later one of the same name replaces it. The
    /// first one is the default provider until set_default names another.
    void add(ports::llm_port& provider);

    /// "provider:model", "model" (of the default provider), an existing alias or route.
    /// Errors: configuration: unknown provider, circular names.
    [[nodiscard]] result<void> set_default(std::string_view model);

    /// Another name for a model: `target` is "provider:model", "model" or a further name. A later
    /// one of the same name replaces it.
    void set_alias(std::string name, std::string target);
    /// A name for several models: `route` chooses among `models`, of which there is at least one.
    /// The route outlives the registry.
    void add_route(std::string name, ports::llm_port& route, std::vector<route_model> models);
    /// Sets the models that a provider has; without it, all names are accepted.
    void accept_only(std::string provider, accepted_models known);
    /// Which model names of `provider` may have a colon; without it, all. Otherwise a name that
    /// begins with no service is refused, so that a misspelt service is not sent to another one.
    void set_names_with_colon(std::string provider, names_with_colon names);
    /// What decides about the responses of a provider, or of a route, besides its name and the
    /// requests: where it is, defaults that it adds to requests, models of a route. A durable run
    /// uses a response again only where these are the same.
    void set_settings(std::string name, std::string settings);
    /// Whether an unknown model is an error rather than a warning.
    void set_strict(bool on) noexcept { strict_ = on; }

    /// `model` is "provider:model", "model", the name of an alias or a route, or empty, `provider`
    /// a name or empty; with a provider, `model` is its own name for it: with "ollama",
    /// "mistral:7b" is never sent to a service named mistral. A colon separates a provider only if
    /// that provider is configured ("llama3:8b" is a model, where set_names_with_colon allows it).
    /// Errors: configuration: unknown provider (with the known ones), no model, circular names,
    /// with set_strict() a model that the provider is not known to have.
    [[nodiscard]] result<model_choice> resolve(std::string_view model,
                                               std::string_view provider) const;

    /// Why a template that names this model may fail; empty if it should work. For warnings at
    /// registration.
    [[nodiscard]] std::optional<std::string> doubt_about(std::string_view model,
                                                         std::string_view provider) const;

    /// A copy with other ports of the same names: what `replace` returns for a provider or a route,
    /// of which it is asked once each. For loops of other threads (providers::remote_provider).
    [[nodiscard]] model_registry with_ports(
        const std::function<ports::llm_port&(ports::llm_port&)>& replace) const;

    [[nodiscard]] ports::llm_port* find(std::string_view provider) const noexcept;
    /// In the order in which they were added.
    [[nodiscard]] const std::vector<ports::llm_port*>& all() const noexcept { return providers_; }
    [[nodiscard]] bool empty() const noexcept { return providers_.empty(); }

private:
    struct named_route {
        ports::llm_port* port = nullptr;
        std::vector<route_model> models;
    };

    [[nodiscard]] std::string near_providers(std::string_view name) const;
    [[nodiscard]] error unknown_provider(std::string_view name) const;
    [[nodiscard]] result<void> check_colon(std::string_view model) const;
    [[nodiscard]] result<model_choice> resolve_name(std::string_view model,
                                                    std::string_view provider) const;
    [[nodiscard]] result<std::string_view> follow_aliases(std::string_view model) const;
    [[nodiscard]] std::optional<std::string> doubt_about(const model_choice& chosen) const;

    std::vector<ports::llm_port*> providers_;
    std::map<std::string, std::size_t, std::less<>> places_; ///< in providers_, by name
    ports::llm_port* default_provider_ = nullptr;
    std::string default_model_;
    std::map<std::string, std::string, std::less<>> aliases_;
    std::map<std::string, named_route, std::less<>> routes_;
    std::map<std::string, accepted_models, std::less<>> accepted_;
    std::map<std::string, names_with_colon, std::less<>> names_with_colon_;
    std::map<std::string, std::string, std::less<>> settings_; ///< by provider or route
    bool strict_ = false;
};

} // namespace heddle::tasks
