// A coroutine run from code that is not one.
#pragma once

#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/task.hpp>

#include <functional>

namespace heddle::cli {

/// Runs `loop` until `work` has ended, and stops it. `on_end`, if not empty, is called on the loop
/// before it stops: whatever still waits there, such as a signal handler, ends then. Throws what
/// `work` threw. Threads: the calling thread, which runs the loop.
void run_to_end(coro::event_loop& loop, coro::task<void> work,
                const std::function<void()>& on_end = {});

} // namespace heddle::cli
