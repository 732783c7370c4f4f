// Which models a workflow can call.
#pragma once

#include <heddle/ports/llm_port.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// A provider and the model to ask it for.
struct model_choice {
    ports::llm_port* provider = nullptr;
    std::string model; ///< without the provider's name
};

/// The configured providers by name and the model that is used when nobody names one. Filled by the
/// host before the first run; the providers outlive it. Threads: its shard's only.
class model_registry {
public:
    /// Adds a provider under its provider_name(). A later one of the same name replaces it. The
    /// first one is the default provider until set_default names another.
    void add(ports::llm_port& provider);

    /// "provider:model" or "model" (of the default provider).
    /// Errors: configuration when the part before the colon looks like a provider that is not
    /// there.
    [[nodiscard]] result<void> set_default(std::string_view model);

    /// `model` is "provider:model", "model" or empty, `provider` a name or empty. A colon separates
    /// a provider only if that provider is configured ("llama3:8b" is a model). Errors:
    /// configuration: unknown provider (with those that are known), no model.
    [[nodiscard]] result<model_choice> resolve(std::string_view model,
                                               std::string_view provider) const;

    [[nodiscard]] ports::llm_port* find(std::string_view provider) const noexcept;
    [[nodiscard]] bool empty() const noexcept { return providers_.empty(); }

private:
    [[nodiscard]] error unknown_provider(std::string_view name) const;

    std::vector<ports::llm_port*> providers_;
    ports::llm_port* default_provider_ = nullptr;
    std::string default_model_;
};

} // namespace heddle::tasks
