#include "fiber_queue.hpp"

#include <utility>

namespace heddle::lang {

void fiber_queue::push_back(fiber& self) noexcept {
    self.queue_before_ = last_;
    self.queue_next_ = nullptr;
    (last_ ? last_->queue_next_ : first_) = &self;
    last_ = &self;
}

void fiber_queue::remove(fiber& self) noexcept {
    fiber* const before = std::exchange(self.queue_before_, nullptr);
    fiber* const next = std::exchange(self.queue_next_, nullptr);
    (before ? before->queue_next_ : first_) = next;
    (next ? next->queue_before_ : last_) = before;
}

void fiber_queue::replace(fiber& other, fiber& self) noexcept {
    fiber* const before = std::exchange(other.queue_before_, nullptr);
    fiber* const next = std::exchange(other.queue_next_, nullptr);
    self.queue_before_ = before;
    self.queue_next_ = next;
    (before ? before->queue_next_ : first_) = &self;
    (next ? next->queue_before_ : last_) = &self;
}

} // namespace heddle::lang
