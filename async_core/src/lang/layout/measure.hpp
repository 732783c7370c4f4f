// What fits in a line.
#pragma once

#include "lang/layout/syntax_tree.hpp"

namespace heddle::lang::layout {

/// Fills in fits_line, open_ended, width and need, from the leaves up. The shapes must be known:
/// they say which line ends of the author stay.
void measure(syntax_tree& tree);

/// Whether a blank must stand between the mark `n` and what it applies to: `, @x` is not `,@x`.
[[nodiscard]] bool mark_needs_blank(const syntax_tree& tree, const syntax_node& n) noexcept;

} // namespace heddle::lang::layout
