// Threads with a stack of a given size.
#pragma once

#include <cstddef>

#include <pthread.h>

namespace heddle::lang {

/// Starts a thread with a stack of that size. False: there is no memory for it.
[[nodiscard]] bool start_thread(pthread_t& thread, std::size_t stack_bytes, void* (*run)(void*),
                                void* argument) noexcept;

} // namespace heddle::lang
