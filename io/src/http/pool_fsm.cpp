#include <heddle/http/pool_fsm.hpp>

namespace heddle::http {

pool_grant pool_fsm::acquire(pool_waiter& waiter) noexcept {
    if (closed_) return {};
    if (first_ == nullptr) {
        if (newest_ != nullptr) return {pool_answer::reuse, pop_newest(), nullptr};
        if (places_ < limits_.max_connections) {
            ++places_;
            return {pool_answer::open, nullptr, nullptr};
        }
    }
    waiter.queued_ = true;
    waiter.next_ = nullptr;
    waiter.previous_ = last_;
    (last_ != nullptr ? last_->next_ : first_) = &waiter;
    last_ = &waiter;
    ++waiting_;
    return {pool_answer::queued, nullptr, nullptr};
}

void pool_fsm::leave(pool_waiter& waiter) noexcept {
    if (!waiter.queued_) return;
    (waiter.previous_ != nullptr ? waiter.previous_->next_ : first_) = waiter.next_;
    (waiter.next_ != nullptr ? waiter.next_->previous_ : last_) = waiter.previous_;
    waiter.next_ = waiter.previous_ = nullptr;
    waiter.queued_ = false;
    --waiting_;
}

bool pool_fsm::released(pool_item& item, bool usable, time_point now) noexcept {
    // With somebody waiting it is kept even beyond max_idle: next_grant() takes it at once.
    if (!usable || closed_ || (idle_ >= limits_.max_idle && first_ == nullptr)) return false;
    item.idle_ = true;
    item.idle_since_ = now;
    item.newer_ = nullptr;
    item.older_ = newest_;
    (newest_ != nullptr ? newest_->newer_ : oldest_) = &item;
    newest_ = &item;
    ++idle_;
    return true;
}

void pool_fsm::gone(pool_item& item) noexcept {
    if (item.idle_) take_idle(item);
    --places_;
}

std::optional<pool_grant> pool_fsm::next_grant() noexcept {
    if (first_ == nullptr || closed_) return std::nullopt;
    if (newest_ != nullptr) {
        pool_item* item = pop_newest();
        return pool_grant{pool_answer::reuse, item, pop_first()};
    }
    if (places_ >= limits_.max_connections) return std::nullopt;
    ++places_;
    return pool_grant{pool_answer::open, nullptr, pop_first()};
}

pool_item* pool_fsm::expired(time_point now) const noexcept {
    return oldest_ != nullptr && now >= next_expiry() ? oldest_ : nullptr;
}

pool_fsm::time_point pool_fsm::next_expiry() const noexcept {
    return oldest_ != nullptr ? oldest_->idle_since_ + limits_.idle_age : time_point::max();
}

pool_waiter* pool_fsm::next_refused() noexcept { return closed_ ? pop_first() : nullptr; }

void pool_fsm::take_idle(pool_item& item) noexcept {
    (item.newer_ != nullptr ? item.newer_->older_ : newest_) = item.older_;
    (item.older_ != nullptr ? item.older_->newer_ : oldest_) = item.newer_;
    item.newer_ = item.older_ = nullptr;
    item.idle_ = false;
    --idle_;
}

pool_item* pool_fsm::pop_newest() noexcept {
    pool_item* item = newest_;
    take_idle(*item);
    return item;
}

pool_waiter* pool_fsm::pop_first() noexcept {
    pool_waiter* waiter = first_;
    if (waiter != nullptr) leave(*waiter);
    return waiter;
}

} // namespace heddle::http
