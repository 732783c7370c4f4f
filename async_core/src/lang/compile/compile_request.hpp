// Compiling code that a running program made.
#pragma once

#include "compile_watch.hpp"
#include "eval_site.hpp"
#include "reach.hpp"

#include <heddle/lang/compile.hpp>

namespace heddle::lang {

struct compile_request {
    const eval_site* site = nullptr; ///< the names around it, or null: the top level
    reach limits;
    bool generated = false;         ///< by a program: bound in size
    bool in_one = false;            ///< a top-level import does not split the program
    bool internal_names = false;    ///< a text of our own: it may use names that begin with %
    compile_watch* watch = nullptr; ///< of a program that waits for it
    static constexpr std::uint64_t max_expansion_steps = 10'000'000;
    std::uint64_t expansion_steps = max_expansion_steps; ///< of macros; what is left afterwards
};

/// As compile. With a site, the code's captured values are its cells: capture i of the function is
/// cell captures[i].index.
[[nodiscard]] result<function_ref> compile_within(realm& world, std::span<const datum> forms,
                                                  compile_request& request);

/// The form once no macro is at its head.
[[nodiscard]] result<value> expand_macros(realm& world, const datum& form,
                                          compile_request& request);

} // namespace heddle::lang
