// Which connection serves which call: a pure state machine per origin.
#pragma once

#include <heddle/coro/deadline.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace heddle::http {

/// A connection in the pool; the driver derives its own class from it. Owned by the driver.
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

/// A call that needs a connection. A queued one must leave() before it is destroyed.
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
    queued, ///< wait; next_grant() will return the waiter
    closed  ///< the pool is closed
};

struct pool_grant {
    pool_answer answer = pool_answer::closed;
    pool_item* item = nullptr;     ///< reuse only
    pool_waiter* waiter = nullptr; ///< next_grant() only
};

/// Counts places (connections open or being opened), keeps idle ones last in first out, and callers
/// first in first out. Owns nothing and allocates nothing; every call is O(1). After released() or
/// gone(), the driver must call next_grant() until it returns nothing.
class pool_fsm {
public:
    using time_point = coro::clock::time_point;

    explicit pool_fsm(pool_limits limits) noexcept : limits_(limits) {}
    pool_fsm(const pool_fsm&) = delete;
    pool_fsm& operator=(const pool_fsm&) = delete;

    /// A call needs a connection. Calls are served in order: if others are queued, the result is
    /// `queued`.
    [[nodiscard]] pool_grant acquire(pool_waiter& waiter) noexcept;
    /// A queued call gives up.
    void leave(pool_waiter& waiter) noexcept;
    /// The exchange on `item` has ended. Result: true if the connection is kept as idle; false if
    /// the driver must close it and call gone().
    [[nodiscard]] bool released(pool_item& item, bool usable, time_point now) noexcept;
    /// A connection was closed, or could not be opened: its place is free. Idle ones are allowed.
    void gone(pool_item& item) noexcept;
    /// Serves the first of the queue, if a connection or a place is free.
    [[nodiscard]] std::optional<pool_grant> next_grant() noexcept;

    /// The connection that has been idle longest, if it is too old; the driver closes it and calls
    /// gone().
    [[nodiscard]] pool_item* expired(time_point now) const noexcept;
    /// When the next connection expires; time_point::max() if none is idle.
    [[nodiscard]] time_point next_expiry() const noexcept;

    /// From now on all calls are refused, and no connection is kept. The driver then closes the
    /// connections that any_idle() returns, and fails the calls that next_refused() returns.
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
