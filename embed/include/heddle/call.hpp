// A call of a host function by a workflow: deadline, cancellation, executor.
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

/// The state of a call of a function; a test can construct one.
struct call_state {
    boost::asio::any_io_executor executor; ///< where the function runs
    std::optional<std::chrono::steady_clock::time_point> deadline{};
    std::string tag{};        ///< as in call_options
    std::stop_token cancel{}; ///< requests a stop when the workflow no longer needs the result
};

/// A call of a host function by a workflow. A function can take it as its first parameter. Cheap to
/// copy.
/// Threads: any, except where noted.
class call {
public:
    explicit call(call_state state);

    /// Where the function runs: the thread of the workflow, which must not be blocked, or
    /// function_options::executor. Do not use the executor of a workflow after the runtime is
    /// destroyed: a function that may be abandoned (runtime_options::function_grace) uses its own.
    [[nodiscard]] const boost::asio::any_io_executor& executor() const noexcept;
    /// When the result is no longer needed: the earliest deadline around the call. Never extended.
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept;
    /// The time until the deadline, never negative; nanoseconds::max() without a deadline.
    [[nodiscard]] std::chrono::nanoseconds time_left() const noexcept;
    [[nodiscard]] const std::string& tag() const noexcept;

    /// Whether the function should end soon: its workflow was cancelled, the deadline has passed, a
    /// sibling has failed. The workflow waits for the function to end. A function that computes on
    /// the thread of the workflow blocks that thread, and sees only the deadline.
    [[nodiscard]] bool cancelled() const noexcept;
    /// The same for std::stop_callback, for std::condition_variable_any and for std::jthread. The
    /// callbacks run on the thread that cancels.
    [[nodiscard]] std::stop_token stop_token() const noexcept;
    /// Cancels an asynchronous operation of Asio:
    /// `timer.async_wait(asio::bind_cancellation_slot(call.slot(), handler))`. Not needed in
    /// functions that return an awaitable: the operations that they await are cancelled
    /// automatically. For one operation at a time. Threads: that of executor().
    [[nodiscard]] boost::asio::cancellation_slot slot() const;

    /// The same call with another executor.
    [[nodiscard]] call on(boost::asio::any_io_executor executor) const;

private:
    struct shared;

    std::shared_ptr<shared> shared_;
};

} // namespace heddle
