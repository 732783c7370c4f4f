// Work whose end is waited for, however it ends.
#pragma once

#include <functional>
#include <utility>

namespace heddle::cli {

/// Reports work that ends without having said so: its coroutine has thrown, or has never begun for
/// want of memory. Whoever waits for the end would wait for ever. Held by the coroutine as a
/// parameter, so that it goes with it in any case.
class end_guard {
public:
    /// `on_loss` does not throw.
    explicit end_guard(std::function<void()> on_loss) : on_loss_(std::move(on_loss)) {}
    end_guard(end_guard&& other) noexcept : on_loss_(std::exchange(other.on_loss_, nullptr)) {}
    end_guard& operator=(end_guard&&) = delete;
    ~end_guard() {
        if (on_loss_) on_loss_();
    }
    /// The work has said how it ended.
    void ended() noexcept { on_loss_ = nullptr; }

private:
    std::function<void()> on_loss_; ///< empty: it has ended
};

} // namespace heddle::cli
