// The status line of a run.
#pragma once

#include "call_counts.hpp"
#include "console.hpp"

#include <heddle/coro/event_loop.hpp>

namespace heddle::cli {

/// Redraws the status line ten times a second. Shows what was counted since it was made, the rate,
/// and the time; nothing before the first call of a model, and nothing at all unless standard error
/// is a terminal. Its arguments outlive it. Threads: the loop's.
class progress final : private coro::timer_node {
public:
    progress(coro::event_loop& loop, console& target, const call_counts& counts);
    ~progress() { stop(); }

    /// Removes the line, and draws no more.
    void stop();

private:
    void on_timer() noexcept override;

    coro::event_loop& loop_;
    console& console_;
    const call_counts& counts_;
    call_counts before_;
    coro::clock::time_point began_;
    std::string shown_;
};

} // namespace heddle::cli
