// A call whose text arrives in pieces.
#pragma once

#include <heddle/answer.hpp>
#include <heddle/base/error.hpp>
#include <heddle/base/visibility.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace heddle::embed {
class job_state;
}

namespace HEDDLE_PUBLIC heddle {

/// Text of a model's response. Pieces of calls that run side by side alternate.
struct piece {
    std::string task;       ///< the name of the task
    std::uint64_t call = 0; ///< a number for each call of a task, from 1
    std::string text;       ///< whole characters
};

/// A call of a workflow that runs from program::start on. The text of responses is held for the
/// reader up to runtime_options::piece_buffer bytes; then the services are not read from, until
/// next() takes some.
///
/// Destroying it cancels the call, whose end nobody awaits then. Movable.
/// Threads: one at a time; next() and result() may be in progress together.
class job {
public:
    job() noexcept = default;
    explicit job(std::shared_ptr<embed::job_state> state) noexcept : state_(std::move(state)) {}
    ~job() { abandon(); }
    job(job&& other) noexcept = default;
    job& operator=(job&& other) noexcept {
        if (this == &other) return *this;
        abandon();
        state_ = std::move(other.state_);
        return *this;
    }

    /// The next piece, or nothing after the last one. One at a time: a second next() completes with
    /// nothing at once.
    /// Cancellation: by the handler's slot; it completes with nothing, and the job goes on.
    template <class CompletionToken>
    auto next(CompletionToken&& token) {
        return boost::asio::async_initiate<CompletionToken, void(std::optional<piece>)>(
            [state = state_](auto handler) mutable {
                start_next(std::move(state), std::move(handler));
            },
            token);
    }

    /// The answer, once the call has ended, whether or not the pieces were read: from here on the
    /// reader holds nothing back, and pieces that do not fit are dropped unless next() is waiting.
    /// Once only. Errors and cancellation: as program::call.
    template <class CompletionToken>
    auto result(CompletionToken&& token) {
        return boost::asio::async_initiate<CompletionToken, void(heddle::result<answer>)>(
            [state = state_](auto handler) mutable {
                start_result(std::move(state), std::move(handler));
            },
            token);
    }

    /// Asks the call to end.
    void cancel() noexcept;

private:
    void abandon() noexcept;
    static void start_next(std::shared_ptr<embed::job_state> state,
                           boost::asio::any_completion_handler<void(std::optional<piece>)> handler);
    static void start_result(
        std::shared_ptr<embed::job_state> state,
        boost::asio::any_completion_handler<void(heddle::result<answer>)> handler);

    std::shared_ptr<embed::job_state> state_;
};

} // namespace heddle
