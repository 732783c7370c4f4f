// How far the maps of a program have come.
#pragma once

#include <cstddef>

namespace heddle::lang {

class fiber;

/// Elements of maps that are under way.
struct map_progress {
    std::size_t total = 0;
    std::size_t ended = 0;  ///< with a value or, in map-settled, an error
    std::size_t failed = 0; ///< of these, with an error
};

/// The elements of the outermost calls of map and map-settled that are under way in a fiber and in
/// the branches that it has begun with other forms (parallel, race, spawn); the maps inside of
/// these maps do not count. Of very many branches the first ones are looked at. Must not be called
/// during a run of the machine.
[[nodiscard]] map_progress outermost_maps(const fiber& main);

} // namespace heddle::lang
