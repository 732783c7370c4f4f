// Which form is laid out how.
#pragma once

#include "lang/layout/syntax_tree.hpp"

#include <string_view>

namespace heddle::lang::layout {

/// The layout of a form with that head, or null: an ordinary call.
[[nodiscard]] const form_layout* find_layout(std::string_view head) noexcept;

/// Sets the shape of each list of the tree, from its head and from what encloses it.
void assign_shapes(syntax_tree& tree);

} // namespace heddle::lang::layout
