// Values that are handed on.
#pragma once

#include <heddle/lang/code.hpp>

namespace heddle::lang {

/// Makes each copy of a register that nothing reads afterwards a move (op::take): what is held once may
/// be changed in place, so that a loop that puts into a map is linear. Looks a bounded way ahead.
void move_last_uses(function& code);

/// Marks calls of builtins whose result is stored in a cell or a global (op::call_update): when the
/// first argument came from there, `(set! m (put m k v))`, it is held once as soon as that is cleared.
void mark_updates(function& code);

} // namespace heddle::lang
