// Errors that cross threads.
#pragma once

#include <heddle/base/error.hpp>

namespace heddle {

/// A copy of `failure` for another thread: its code, message, hint, origin, cancellation and retry
/// facts. What may hold values of a session is left out: payload, trace, place and causes.
/// Threads: that of `failure`; the result may go to any.
[[nodiscard]] error detached_error(const error& failure);

} // namespace heddle
