// A value that differs from another one in all its data.
#pragma once

#include <heddle/lang/heap.hpp>
#include <heddle/lang/value.hpp>

namespace heddle::host {

/// As `given`, but strings and numbers in it are others: what is computed from them, and asks the
/// world, asks something else. Of a result of a task (a map with status and content), only its
/// content and its parsed content are. Deep structures are left as they are below 100 levels.
[[nodiscard]] lang::value another_value(lang::heap& memory, const lang::value& given);

} // namespace heddle::host
