// Waiting for the reader of a standard stream, without a thread that waits.
#pragma once

#include "console.hpp"

#include <heddle/coro/semaphore.hpp>

#include <memory>

namespace heddle::cli {

/// Where branches wait while so much of what they wrote is unread that more would only fill the
/// memory. First come, first served. One for a stream. Threads: the loop's only.
class output_room {
public:
    /// Both outlive it.
    output_room(coro::event_loop& loop, console& output, console::stream which);
    ~output_room();
    output_room(const output_room&) = delete;
    output_room& operator=(const output_room&) = delete;

    /// Returns at once where there is room. Errors: cancelled, or deadline passed, while waiting.
    [[nodiscard]] coro::task<result<void>> wait(coro::call_context context);

private:
    coro::event_loop& loop_;
    console& console_;
    console::stream which_;
    coro::semaphore turn_{1};
    std::shared_ptr<coro::wait_point> changed_; ///< shared with what is posted from other threads
};

} // namespace heddle::cli
