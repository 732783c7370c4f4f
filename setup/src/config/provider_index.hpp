// The services of a configuration by their names.
#pragma once

#include <heddle/setup/config/configuration.hpp>

#include <string_view>
#include <unordered_map>

namespace heddle::setup {

/// For looks at many services: configuration::provider() goes through all of them each time, and a
/// file may have as many as fit into it. The configuration outlives it, and does not change.
class provider_index {
public:
    explicit provider_index(const configuration& of) {
        by_name_.reserve(of.providers.size());
        for (const provider_config& each : of.providers) by_name_.emplace(each.name, &each);
    }
    /// Null: there is none of that name.
    [[nodiscard]] const provider_config* find(std::string_view name) const noexcept {
        const auto found = by_name_.find(name);
        return found == by_name_.end() ? nullptr : found->second;
    }

private:
    std::unordered_map<std::string_view, const provider_config*> by_name_;
};

} // namespace heddle::setup
