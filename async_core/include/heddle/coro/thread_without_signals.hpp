// Threads beside those of the program.
#pragma once

#include <functional>
#include <thread>

namespace heddle::coro {

/// Starts a thread that gets no signals: they are for the threads that the program, or the host of
/// a library, has for them. Signals are blocked in the calling thread only while it starts the
/// other. Errors: std::system_error where no thread can be started.
[[nodiscard]] std::thread thread_without_signals(std::function<void()> body);

} // namespace heddle::coro
