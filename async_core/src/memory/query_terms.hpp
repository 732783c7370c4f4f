// A request as terms.
#pragma once

#include "memory/index/inverted_index.hpp"

namespace heddle::memory {

/// The query with full weight, description and inputs with half, earlier turns with a
/// quarter; a term counts with the greatest. At most 64 terms, the first of each part.
[[nodiscard]] index_query query_of(const ports::memory_request& request, std::size_t default_limit);

} // namespace heddle::memory
