// What others ask of a batch, from the beginning of its process on.
#pragma once

#include "batch/execution/batch_run.hpp"
#include "batch/progress/batch_counts.hpp"
#include "batch/request/run_limits.hpp"

#include <functional>
#include <string>
#include <utility>

namespace heddle::cli {

/// Steers a batch. What is asked while its program is being loaded takes effect when its rows
/// begin; only cancel() does at once. Threads: the loop's.
class batch_steering {
public:
    /// `program`: the file that is loaded, for people. `on_cancel`: of the loading. `on_set`: keeps
    /// limits for later processes.
    batch_steering(std::string program, std::function<void()> on_cancel,
                   std::function<void(const run_limits&)> on_set)
        : program_(std::move(program)), on_cancel_(std::move(on_cancel)),
          on_set_(std::move(on_set)) {}

    /// The rows begin. `batch` outlives the use of this, or detach() comes before its end.
    void attach(batch_run& batch);
    void detach() noexcept { batch_ = nullptr; }

    void pause(bool paused);
    [[nodiscard]] bool is_paused() const noexcept { return paused_; }
    void cancel();
    /// They are valid (check_limit).
    void set(const run_limits& limits);
    [[nodiscard]] batch_counts counts() const;
    /// cancel() was called.
    [[nodiscard]] bool was_cancelled() const noexcept { return cancelled_; }

private:
    std::string program_;
    std::function<void()> on_cancel_;
    batch_run* batch_ = nullptr; ///< null: the program is being loaded
    bool paused_ = false;
    bool cancelled_ = false;
    std::function<void(const run_limits&)> on_set_;
    run_limits limits_; ///< that were set while the program was being loaded
};

} // namespace heddle::cli
