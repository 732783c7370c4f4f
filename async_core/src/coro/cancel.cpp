#include <heddle/coro/cancel.hpp>

namespace heddle::coro {

void cancel_hook::unhook() noexcept {
    if (!next_) return;
    next_->previous_ = previous_;
    previous_->next_ = next_;
    next_ = previous_ = nullptr;
}

cancel_source::cancel_source(cancel_source* parent) {
    if (!parent) return;
    if (parent->requested()) reason_ = parent->reason();
    else parent->hook(*this);
}

cancel_source::~cancel_source() {
    // Whoever is still hooked must not touch a dead list later.
    while (hooks_.hooked() && hooks_.next_ != &hooks_) hooks_.next_->unhook();
}

void cancel_source::hook(cancel_hook& waiting) noexcept {
    if (requested()) return;
    waiting.unhook();
    if (!hooks_.hooked()) hooks_.next_ = hooks_.previous_ = &hooks_;
    waiting.previous_ = hooks_.previous_;
    waiting.next_ = &hooks_;
    hooks_.previous_->next_ = &waiting;
    hooks_.previous_ = &waiting;
}

void cancel_source::request(cancel_reason reason) noexcept {
    if (requested() || reason == cancel_reason::none) return;
    reason_ = reason;
    // One at a time from the front: a hook may remove others.
    while (hooks_.hooked() && hooks_.next_ != &hooks_) {
        cancel_hook* first = hooks_.next_;
        first->unhook();
        first->on_cancel(reason);
    }
}

} // namespace heddle::coro
