// Whose turn it is to compute.
#pragma once

#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/wait_point.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace heddle::host {

/// Divides the time between the fibers of a run that compute, so that the loop comes to its timers
/// and sockets after at most twice `turn` (and one slice of each in a batch), however many are
/// ready.
///
/// As long as little is computed, who is ready runs at once. After that the ready ones let the loop
/// go on and queue, and a few at a time, the batch, have their turns in one round of the loop. What
/// has just been woken goes before what computes, but never takes a whole batch.
/// Threads: the session's only. Never throws.
class turn_queue {
    struct link {
        link* next = this;
        link* previous = this;
    };

public:
    static constexpr auto turn = std::chrono::milliseconds(1);

    /// The place of one coroutine. Lives as long as that may have a turn or wait for one.
    class place : private link {
    public:
        place(turn_queue& owner, coro::wait_point& woken) noexcept : owner_(owner), woken_(woken) {}
        place(const place&) = delete;
        place& operator=(const place&) = delete;
        ~place();
        [[nodiscard]] bool has_turn() const noexcept { return state_ >= state::running; }

    private:
        friend class turn_queue;
        enum class state : std::uint8_t { outside, queued, running, in_batch };
        turn_queue& owner_;
        coro::wait_point& woken_; ///< notified when the turn has come; may be notified for more
        state state_ = state::outside;
    };

    explicit turn_queue(coro::event_loop& loop) noexcept : loop_(loop) {}
    turn_queue(const turn_queue&) = delete;
    turn_queue& operator=(const turn_queue&) = delete;

    enum class rank : std::uint8_t {
        woken,     ///< it has waited
        computing, ///< it is new, or its last turn is over
        idle       ///< so too, and others are to have their turns first in any case
    };
    /// True: it has a turn and uses it now. False: the loop has to go on once before that: either
    /// it has its turn already and yields, or it waits until has_turn(), and `woken` is notified
    /// when that changes.
    [[nodiscard]] bool ask(place& who, rank how) noexcept;
    /// Without queueing, for those who cannot wait.
    void seize(place& who) noexcept;
    /// Returns the turn that was used since `began`. No effect without one.
    void end(place& who, coro::clock::time_point began) noexcept;
    /// How long a turn may last.
    [[nodiscard]] coro::clock::duration share() const noexcept { return share_; }

private:
    static constexpr std::size_t max_batch = 8;

    static void put_last(link& list, place& who) noexcept;
    static void take_out(place& who) noexcept;
    void grant_to_first(link& list) noexcept;
    void next_batch() noexcept;

    coro::event_loop& loop_;
    link woken_;
    link computing_;
    std::size_t in_batch_ = 0; ///< who have not ended their turns
    coro::clock::duration share_ = turn;
    coro::clock::duration spent_{}; ///< computed since the loop has had its chance
};

} // namespace heddle::host
