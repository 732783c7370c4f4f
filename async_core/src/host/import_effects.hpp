// The host's part of (import "…").
#pragma once

#include <heddle/host/effect.hpp>

#include <memory>
#include <vector>

namespace heddle::host {

/// `%import-begin` and `%import-end`, which the prelude's import is made of.
[[nodiscard]] std::vector<std::shared_ptr<effect_handler>> make_import_effects();

} // namespace heddle::host
