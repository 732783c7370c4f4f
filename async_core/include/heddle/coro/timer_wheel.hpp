// All deadlines of a shard in one structure: inserting and removing are O(1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace heddle::coro {

class timer_wheel;

/// A timer that can be in one wheel. Removes itself on destruction.
class timer_node {
public:
    timer_node() = default;
    timer_node(const timer_node&) = delete;
    timer_node& operator=(const timer_node&) = delete;
    [[nodiscard]] bool scheduled() const noexcept { return wheel_ != nullptr; }
    void unschedule() noexcept;

protected:
    ~timer_node() { unschedule(); }
    /// Called once, after the node has left the wheel; may schedule it or others again.
    /// Must not throw and must not resume a coroutine inline: post it.
    virtual void on_timer() noexcept = 0;

private:
    friend class timer_wheel;
    timer_node* next_ = nullptr;
    timer_node* previous_ = nullptr;
    timer_wheel* wheel_ = nullptr;
    std::uint64_t tick_ = 0;
    std::uint64_t order_ = 0; ///< position within the tick
    std::uint8_t level_ = 0;
    std::uint8_t slot_ = 0;
};

/// A hierarchical wheel of 7 levels of 64 slots (Varghese and Lauck 1987; the shape of tokio's):
/// ticks of a millisecond reach 139 years.
/// It knows ticks, not clocks: the loop advances it, and so do tests, without waiting.
class timer_wheel {
public:
    static constexpr unsigned levels = 7;
    static constexpr std::uint64_t last_tick = (std::uint64_t{1} << (6 * levels)) - 1;

    timer_wheel() = default;
    timer_wheel(const timer_wheel&) = delete;
    timer_wheel& operator=(const timer_wheel&) = delete;
    ~timer_wheel();

    /// Schedules `node` for the first advance() that reaches `tick`; a past tick fires at the next
    /// advance. Within a tick, nodes fire by ascending `order`, and nodes of equal order in the
    /// order in which they were scheduled.
    void schedule(timer_node& node, std::uint64_t tick, std::uint64_t order = 0) noexcept;
    /// Moves time forward and fires everything due, in order of ticks.
    void advance(std::uint64_t now) noexcept;
    /// Moves time to next_tick() and fires only the nodes of the lowest order.
    void advance_to_next() noexcept;
    /// Moves time to next_tick() and returns the order of the nodes that advance_to_next() would
    /// fire. Must not be called when empty.
    [[nodiscard]] std::uint64_t next_order() noexcept;
    /// The tick at which advance() has something to do next (a lower bound of the next firing);
    /// `UINT64_MAX` when empty.
    [[nodiscard]] std::uint64_t next_tick() const noexcept;
    [[nodiscard]] std::uint64_t now() const noexcept { return now_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    friend class timer_node;
    void place(timer_node& node) noexcept;
    void remove(timer_node& node) noexcept;
    void move_to(std::uint64_t tick) noexcept;
    void sort_due() noexcept;
    [[nodiscard]] static timer_node* merge(timer_node* left, timer_node* right) noexcept;

    // The first node of each list. Its previous_ is the last node.
    std::array<std::array<timer_node*, 64>, levels> slots_{};
    std::array<std::uint64_t, levels> occupied_{};
    std::uint64_t now_ = 0;
    std::uint64_t sorted_ = UINT64_MAX; ///< the tick whose nodes are in their order
    std::size_t size_ = 0;
};

} // namespace heddle::coro
