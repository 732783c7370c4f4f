#include <heddle/coro/timer_wheel.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

namespace heddle::coro {

namespace {

constexpr unsigned bits = 6;

unsigned level_for(std::uint64_t now, std::uint64_t tick) noexcept {
    const std::uint64_t differing = (now ^ tick) | 63U;
    return (63U - static_cast<unsigned>(std::countl_zero(differing))) / bits;
}

} // namespace

void timer_node::unschedule() noexcept {
    if (wheel_) wheel_->remove(*this);
}

timer_wheel::~timer_wheel() {
    for (auto& level : slots_) {
        for (timer_node*& head : level) {
            while (head) remove(*head);
        }
    }
}

void timer_wheel::schedule(timer_node& node, std::uint64_t tick) noexcept {
    node.unschedule();
    node.tick_ = std::min(std::max(tick, now_ + 1), last_tick);
    place(node);
    ++size_;
}

void timer_wheel::place(timer_node& node) noexcept {
    const unsigned level = level_for(now_, node.tick_);
    const unsigned slot = (node.tick_ >> (level * bits)) & 63U;
    node.level_ = static_cast<std::uint8_t>(level);
    node.slot_ = static_cast<std::uint8_t>(slot);
    node.wheel_ = this;
    timer_node*& head = slots_[level][slot];
    node.previous_ = nullptr;
    node.next_ = head;
    if (head) head->previous_ = &node;
    head = &node;
    occupied_[level] |= std::uint64_t{1} << slot;
}

void timer_wheel::remove(timer_node& node) noexcept {
    timer_node*& head = slots_[node.level_][node.slot_];
    if (node.previous_) node.previous_->next_ = node.next_;
    else head = node.next_;
    if (node.next_) node.next_->previous_ = node.previous_;
    if (!head) occupied_[node.level_] &= ~(std::uint64_t{1} << node.slot_);
    node.next_ = node.previous_ = nullptr;
    node.wheel_ = nullptr;
    --size_;
}

std::uint64_t timer_wheel::next_tick() const noexcept {
    // The lowest occupied level holds the earliest node, and its slots all lie ahead of now_.
    for (unsigned level = 0; level < levels; ++level) {
        if (occupied_[level] == 0) continue;
        const auto slot = static_cast<std::uint64_t>(std::countr_zero(occupied_[level]));
        const std::uint64_t turn = std::uint64_t{1} << ((level + 1) * bits);
        return (now_ & ~(turn - 1)) + (slot << (level * bits));
    }
    return std::numeric_limits<std::uint64_t>::max();
}

void timer_wheel::advance(std::uint64_t target) noexcept {
    while (size_ != 0) {
        const std::uint64_t next = next_tick();
        if (next > target) break;
        now_ = next;
        // Cascade from the top, so that what is due now reaches level 0 in this turn.
        for (unsigned level = levels - 1; level > 0; --level) {
            const unsigned slot = (now_ >> (level * bits)) & 63U;
            if ((occupied_[level] >> slot & 1U) == 0) continue;
            while (timer_node* node = slots_[level][slot]) {
                remove(*node);
                place(*node);
                ++size_;
            }
        }
        while (timer_node* node = slots_[0][now_ & 63U]) {
            remove(*node);
            node->on_timer();
        }
    }
    now_ = std::max(now_, target);
}

} // namespace heddle::coro
