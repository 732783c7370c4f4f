// Which connection serves which call: a pure state machine per origin.
#pragma once

#include <heddle/coro/deadline.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace heddle::http {

/// A connection as the pool sees it; the driver derives its own from it. Owned by the driver.
class pool_item {
public:
    pool_item() = default;
    pool_item(const pool_item&) = delete;
    pool_item& operator=(const pool_item&) = delete;
    [[nodiscard]] bool idle() const noexcept { return idle_; }

protected:
    ~pool_item() = default;

private:
    friend class pool_fsm;
    pool_item* newer_ = nullptr;
    pool_item* older_ = nullptr;
    coro::clock::time_point idle_since_{};
    bool idle_ = false;
};

/// A call that wants a connection. Must leave() before it is destroyed while queued.
class pool_waiter {
public:
    pool_waiter() = default;
    pool_waiter(const pool_waiter&) = delete;
    pool_waiter& operator=(const pool_waiter&) = delete;
    [[nodiscard]] bool queued() const noexcept { return queued_; }

protected:
    ~pool_waiter() = default;

private:
    friend class pool_fsm;
    pool_waiter* next_ = nullptr;
    pool_waiter* previous_ = nullptr;
    bool queued_ = false;
};

struct pool_limits {
    std::size_t max_connections = 20'000;
    std::size_t max_idle = 20'000;
    std::chrono::milliseconds idle_age{55'000};
};

enum class pool_answer : std::uint8_t {
    reuse,  ///< take `item`: it is no longer idle
    open,   ///< a place is reserved: open a connection
    queued, ///< wait; next_grant() will name the waiter
    closed  ///< the pool is closed
};

struct pool_grant {
    pool_answer answer = pool_answer::closed;
    pool_item* item = nullptr;     ///< reuse only
    pool_waiter* waiter = nullptr; ///< next_grant() only
};

/// Counts places (connections open or being opened), keeps idle ones last in first out, and callers
/// first in first out. It owns nothing and allocates nothing; every call is O(1).
/// Rule for the driver: after released() or gone(), call next_grant() until it gives nothing.
class pool_fsm {
public:
    using time_point = coro::clock::time_point;

    explicit pool_fsm(pool_limits limits) noexcept : limits_(limits) {}
    pool_fsm(const pool_fsm&) = delete;
    pool_fsm& operator=(const pool_fsm&) = delete;

    /// A call wants a connection. Nobody overtakes: with others in the queue the answer is
    /// `queued`.
    [[nodiscard]] pool_grant acquire(pool_waiter& waiter) noexcept;
    /// A queued call gives up.
    void leave(pool_waiter& waiter) noexcept;
    /// The exchange on `item` has ended. Result: true when it is kept as idle; false when the
    /// driver must close it, which ends with gone().
    [[nodiscard]] bool released(pool_item& item, bool usable, time_point now) noexcept;
    /// A connection was closed, or could not be opened: its place is free. Works on idle ones too.
    void gone(pool_item& item) noexcept;
    /// Serves the first of the queue, if something is free for it.
    [[nodiscard]] std::optional<pool_grant> next_grant() noexcept;

    /// The longest unused connection if it is too old; the driver closes it, which ends with
    /// gone().
    [[nodiscard]] pool_item* expired(time_point now) const noexcept;
    /// When expired() has something next; time_point::max() when nothing is idle.
    [[nodiscard]] time_point next_expiry() const noexcept;

    /// From now on everybody is refused, and nothing is kept. The driver then closes what
    /// any_idle() names and fails what next_refused() names.
    void close() noexcept { closed_ = true; }
    [[nodiscard]] bool closed() const noexcept { return closed_; }
    [[nodiscard]] pool_item* any_idle() const noexcept { return newest_; }
    [[nodiscard]] pool_waiter* next_refused() noexcept;

    [[nodiscard]] std::size_t places() const noexcept { return places_; }
    [[nodiscard]] std::size_t idle() const noexcept { return idle_; }
    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }

private:
    void take_idle(pool_item& item) noexcept;
    pool_item* pop_newest() noexcept;
    pool_waiter* pop_first() noexcept;

    pool_limits limits_;
    pool_item* newest_ = nullptr;
    pool_item* oldest_ = nullptr;
    pool_waiter* first_ = nullptr;
    pool_waiter* last_ = nullptr;
    std::size_t places_ = 0;
    std::size_t idle_ = 0;
    std::size_t waiting_ = 0;
    bool closed_ = false;
};

} // namespace heddle::http
