// How a form is laid out when it takes more than a line.
#pragma once

#include <cstdint>

namespace heddle::lang {

/// How the parts of a list are placed when it takes more than a line.
enum class shape : std::uint8_t {
    call,     ///< arguments below each other
    body,     ///< some parts beside the head, the others below it, two columns in
    block,    ///< as `body` when the author began a line after the head, else as `call`
    attempt,  ///< try: as `body`, but a single expression may stand beside the head
    branches, ///< if: as `call`; a line that the author began stays
    pairs,    ///< dict: a key and its value in each line
    rows,     ///< list: lines as the author began them
    data,     ///< rows without a head
    bindings, ///< each part in a line of its own
    clause,   ///< of cond and case: test, then body
    program
};

struct form_layout {
    shape form = shape::call;
    std::uint8_t beside_head = 0; ///< parts beside the head, when it is broken
    std::uint8_t bindings = 0;    ///< which part holds ((name value)…); 0: none
    std::uint8_t names = 0;       ///< which part holds names alone; 0: none
    std::uint8_t clauses = 0;     ///< from which part on they are (test body…); 0: none
};

} // namespace heddle::lang
