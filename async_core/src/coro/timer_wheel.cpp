#include <heddle/coro/timer_wheel.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>

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

void timer_wheel::schedule(timer_node& node, std::uint64_t tick, std::uint64_t order) noexcept {
    node.unschedule();
    node.tick_ = std::min(std::max(tick, now_ + 1), last_tick);
    node.order_ = order;
    place(node);
    ++size_;
}

/// At the end of its list, so that what was scheduled first stays first.
void timer_wheel::place(timer_node& node) noexcept {
    const unsigned level = level_for(now_, node.tick_);
    const unsigned slot = (node.tick_ >> (level * bits)) & 63U;
    node.level_ = static_cast<std::uint8_t>(level);
    node.slot_ = static_cast<std::uint8_t>(slot);
    node.wheel_ = this;
    node.next_ = nullptr;
    timer_node*& head = slots_[level][slot];
    if (head) {
        timer_node* const last = head->previous_;
        node.previous_ = last;
        last->next_ = &node;
        head->previous_ = &node;
    } else {
        node.previous_ = &node;
        head = &node;
    }
    occupied_[level] |= std::uint64_t{1} << slot;
}

void timer_wheel::remove(timer_node& node) noexcept {
    timer_node*& head = slots_[node.level_][node.slot_];
    timer_node* const next = node.next_;
    timer_node* const previous = node.previous_;
    if (head == &node) head = next;
    else previous->next_ = next;
    if (next) next->previous_ = previous;
    else if (head) head->previous_ = previous; // it was the last one
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

/// Advances time to a tick that next_tick() returned.
void timer_wheel::move_to(std::uint64_t tick) noexcept {
    now_ = tick;
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
}

timer_node* timer_wheel::merge(timer_node* left, timer_node* right) noexcept {
    timer_node* merged = nullptr;
    timer_node** end = &merged;
    while (left && right) {
        timer_node*& first = right->order_ < left->order_ ? right : left;
        *end = first;
        end = &first->next_;
        first = first->next_;
    }
    *end = left ? left : right;
    return merged;
}

/// Those of the current tick in their order: a merge sort from below, in lists of 1, 2, 4 … nodes.
void timer_wheel::sort_due() noexcept {
    // Nothing is scheduled for the current tick any more.
    if (std::exchange(sorted_, now_) == now_) return;
    timer_node*& head = slots_[0][now_ & 63U];
    bool sorted = true;
    for (timer_node* node = head; node && node->next_ && sorted; node = node->next_)
        sorted = node->order_ <= node->next_->order_;
    if (sorted) return;
    std::array<timer_node*, 64> runs{};
    for (timer_node* node = head; node;) {
        timer_node* carried = std::exchange(node, node->next_);
        carried->next_ = nullptr;
        std::size_t i = 0;
        for (; runs[i]; ++i) carried = merge(std::exchange(runs[i], nullptr), carried);
        runs[i] = carried;
    }
    timer_node* all = nullptr;
    for (timer_node* run : runs) all = merge(run, all);
    head = all;
    timer_node* last = nullptr;
    for (timer_node* node = head; node; node = node->next_) {
        node->previous_ = last;
        last = node;
    }
    head->previous_ = last;
}

void timer_wheel::advance(std::uint64_t target) noexcept {
    while (size_ != 0) {
        const std::uint64_t next = next_tick();
        if (next > target) break;
        move_to(next);
        sort_due();
        while (timer_node* node = slots_[0][now_ & 63U]) {
            remove(*node);
            node->on_timer();
        }
    }
    now_ = std::max(now_, target);
}

std::uint64_t timer_wheel::next_order() noexcept {
    // A cascade may only bring a node nearer: it is due when it is in the slot of the tick.
    do move_to(next_tick());
    while (!slots_[0][now_ & 63U]);
    sort_due();
    return slots_[0][now_ & 63U]->order_;
}

void timer_wheel::advance_to_next() noexcept {
    if (size_ == 0) return;
    const std::uint64_t order = next_order();
    timer_node*& due = slots_[0][now_ & 63U];
    while (due && due->order_ == order) {
        timer_node& node = *due;
        remove(node);
        node.on_timer();
    }
}

} // namespace heddle::coro
