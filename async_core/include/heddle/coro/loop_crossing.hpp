// One call from a loop to that of another thread: what run_on is made from.
#pragma once

#include <heddle/coro/call_context.hpp>
#include <heddle/coro/handler_memory.hpp>
#include <heddle/coro/loop_address.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/coro/wait_point.hpp>

#include <atomic>
#include <exception>
#include <memory>
#include <optional>

namespace heddle::coro {

/// Starts work on another loop and waits for its end. Owned by both sides, so that each may go
/// first. Use run_on.
class loop_crossing : public std::enable_shared_from_this<loop_crossing>, private cancel_hook {
public:
    loop_crossing(const loop_crossing&) = delete;
    loop_crossing& operator=(const loop_crossing&) = delete;
    virtual ~loop_crossing() = default;

    /// Result: why there is no outcome; nothing: the work has ended by itself. Once. Threads: the
    /// caller's.
    [[nodiscard]] task<std::optional<error>> cross(call_context context);

protected:
    explicit loop_crossing(loop_address there) : there_(std::move(there)) {}

    /// The work. Threads: there.
    [[nodiscard]] virtual task<void> perform(call_context there) = 0;
    /// Destroys what the work was made from. Threads: there, or of who drops the call.
    virtual void drop_work() noexcept = 0;

private:
    friend class loop_address;
    class entrance;
    class work_end;

    // Threads: there.
    void begin() noexcept;
    void cancel() noexcept { cancel_there_.request(forwarded_); }
    void end(std::optional<error> failure) noexcept;
    // Threads: here.
    void arrive() noexcept { ended_.notify(); }
    void caller_is_gone() noexcept;
    void forward(cancel_reason reason) noexcept;
    void on_cancel(cancel_reason reason) noexcept override { forward(reason); }
    /// Threads: that which destroys the loop there.
    void callee_is_gone(bool is_stopped) noexcept;

    loop_address there_;
    std::optional<loop_address> here_; ///< set before the call begins
    deadline until_;
    cancel_source cancel_there_;                    ///< of the thread there
    std::atomic<bool> is_ended_{false};             ///< whoever sets it first reports the end
    std::optional<error> failure_;                  ///< written before the end is reported
    wait_point ended_;                              ///< of the thread here
    cancel_reason forwarded_ = cancel_reason::none; ///< written here before it is posted
    handler_memory<1> begin_memory_;
    handler_memory<1> cancel_memory_;
    handler_memory<1> end_memory_;
};

} // namespace heddle::coro
