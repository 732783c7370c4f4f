// A native stack for a computation that takes turns with the loop.
#pragma once

#include <heddle/lang/realm.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

#include <pthread.h>

namespace heddle::lang {

/// Runs a computation in turns, on a stack of its own. Who waits and who works never run at the
/// same time, so nothing is touched from two threads at once.
class native_stack {
public:
    native_stack(realm& realm, std::size_t bytes) : realm_(realm), bytes_(bytes) {}
    /// abandon() was called, or the computation has ended.
    ~native_stack();
    native_stack(const native_stack&) = delete;
    native_stack& operator=(const native_stack&) = delete;

    enum class progress : std::uint8_t {
        ended,  ///< the computation has returned
        paused, ///< it goes on in the next turn
        queued  ///< it has not begun: too many others have a stack
    };
    /// A turn of `work`, which is the same function each time. Throws what it throws.
    [[nodiscard]] progress resume(const std::function<void()>& work);
    /// On the worker's stack: the turn is over. False, in the next one: the computation is
    /// abandoned.
    [[nodiscard]] bool give_way();
    /// Lets the computation end at its next look at the time.
    void abandon() noexcept;

    static constexpr unsigned max_running = 8; ///< in a realm, those that others wait for aside

private:
    enum class turn : std::uint8_t { owner, worker };

    void hand_over();
    void run();
    static void* run_thread(void* self);

    realm& realm_;
    std::size_t bytes_;
    const std::function<void()>* work_ = nullptr;
    std::exception_ptr thrown_;
    bool started_ = false;
    bool counted_ = false; ///< in realm::native_stacks
    bool ended_ = false;
    bool abandoned_ = false;
    pthread_t thread_{};
    std::mutex mutex_;
    std::condition_variable changed_;
    turn now_ = turn::owner;
};

} // namespace heddle::lang
