// The status of a batch while it runs.
#pragma once

#include "batch/progress/batch_counts.hpp"
#include "console.hpp"
#include "progress_pace.hpp"
#include "progress_style.hpp"

#include <heddle/coro/event_loop.hpp>

#include <functional>
#include <string>

namespace heddle::cli {

/// The line for people, at most `columns` wide: "[====>     ] 1,305/5,000 26% | 265/s | 14 s left |
/// 64 running | 2 failed | $0.019 of $0.5". `seconds`: of this process; `rate`: rows a second.
[[nodiscard]] std::string progress_line(const batch_counts& counts, double seconds, double rate,
                                        unsigned columns);
/// The same as a JSON object in one line. `event`: "progress" or "end".
[[nodiscard]] std::string progress_json(const batch_counts& counts, double seconds, double rate,
                                        std::string_view event);

/// Redraws the status line on a terminal ten times a second; elsewhere writes a line after 2, 10
/// and then each 30 seconds. Everything it is given outlives it. Threads: the loop's.
class batch_progress final : private coro::timer_node {
public:
    batch_progress(coro::event_loop& loop, console& output, progress_style style,
                   std::function<batch_counts()> counts);
    ~batch_progress() { stop(); }

    /// Takes the status line away and writes the last line.
    void stop();

private:
    void on_timer() noexcept override;
    void show();

    coro::event_loop& loop_;
    console& console_;
    progress_style style_;
    bool redraws_;
    bool stopped_ = false;
    std::function<batch_counts()> counts_;
    progress_pace pace_;
};

} // namespace heddle::cli
