// A newer version of a program while it is being loaded.
#pragma once

#include <heddle/coro/cancel.hpp>

namespace heddle::embed {

/// Lets a load be cancelled for a version that is newer still.
/// Threads: that of the loop that loads.
class program_reload {
public:
    /// Of the load, while it lasts. Ends before the reload.
    class source {
    public:
        /// `parent` outlives this.
        source(program_reload& of, coro::cancel_source& parent) : of_(of), cancel_(&parent) {
            of_.running_ = &cancel_;
        }
        ~source() { of_.running_ = nullptr; }
        source(const source&) = delete;
        source& operator=(const source&) = delete;
        [[nodiscard]] coro::cancel_source& get() noexcept { return cancel_; }

    private:
        program_reload& of_;
        coro::cancel_source cancel_;
    };

    /// Cancels the load, unless it has ended.
    void supersede() noexcept {
        if (!running_) return;
        is_superseded_ = true;
        running_->request(cancel_reason::user);
    }
    [[nodiscard]] bool is_superseded() const noexcept { return is_superseded_; }

private:
    coro::cancel_source* running_ = nullptr;
    bool is_superseded_ = false;
};

} // namespace heddle::embed
