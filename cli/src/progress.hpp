// The progress of a run.
#pragma once

#include "call_counts.hpp"
#include "console.hpp"
#include "progress_pace.hpp"
#include "progress_style.hpp"

#include <heddle/coro/event_loop.hpp>
#include <heddle/lang/map_progress.hpp>

#include <functional>
#include <string>

namespace heddle::cli {

/// What progress shows.
struct progress_source {
    const call_counts* counts = nullptr;        ///< of calls; never null
    std::function<lang::map_progress()> maps{}; ///< empty: there are none, and no lines
};

/// "[====>     ] 120/1,000 12% | 10/s | 88 s left | 3 failed | 121 calls done, 64 running", at most
/// `columns` wide (0: unbounded). `calls`: since the start; `rate`: elements a second.
[[nodiscard]] std::string run_progress_line(const lang::map_progress& maps,
                                            const call_counts& calls, double seconds, double rate,
                                            unsigned columns);

/// Shows what was counted since it was made: calls, the rate, the time, and how far the outermost
/// maps have come. On a terminal it redraws a line ten times a second; elsewhere it writes lines,
/// if there are maps to be watched. Nothing before the first call of a model or map. What it is
/// given outlives it. Threads: the loop's.
class progress final : private coro::timer_node {
public:
    progress(coro::event_loop& loop, console& target, progress_source source,
             progress_style style = progress_style::automatic);
    ~progress() { stop(); }

    /// Removes the line, and shows no more. As JSON, writes the last object; as lines, the last
    /// line, unless there were none and nobody has asked for them.
    void stop();

private:
    void on_timer() noexcept override;
    [[nodiscard]] lang::map_progress maps() const;

    coro::event_loop& loop_;
    console& console_;
    progress_source source_;
    progress_style style_;
    call_counts before_;
    progress_pace pace_;
    bool redraws_;
    bool stopped_ = false;
    bool shown_ = false;
};

} // namespace heddle::cli
