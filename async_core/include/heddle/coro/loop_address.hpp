// Where other threads reach a loop, whether or not it still exists.
#pragma once

#include <heddle/coro/handler_memory.hpp>
#include <heddle/coro/task.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace heddle::coro {

class event_loop;
class loop_crossing;

/// The address of an event_loop (event_loop::address), which may outlive it. Copies are equal.
/// Threads: any, also while the loop is destroyed.
class loop_address {
public:
    /// Runs `call` on the thread of the loop, after what was posted before. Result: false if the
    /// loop is gone; `call` is dropped then. A call whose turn has not come is destroyed with the
    /// io_context.
    bool post(std::function<void()> call) const;
    /// The same for a member function, in memory that is reserved for it, so that it cannot fail;
    /// one at a time in each memory. The owner outlives the call, and the memory is a part of it.
    template <auto Call, class Owner>
    bool post_in(handler_memory<1>& memory, std::shared_ptr<Owner> owner) const noexcept {
        return post_in(memory, std::move(owner),
                       [](void* self) { (static_cast<Owner*>(self)->*Call)(); });
    }
    /// The loop, or null if it is gone. Threads: the loop's only.
    [[nodiscard]] event_loop* loop() const;
    [[nodiscard]] bool operator==(const loop_address& other) const noexcept {
        return state_ == other.state_;
    }

private:
    friend class event_loop;
    friend class loop_crossing;

    enum class side : std::uint8_t { caller, callee };
    /// A call in progress, from the loop or to it.
    struct entry {
        std::weak_ptr<loop_crossing> call;
        side at;
    };
    struct state {
        state(event_loop& owner, executor to) : posts_to(to), loop(&owner) {}

        std::mutex mutex;
        executor posts_to;
        event_loop* loop; ///< null: gone
        std::unordered_map<const loop_crossing*, entry> calls;
    };

    loop_address(event_loop& owner, executor to) : state_(std::make_shared<state>(owner, to)) {}

    bool post_in(handler_memory<1>& memory, std::shared_ptr<void> owner,
                 void (*call)(void*)) const noexcept;
    /// The loop ends: those who wait for its calls are notified. `is_stopped`: nothing runs on its
    /// io_context any more. Call it once.
    void close(bool is_stopped) const noexcept;
    /// Result: false if the loop is gone.
    [[nodiscard]] bool enter(const std::shared_ptr<loop_crossing>& call, side at) const;
    void leave(const loop_crossing& call) const noexcept;

    std::shared_ptr<state> state_;
};

} // namespace heddle::coro
