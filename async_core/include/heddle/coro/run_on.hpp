// Work on the loop of another thread.
#pragma once

#include <heddle/coro/loop_crossing.hpp>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace heddle::coro {

/// The call of run_on.
template <class T, class Make>
class run_on_call final : public loop_crossing {
public:
    run_on_call(loop_address there, Make make)
        : loop_crossing(std::move(there)), make_(std::move(make)) {}

    [[nodiscard]] std::optional<result<T>>& outcome() noexcept { return outcome_; }

private:
    task<void> perform(call_context there) override {
        task<result<T>> work = (*make_)(there);
        result<T> ended = co_await std::move(work);
        outcome_.emplace(std::move(ended));
    }
    void drop_work() noexcept override { make_.reset(); }

    std::optional<Make> make_;         ///< of the thread there, once it has begun
    std::optional<result<T>> outcome_; ///< written there, read here
};

/// Awaits `make(there)` on the loop `at`, which another thread runs, and returns its outcome here.
/// `make` is called and destroyed there. Its context has the deadline of `context`, and is
/// cancelled with it for the same reason; it has no step (ports::step_memory), which belongs to
/// this thread.
///
/// `make`, what it refers to, the result and the payloads of its errors are used on both threads:
/// plain data, no values of the language. Nothing that `make` refers to may belong to the frame of
/// the caller, whose loop may be destroyed earlier.
/// Result: that of the work; an exception that leaves it is an error. Errors: also cancelled with
/// reason `shutdown` when the loop there is destroyed, at once if it is gone. Cancellation: as of
/// the work, whose end is awaited; what `context` has requested before the call starts nothing.
/// If the loop of the caller is destroyed, the work is cancelled with reason `shutdown`, and the
/// frame of the caller is destroyed. Work on a loop that is destroyed is destroyed with the
/// io_context if that is stopped.
/// Both loops pass real time; the caller keeps the one there running. On the same loop the work is
/// awaited directly.
template <class Make, class Task = std::invoke_result_t<Make&, call_context>>
[[nodiscard]] Task run_on(loop_address at, call_context context, Make make) {
    using outcome = typename Task::value_type;
    using value = typename outcome::value_type;
    if (auto stop = context.stop_error()) co_return outcome(*std::move(stop));
    if (at == context.loop->address()) {
        Task here = make(context);
        outcome ended = co_await std::move(here);
        co_return ended;
    }
    const auto call = std::make_shared<run_on_call<value, Make>>(std::move(at), std::move(make));
    std::optional<error> lost = co_await call->cross(context);
    if (lost) co_return outcome(*std::move(lost));
    co_return std::move(*call->outcome());
}

} // namespace heddle::coro
