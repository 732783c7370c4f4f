// Fibers that wait for the same, first come, first served.
#pragma once

#include <heddle/lang/fiber.hpp>

namespace heddle::lang {

/// Linked through the fibers themselves: a fiber waits in one queue at most, and leaves it in
/// constant time. Threads: the session's only.
class fiber_queue {
public:
    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
    [[nodiscard]] fiber* first() const noexcept { return first_; }
    [[nodiscard]] static fiber* after(const fiber& self) noexcept { return self.queue_next_; }
    void push_back(fiber& self) noexcept;
    void remove(fiber& self) noexcept;
    /// `self` waits in the place of `other`.
    void replace(fiber& other, fiber& self) noexcept;

private:
    fiber* first_ = nullptr;
    fiber* last_ = nullptr;
};

} // namespace heddle::lang
