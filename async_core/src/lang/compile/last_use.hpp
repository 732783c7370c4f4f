// Values that are handed on.
#pragma once

#include "lang/realm/compile_watch.hpp"

#include <heddle/lang/code.hpp>

#include <optional>

namespace heddle::lang {

/// Finds the registers that nothing reads after an instruction, and lets it move them: what is held
/// once may be changed in place, so that a loop that puts into a map is linear. A copy becomes
/// op::take; op::rest, op::cons and what stores in a cell or a global get their flag. Time: linear
/// in the code, for every 1024 registers. An error of `work`, which may be null, ends it.
[[nodiscard]] std::optional<error> move_last_uses(function& code, compile_work* work);

/// Marks calls of builtins whose result is stored in a cell or a global (op::call_update): when the
/// first argument came from there, `(set! m (put m k v))`, it is held once as soon as that is
/// cleared. Of nested puts, `(set! m (put (put m k v) l w))`, the innermost, where nothing is
/// computed between them that could not be foreseen.
void mark_updates(function& code);

} // namespace heddle::lang
