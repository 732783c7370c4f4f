// The page of the C++ reference.
#pragma once

#include "public_header.hpp"

#include <string>
#include <vector>

namespace heddle::checks {

/// Markdown: a section for each header that declares something, in the given order.
[[nodiscard]] std::string reference_page(const std::vector<public_header>& headers);

} // namespace heddle::checks
