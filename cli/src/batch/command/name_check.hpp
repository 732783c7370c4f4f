// Names of a program that nothing defines, found before its rows are paid for.
#pragma once

#include "batch/rows/row_session.hpp"
#include "console.hpp"

#include <heddle/base/error.hpp>

#include <string>

namespace heddle::cli {

/// Checks that each name in the program is defined, also in functions that have not run yet. Names
/// that may come from an import are only warnings of `heddle check` and pass. `loaded`: a session
/// with the program; what it has defined is known. `rendered`: takes the mistakes as people read
/// them. Errors: unbound, with the first of them. Blocks for as long as it takes to read the text.
[[nodiscard]] result<void> check_defined_names(const batch_program& program, host::session& loaded,
                                               const console& output, std::string& rendered);

} // namespace heddle::cli
