// Ends a wait for a file descriptor from another thread.
#pragma once

#include <heddle/fs/descriptor.hpp>

#include <atomic>

namespace heddle::rows {

class interruption {
public:
    interruption();

    void request() noexcept;
    [[nodiscard]] bool requested() const noexcept {
        return requested_.load(std::memory_order_acquire);
    }
    /// Waits until `number` has data or has ended. False: interrupted.
    [[nodiscard]] bool wait_for(int number) const noexcept;

private:
    std::atomic<bool> requested_{false};
    fs::descriptor event_;
};

} // namespace heddle::rows
