// Circular aliases of models.
#pragma once

#include <heddle/setup/config/configuration.hpp>

#include <string>
#include <vector>

namespace heddle::setup {

struct alias_circle {
    config_place place; ///< of the first of its aliases
    std::string text;   ///< "the aliases lead in a circle: a -> b -> a"
};

/// All circles, each once, in the order of the aliases.
[[nodiscard]] std::vector<alias_circle> alias_circles(const std::vector<alias_config>& aliases);

} // namespace heddle::setup
