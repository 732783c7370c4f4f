// Root coroutines: the only way to start one outside a nursery.
#pragma once

#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/task.hpp>

#include <functional>

namespace heddle::coro {

/// Starts `work` on the loop and calls `done` there when it has ended (with the exception that left
/// it, or null). The caller must keep the loop running until then. Used by the host's driver, the
/// CLI and tests; libraries use a nursery.
void spawn(event_loop& loop, task<void> work, std::function<void(std::exception_ptr)> done);

} // namespace heddle::coro
