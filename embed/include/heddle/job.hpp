// A call whose text arrives in pieces.
#pragma once

#include <heddle/answer.hpp>
#include <heddle/base/error.hpp>
#include <heddle/base/visibility.hpp>
#include <heddle/posted_handler.hpp>

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

/// Text of a model's response. Pieces of concurrent calls of tasks are interleaved.
struct piece {
    std::string task;       ///< the name of the task
    std::uint64_t call = 0; ///< the number of the call of the task, from 1
    std::string text;       ///< whole characters
};

/// A call of a workflow that program::start has begun. Up to runtime_options::piece_buffer bytes of
/// the text of responses are buffered; then reading from the services pauses until next() takes
/// some of them. A model_provider of the host is not paused: what it reports is buffered in full.
///
/// The destructor cancels the call and does not wait for its end. Movable.
/// Threads: one at a time; next() and result() can be in progress at the same time.
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

    /// Completes with the next piece, or with std::nullopt after the last one. One at a time: a
    /// second next() completes with std::nullopt at once.
    /// Cancellation: by the slot of the handler; it completes with std::nullopt, and the job
    /// continues.
    template <class CompletionToken>
    auto next(CompletionToken&& token) {
        return boost::asio::async_initiate<CompletionToken, void(std::optional<piece>)>(
            [state = state_](auto handler) mutable {
                start_next(std::move(state), std::move(handler));
            },
            token);
    }

    /// Completes with the answer when the call has ended, even if pieces have not been read:
    /// back-pressure ends here, and pieces that do not fit in the buffer are dropped unless next()
    /// is waiting. Call it once. Errors and cancellation: as for program::call.
    template <class CompletionToken>
    auto result(CompletionToken&& token) {
        return boost::asio::async_initiate<CompletionToken, void(heddle::result<answer>)>(
            [state = state_](auto handler) mutable {
                start_result(std::move(state), std::move(handler));
            },
            token);
    }

    /// Requests that the call ends.
    void cancel() noexcept;

private:
    void abandon() noexcept;
    static void start_next(std::shared_ptr<embed::job_state> state,
                           detail::posted_handler<std::optional<piece>> handler);
    static void start_result(std::shared_ptr<embed::job_state> state,
                             detail::posted_handler<heddle::result<answer>> handler);

    std::shared_ptr<embed::job_state> state_;
};

} // namespace heddle
