// Work of the host that a workflow waits for.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/exceptions.hpp>
#include <heddle/base/log.hpp>
#include <heddle/call.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/coro/wait_point.hpp>

#include <boost/asio/post.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace heddle::embed {

/// How long a cancelled call waits for the work to end, and where it is logged that it did not.
struct host_patience {
    log_port& log;
    std::chrono::nanoseconds grace;
};

/// Where the end of the work is awaited on the shard. The work may end on any thread, also when
/// nobody waits any more, or the shard is gone.
template <class T>
class host_outcome : public std::enable_shared_from_this<host_outcome<T>> {
public:
    explicit host_outcome(coro::event_loop& loop) : executor_(loop.get_executor()) {}

    /// Ends it, the first time; from any thread.
    void end(result<T> how) {
        const std::lock_guard held(mutex_);
        if (!executor_) return;
        const coro::executor home = *std::exchange(executor_, std::nullopt);
        boost::asio::post(home, [self = this->shared_from_this(), how = std::move(how)]() mutable {
            self->how_ = std::move(how);
            self->arrived_.notify();
        });
    }
    /// Nobody waits any more.
    void abandon() {
        const std::lock_guard held(mutex_);
        executor_.reset();
    }
    [[nodiscard]] coro::task<coro::wake> arrived(coro::call_context context) {
        return arrived_.wait(context);
    }
    [[nodiscard]] result<T> take() { return *std::move(how_); }

private:
    std::mutex mutex_;
    std::optional<coro::executor> executor_; ///< of the shard; absent: it is not to be notified
    std::optional<result<T>> how_;
    coro::wait_point arrived_;
};

/// The completion that the host calls: copies share one end, and the last one ends the work if none
/// was called.
template <class T>
class host_completion {
public:
    host_completion(std::shared_ptr<host_outcome<T>> outcome, std::string what)
        : shared_(std::make_shared<end_at_last>(std::move(outcome), std::move(what))) {}
    void operator()(result<T> how) const { shared_->outcome->end(std::move(how)); }

private:
    struct end_at_last {
        end_at_last(std::shared_ptr<host_outcome<T>> to, std::string name)
            : outcome(std::move(to)), what(std::move(name)) {}
        end_at_last(const end_at_last&) = delete;
        end_at_last& operator=(const end_at_last&) = delete;
        ~end_at_last() {
            outcome->end(error(errc::internal, what + " has destroyed its completion without "
                                                      "calling it"));
        }
        std::shared_ptr<host_outcome<T>> outcome;
        std::string what;
    };
    std::shared_ptr<end_at_last> shared_;
};

/// A sum beyond the range of the clock is never.
[[nodiscard]] coro::deadline deadline_after(coro::clock::time_point now,
                                            std::chrono::nanoseconds pause) noexcept;

/// What the host learns about a call.
[[nodiscard]] call_state state_of(const coro::call_context& context, std::string tag,
                                  const std::stop_source& cancel);

/// An error of the host. A cancellation that the workflow has not requested is a failure: the
/// workflow would take it for a request of its own, and go on without the branch.
[[nodiscard]] error failure_of_host(error failure, const std::string& what);

/// Calls `begin`, whose exception ends the work.
template <class T, class Begin>
void begin_by_host(const std::shared_ptr<host_outcome<T>>& outcome, const std::string& what,
                   call about, Begin& begin) {
    // Kept until the exception is caught: unwinding drops the one that the host was given.
    const host_completion<T> done(outcome, what);
    try {
        begin(std::move(about), host_completion<T>(done));
    } catch (...) {
        outcome->end(error_of_exception(what));
    }
}

/// Begins work of the host and waits for its end. `begin` receives what the host learns about the
/// call, and the completion. `what` names the work in errors, `tag` the call for the host.
/// Errors: those of the work, as failure_of_host. Cancellation and deadline: the work is cancelled
/// by its slot, and waited for as `patience` allows.
template <class T, class Begin>
[[nodiscard]] coro::task<result<T>> perform_by_host(std::string what, std::string tag,
                                                    host_patience patience,
                                                    coro::call_context context, Begin begin) {
    if (auto stop = context.stop_error()) co_return *std::move(stop);
    auto outcome = std::make_shared<host_outcome<T>>(*context.loop);
    std::stop_source cancel;
    begin_by_host<T>(outcome, what, call(state_of(context, std::move(tag), cancel)), begin);
    const coro::wake woken = co_await outcome->arrived(context);
    if (woken == coro::wake::notified) {
        result<T> ended = outcome->take();
        if (ended || !ended.error().is_cancelled()) co_return ended;
        if (auto stop = context.stop_error()) co_return *std::move(stop);
        co_return failure_of_host(std::move(ended).error(), what);
    }
    cancel.request_stop();
    const coro::deadline until = deadline_after(context.loop->now(), patience.grace);
    const coro::wake ended = co_await outcome->arrived({context.loop, nullptr, until});
    if (ended != coro::wake::notified) {
        outcome->abandon();
        patience.log.write(log_level::warn, "runtime",
                           what + " did not end after it was cancelled, and is abandoned");
    }
    if (auto stop = context.stop_error()) co_return *std::move(stop);
    co_return error::cancelled(cancel_reason::deadline);
}

} // namespace heddle::embed
