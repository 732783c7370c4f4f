// What a function of the host knows about the workflow that calls it.
#pragma once

#include <heddle/base/visibility.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace HEDDLE_PUBLIC heddle {

/// What the runtime, or a test, knows about a call of a function.
struct call_state {
    boost::asio::any_io_executor executor; ///< where the function runs
    std::optional<std::chrono::steady_clock::time_point> deadline{};
    std::string tag{}; ///< as in call_options
    std::stop_token
        cancel{}; ///< requests a stop when the workflow does not need the result any more
};

/// A call of a function by a workflow: its first parameter, if it wants one. Copying is cheap.
/// Threads: any, except where noted.
class call {
public:
    explicit call(call_state state);

    /// Where the function runs: the thread of the workflow, which must not be blocked, or
    /// function_options::executor. That of a workflow must not be used after the runtime is gone:
    /// a function that may be left behind (runtime_options::function_grace) uses its own.
    [[nodiscard]] const boost::asio::any_io_executor& executor() const noexcept;
    /// When the result becomes useless: the earliest deadline around the call. Never extended.
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept;
    /// Until the deadline, never negative; nanoseconds::max() without one.
    [[nodiscard]] std::chrono::nanoseconds time_left() const noexcept;
    [[nodiscard]] const std::string& tag() const noexcept;

    /// Whether the function should end soon: its workflow was cancelled, the deadline has passed, a
    /// sibling has failed. The workflow waits for the function to end. In a function that computes
    /// on the thread of the workflow, which is blocked then, only the deadline shows.
    [[nodiscard]] bool cancelled() const noexcept;
    /// The same for std::stop_callback, for std::condition_variable_any and for std::jthread. The
    /// callbacks run on the thread that cancels.
    [[nodiscard]] std::stop_token stop_token() const noexcept;
    /// Cancels an asynchronous operation of Asio:
    /// `timer.async_wait(asio::bind_cancellation_slot(call.slot(), handler))`. Not needed in
    /// functions that return an awaitable: what they await is cancelled anyway. For one operation
    /// at a time. Threads: executor()'s.
    [[nodiscard]] boost::asio::cancellation_slot slot() const;

    /// The same call, of a function that runs elsewhere.
    [[nodiscard]] call on(boost::asio::any_io_executor executor) const;

private:
    struct shared;

    std::shared_ptr<shared> shared_;
};

} // namespace heddle
