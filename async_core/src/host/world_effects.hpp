// The builtins that perform effects (docs/spec/language.md §8, World).
#pragma once

#include <heddle/host/effect.hpp>

#include <memory>
#include <vector>

namespace heddle::host {

class engine;

/// log-message print read-file write-file file-exists? list-directory getenv now uuid random sleep,
/// %defatom and %deftool. The engine outlives them.
[[nodiscard]] std::vector<std::shared_ptr<effect_handler>> make_world_effects(engine& engine);

} // namespace heddle::host
