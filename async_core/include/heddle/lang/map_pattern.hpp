// Maps of the same keys.
#pragma once

#include <heddle/lang/heap.hpp>

#include <cstddef>
#include <span>

namespace heddle::lang {

/// A map with the keys of `pattern`, and with other items from the place `first` on, which are
/// moved: no key is looked for.
[[nodiscard]] value map_with_items(heap& memory, const value& pattern, std::size_t first,
                                   std::span<value> items);

} // namespace heddle::lang
