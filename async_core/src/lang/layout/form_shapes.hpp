// Which form is laid out how.
#pragma once

#include "lang/layout/syntax_tree.hpp"

#include <cstdint>
#include <string_view>

namespace heddle::lang::layout {

struct form_shape {
    std::string_view head;
    shape form = shape::call;
    std::uint8_t beside_head = 0; ///< parts beside the head, when it is broken
    std::uint8_t bindings = 0;    ///< which part holds ((name value)…); 0: none
    std::uint8_t names = 0;       ///< which part holds names alone; 0: none
    std::uint8_t clauses = 0;     ///< from which part on they are (test body…); 0: none
};

/// The row of a form, or null: an ordinary call.
[[nodiscard]] const form_shape* find_form_shape(std::string_view head) noexcept;

/// Gives each list of the tree its shape, from its head and from what it stands in.
void assign_shapes(syntax_tree& tree);

} // namespace heddle::lang::layout
