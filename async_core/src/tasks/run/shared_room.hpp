// What the limits of a task have set aside for requests in flight.
#pragma once

#include <heddle/coro/wait_point.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

namespace heddle::tasks {

/// What a request may use at most, or all that are sent for it at the same time (hedges).
struct request_share {
    std::int64_t tokens = 0;
    double usd = 0; ///< 0 where the price is not known
};

/// The requests in flight of a task whose limits hold for all tasks below it as well: what is set
/// aside for them, and the queue of the requests that do not fit next to them, first come, first
/// served. The sessions know the limits and decide. Shared with the sessions below, which may be
/// destroyed later when the loop goes down. Threads: its shard's only.
class shared_room {
public:
    /// `outer`: of the next task above that has such limits, or null.
    explicit shared_room(std::shared_ptr<shared_room> outer) noexcept : outer_(std::move(outer)) {}
    shared_room(const shared_room&) = delete;
    shared_room& operator=(const shared_room&) = delete;

    /// A place in the queue. Its point is notified when it has the turn: its owner then decides,
    /// and destroys it or calls wait_again(). Destroying it leaves the queue, or passes the turn to
    /// the next.
    class place {
    public:
        explicit place(std::shared_ptr<shared_room> in);
        place(const place&) = delete;
        place& operator=(const place&) = delete;
        ~place();
        [[nodiscard]] bool is_in(const shared_room& room) const noexcept {
            return in_.get() == &room;
        }
        /// Whether its room is one of those around `room`.
        [[nodiscard]] bool is_around(const shared_room& room) const noexcept;
        /// The room is still too full: the first to be asked when another request has ended.
        void wait_again();
        coro::wait_point point;

    private:
        std::shared_ptr<shared_room> in_;
    };

    [[nodiscard]] bool busy() const noexcept { return in_flight_ != 0; }
    /// All zero while nothing is in flight.
    [[nodiscard]] const request_share& held() const noexcept { return held_; }
    /// Whether others are to be asked before the owner of `mine`, which may be null.
    [[nodiscard]] bool others_first(const place* mine) const noexcept {
        return (turn_ || !waiting_.empty()) && (!mine || turn_ != mine);
    }
    /// Sets aside in this room and in all outer ones.
    void take(const request_share& share) noexcept;
    void release(const request_share& share) noexcept;

private:
    void give_turn() noexcept;

    std::shared_ptr<shared_room> outer_;
    request_share held_;
    std::size_t in_flight_ = 0;
    std::deque<place*> waiting_;
    const place* turn_ = nullptr; ///< was woken, and has not decided yet
};

} // namespace heddle::tasks
