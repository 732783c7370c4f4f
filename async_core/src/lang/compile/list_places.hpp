// Lists that know where in the source their elements stand.
#pragma once

#include <heddle/lang/heap.hpp>
#include <heddle/lang/reader.hpp>

#include <vector>

namespace heddle::lang {

/// A list of `items`, each with the place of the same number; `whole` is that of the list. Throws
/// std::bad_alloc.
[[nodiscard]] value list_with_places(heap& memory, const std::vector<value>& items,
                                     const std::vector<source_span>& spans, source_span whole);

} // namespace heddle::lang
