// Compiling code that a running program made.
#pragma once

#include "lang/realm/compile_request.hpp"

#include <heddle/lang/compile.hpp>

#include <span>

namespace heddle::lang {

/// As compile. With a site, the code's captured values are its cells: capture i of the function is
/// cell captures[i].index.
[[nodiscard]] result<function_ref> compile_within(realm& realm, std::span<const datum> forms,
                                                  compile_request& request);

/// The form once no macro is at its head.
[[nodiscard]] result<value> expand_macros(realm& realm, const datum& form,
                                          compile_request& request);

} // namespace heddle::lang
