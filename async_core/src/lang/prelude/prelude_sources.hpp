// The texts of the prelude, embedded by the build.
#pragma once

#include <span>
#include <string_view>

namespace heddle::lang {

struct prelude_source {
    std::string_view name;
    std::string_view text;
};

[[nodiscard]] std::span<const prelude_source> prelude_sources();

} // namespace heddle::lang
