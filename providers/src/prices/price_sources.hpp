// The embedded price files (providers/data).
#pragma once

#include <span>
#include <string_view>

namespace heddle::providers {

struct price_source {
    std::string_view name;
    std::string_view text;
};

[[nodiscard]] std::span<const price_source> price_sources();

} // namespace heddle::providers
