// How long a test with real threads, sockets or processes waits for what must happen.
#pragma once

#include "sanitizers.hpp"

#include <chrono>
#include <thread>

/// No test bounds real time more closely than `limit`: a loaded machine may be slow. Tests compare
/// virtual time, the order of events, or counts of work; what hangs ends at this guard.
namespace heddle::hang_guard {

/// What takes longer hangs.
inline constexpr std::chrono::seconds limit{sanitizers::is_watching ? 240 : 60};
/// For what a test must not wait for: a wait for it exceeds `limit`.
inline constexpr std::chrono::seconds far_beyond{600};
static_assert(far_beyond > 2 * limit);

/// Calls `condition` on this thread each millisecond until it returns true. Returns false when that
/// takes longer than `limit`.
template <class Condition>
[[nodiscard]] bool comes_true(Condition condition) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= until) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

} // namespace heddle::hang_guard
